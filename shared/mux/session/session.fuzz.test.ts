/**
 * Mutated frames and heads. For others: ROPEWAY_FUZZ_SEED; for more: ROPEWAY_FUZZ_FRAMES.
 * What must hold is in testing/fuzz.ts: no exception but RopewayError, no hang, nothing beyond the limits table.
 */
import { expect, test } from "vitest";
import { fuzzExchanges, fuzzFrames, fuzzHeads, fuzzSessions } from "../../testing/mux/fuzz.ts";
import { Random, runSeed } from "../../testing/random.ts";
import { firstDifference } from "../../testing/steady-platform.ts";

const FRAMES = Number(process.env.ROPEWAY_FUZZ_FRAMES ?? 80_000);
const SEED = runSeed();
const TIMEOUT = 60_000 + FRAMES / 2;

console.info(`Fuzzing ${FRAMES} frames with ROPEWAY_FUZZ_SEED=${SEED}`);

test("mutated frames at the decoder", { timeout: TIMEOUT }, () => {
  expect(fuzzFrames(new Random(SEED), FRAMES * 0.62)).toBeGreaterThanOrEqual(FRAMES * 0.62);
});

test("mutated heads at the header decoder", { timeout: TIMEOUT }, () => {
  expect(fuzzHeads(new Random(SEED + 1), FRAMES * 0.33)).toBeGreaterThanOrEqual(FRAMES * 0.33);
});

test("mutated and senseless frames at sessions", { timeout: TIMEOUT }, () => {
  expect(fuzzSessions(new Random(SEED + 2), FRAMES * 0.045)).toBeGreaterThanOrEqual(FRAMES * 0.045);
});

test("the same at sessions with HTTP exchanges behind them", { timeout: TIMEOUT }, async () => {
  expect(await fuzzExchanges(new Random(SEED + 3), FRAMES * 0.005)).toBeGreaterThanOrEqual(FRAMES * 0.005);
});

test("all of it is the same again where the seed is the same", async () => {
  const runs: string[][] = [];
  for (const _ of "12") {
    const steps: string[] = [];
    fuzzSessions(new Random(SEED + 2), 400, steps);
    await fuzzExchanges(new Random(SEED + 3), 200, steps);
    runs.push(steps);
  }
  const [first = [], second = []] = runs;
  expect(first.length).toBeGreaterThan(1000);
  expect(firstDifference(first, second)).toBeNull();
});
