import { describeMachine, describeVersions } from "../bench/machine.ts";
import { findChromium } from "../fixtures/chromium.ts";
import { runGrowth } from "./growth-run.ts";
import { runIdle } from "./idle-run.ts";
import { machineLoad } from "./local-fleet.ts";
import { growthSettings, idleSettings, phonesSettings, type ScaleOptions } from "./options.ts";
import { runPhones } from "./phones-run.ts";
import type { ScaleResult } from "./result.ts";

/** Runs the experiment, and tells of the machine what has to be known to repeat it. */
export async function measure(options: ScaleOptions, tell: (line: string) => void): Promise<ScaleResult> {
  const { runtime, quick } = options;
  const startedAt = new Date();
  const loadBefore = machineLoad();
  const outcome = await run(options, tell);
  const { chromium: _, caddy: __, ...versions } = await describeVersions(findChromium() ?? "chromium");
  return {
    schema: 1,
    ...outcome,
    runtime,
    startedAt: startedAt.toISOString(),
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    quick,
    machine: describeMachine(),
    versions,
    load: { before: loadBefore, after: machineLoad() },
  };
}

async function run(options: ScaleOptions, tell: (line: string) => void) {
  const { experiment, runtime } = options;
  if (experiment === "idle") return { experiment, ...(await runIdle(idleSettings(options), tell)) };
  if (experiment === "phones") return { experiment, ...(await runPhones(runtime, phonesSettings(options), tell)) };
  return { experiment, ...(await runGrowth(runtime, growthSettings(options), tell)) };
}
