/** What an edge process costs as the number of its phones grows: each size on a fresh edge. */
import { setTimeout as wait } from "node:timers/promises";
import { LocalFleet, machineLoad } from "./local-fleet.ts";
import type { Behaviour } from "./phones/task.ts";
import type { Outcome, Runtime, Sample } from "./result.ts";
import { rounded, share, slope } from "./series.ts";

export interface GrowthSettings {
  readonly sizes: readonly number[];
  /** Of every phone: the largest size has more sockets otherwise than many systems let a process open. */
  readonly channels: number;
  /** Of traffic that is thrown away, then of traffic that counts. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
  /** Milliseconds after which what did not hibernate counts as awake. */
  readonly hibernationTimeout: number;
  readonly behaviour: Behaviour;
  readonly seed: number;
}

/** Phones a second that open the app. */
const JOIN_RATE = 100;
/** Milliseconds in which each phone asks for something: less than objects are kept in memory without a request. */
const TOUCH_TIME = 8_000;
const SAMPLE_TIME = 1_000;
const MORE_SAMPLES = 60;

export async function runGrowth(
  runtime: Runtime,
  settings: GrowthSettings,
  tell: (line: string) => void,
): Promise<Outcome<"growth">> {
  const { sizes, channels, warmUpSeconds, seconds, behaviour, seed } = settings;
  const samples: Sample<"growth">[] = [];
  const failures: string[] = [];
  for (const phones of sizes) {
    const measured = await measureSize(runtime, phones, settings);
    samples.push(measured.sample);
    failures.push(...measured.failures);
    const { pssIdle, pssAwake, requestsPerSecond, cpuMillisecondsPerRequest, latencyMedian, latency95 } =
      measured.sample;
    tell(
      `${phones} phones: idle ${Math.round(pssIdle / 1e6)} MB, awake ${Math.round(pssAwake / 1e6)} MB; ` +
        `${requestsPerSecond} requests/s, ${cpuMillisecondsPerRequest} ms each, ${latencyMedian} / ${latency95} ms`,
    );
  }
  const perPhone = (of: (sample: Sample<"growth">) => number): number =>
    Math.round(slope(samples.map((sample) => ({ x: sample.phones, y: of(sample) }))));
  return {
    settings: { sizes: sizes.join(","), channels, warmUpSeconds, seconds, seed, ...behaviour },
    figures: {
      bytesPerIdleSession: perPhone(({ pssIdle }) => pssIdle),
      bytesPerAwakeSession: perPhone(({ pssAwake }) => pssAwake),
      failed: failures.length,
    },
    samples,
    failures: [...new Set(failures)],
  };
}

async function measureSize(
  runtime: Runtime,
  phones: number,
  { channels, warmUpSeconds, seconds, hibernationTimeout, behaviour, seed }: GrowthSettings,
): Promise<{ readonly sample: Sample<"growth">; readonly failures: readonly string[] }> {
  const local = await LocalFleet.open(runtime, phones, seed, channels);
  const { fleet, empty } = local;
  try {
    const failures = [...(await local.join(JOIN_RATE)).failures];
    await local.untilHibernated(hibernationTimeout);
    const idle = local.look();
    failures.push(...(await fleet.touch(Math.min(TOUCH_TIME, phones * 10))).failures);
    const awake = local.look();
    await fleet.read(behaviour);
    await wait(warmUpSeconds * 1000);
    const before = await fleet.report();
    failures.push(...before.failures);
    const cpuBefore = local.look().cpuSeconds;
    const startedAt = performance.now();
    const pss: number[] = [];
    while (performance.now() < startedAt + seconds * 1000) {
      await wait(SAMPLE_TIME);
      pss.push(local.look().pssBytes);
    }
    let report = await fleet.report();
    // On a busy machine a short time may end before any answer is whole.
    for (let more = 0; report.done === 0 && more < MORE_SAMPLES; more++) {
      failures.push(...report.failures);
      await wait(SAMPLE_TIME);
      report = await fleet.report();
    }
    const elapsed = (performance.now() - startedAt) / 1000;
    const edgeCpu = local.look().cpuSeconds - cpuBefore;
    failures.push(...report.failures, ...(await fleet.rest()).failures);
    return {
      failures,
      sample: {
        phones,
        pssEmpty: empty.pssBytes,
        pssIdle: idle.pssBytes,
        pssAwake: awake.pssBytes,
        pssTraffic: Math.round(share(pss, 0.5)),
        objectsIdle: Math.max(0, idle.databases - empty.databases),
        objectsAwake: Math.max(0, awake.databases - empty.databases),
        requests: report.done,
        failed: failures.length,
        requestsPerSecond: rounded(report.done / elapsed, 1),
        cpuMillisecondsPerRequest: rounded((1000 * edgeCpu) / Math.max(1, report.done)),
        edgeCpu: rounded(edgeCpu / elapsed),
        phonesCpu: rounded((report.cpuSeconds - before.cpuSeconds) / elapsed),
        latencyMedian: rounded(share(report.latencies, 0.5), 1),
        latency95: rounded(share(report.latencies, 0.95), 1),
        load: machineLoad(),
      },
    };
  } finally {
    await local.close();
  }
}
