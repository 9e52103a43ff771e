/** Each experiment in short: that it runs, that nothing fails, and that its figures can be true. Never how fast. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingForLab } from "../lab/lab.ts";
import { measure } from "./measure.ts";
import { idleSettings, type ScaleOptions } from "./options.ts";
import { type Experiment, readScaleResult, type ScaleResult, writeScaleResult } from "./result.ts";

describe.runIf(process.platform === "linux")("scale in short", { concurrent: true, timeout: 120_000 }, () => {
  let directory = "";
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "ropeway-scale-"));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const optionsOf = (experiment: Experiment, runtime: "workerd" | "deno" = "workerd"): ScaleOptions => {
    return { experiment, runtime, quick: true, seed: 1, minutes: 10, output: null };
  };

  /** The result as it is kept. */
  async function kept<Name extends Experiment>(
    experiment: Name,
    runtime?: "workerd" | "deno",
  ): Promise<Extract<ScaleResult, { experiment: Name }>> {
    const file = join(directory, `${experiment}.json`);
    await writeScaleResult(file, await measure(optionsOf(experiment, runtime), () => {}));
    return readScaleResult(await readFile(file, "utf8")) as Extract<ScaleResult, { experiment: Name }>;
  }

  it("serves phones on Deno, through cuts, without a failure or a lost session", async () => {
    const { figures, samples, failures } = await kept("phones", "deno");
    expect(failures).toEqual([]);
    expect(figures.sessionsLost).toBe(0);
    expect(figures.requests).toBeGreaterThan(12);
    expect(figures.bytes).toBeGreaterThan(figures.requests * 50);
    expect(figures.pssPeak).toBeGreaterThan(1e6);
    expect(samples).toHaveLength(1);
  });

  it("weighs edges of several sizes", async () => {
    const { samples, failures } = await kept("growth");
    expect(failures).toEqual([]);
    // Each phone's, and the list of devices.
    expect(samples.map(({ phones, objectsAwake }) => [phones, objectsAwake])).toEqual([
      [2, 3],
      [6, 7],
    ]);
    for (const { requests, cpuMillisecondsPerRequest } of samples) {
      expect(requests).toBeGreaterThan(0);
      expect(cpuMillisecondsPerRequest).toBeGreaterThan(0);
    }
  });

  it.runIf(missingForLab().length === 0)("lets a phone idle: only keep-alives, and a round trip to wake", async () => {
    const { figures, failures } = await kept("idle");
    const roundTrip = 2 * idleSettings(optionsOf("idle")).link.delay;
    expect(failures).toEqual([]);
    expect(figures.otherAppBytes).toBe(0);
    expect(figures.warmMilliseconds).toBeGreaterThanOrEqual(roundTrip);
    expect(figures.wakeMilliseconds).toBeGreaterThanOrEqual(roundTrip);
  });
});
