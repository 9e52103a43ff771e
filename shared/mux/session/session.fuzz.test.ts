/**
 * Mutated frames and heads, others in each run. To repeat a run: ROPEWAY_FUZZ_SEED; for more: ROPEWAY_FUZZ_FRAMES.
 * What must hold is in testing/fuzz.ts: no exception but RopewayError, no hang, nothing beyond the limits table.
 */
import { expect, test } from "vitest";
import { fuzzExchanges, fuzzFrames, fuzzHeads, fuzzSessions } from "../../testing/mux/fuzz.ts";
import { Random } from "../../testing/random.ts";

const FRAMES = Number(process.env.ROPEWAY_FUZZ_FRAMES ?? 250_000);
const SEED = Number(process.env.ROPEWAY_FUZZ_SEED ?? Date.now() % 2 ** 32);
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
