/** Many phones with traffic against one edge process: does its memory stay bounded, and does anything fail? */
import { setTimeout as wait } from "node:timers/promises";
import { LocalFleet, machineLoad } from "./local-fleet.ts";
import type { Behaviour } from "./phones/task.ts";
import type { Outcome, Runtime, Sample } from "./result.ts";
import { rounded, share, slope } from "./series.ts";

export interface PhonesSettings {
  readonly phones: number;
  /** Of traffic. */
  readonly seconds: number;
  /** Milliseconds after which what did not hibernate counts as awake. */
  readonly hibernationTimeout: number;
  readonly behaviour: Behaviour;
  /** Seconds that are waited when all phones are gone: a session outlives its socket by two minutes. */
  readonly lingerSeconds: number;
  readonly seed: number;
}

/** Phones a second that open the app. */
const JOIN_RATE = 100;
const SAMPLE_SECONDS = 2;
const MINUTE = 60;

export async function runPhones(
  runtime: Runtime,
  settings: PhonesSettings,
  tell: (line: string) => void,
): Promise<Outcome<"phones">> {
  const { phones, seconds, behaviour, lingerSeconds, hibernationTimeout, seed } = settings;
  const local = await LocalFleet.open(runtime, phones, seed);
  const { fleet, empty } = local;
  try {
    const failures: string[] = [...(await local.join(JOIN_RATE)).failures];
    tell(`${phones} phones are connected`);
    const samples: Sample<"phones">[] = [];
    const latencies: number[] = [];
    const totals = { requests: 0, downloads: 0, bytes: 0, cuts: 0 };
    let edgeCpu = local.look().cpuSeconds;
    const cpuBefore = edgeCpu;
    let { cpuSeconds: phonesCpu } = await fleet.read(behaviour);
    const startedAt = performance.now();
    let sampledAt = startedAt;
    const sample = async (): Promise<void> => {
      const report = await fleet.report();
      const now = performance.now();
      const figures = local.look();
      const elapsed = (now - sampledAt) / 1000;
      samples.push({
        second: rounded((now - startedAt) / 1000, 1),
        pssBytes: figures.pssBytes,
        objects: Math.max(0, figures.databases - empty.databases),
        requests: report.done,
        failed: report.failures.length,
        latencyMedian: rounded(share(report.latencies, 0.5), 1),
        latency95: rounded(share(report.latencies, 0.95), 1),
        edgeCpu: rounded((figures.cpuSeconds - edgeCpu) / elapsed),
        phonesCpu: rounded((report.cpuSeconds - phonesCpu) / elapsed),
        load: machineLoad(),
      });
      [sampledAt, edgeCpu, phonesCpu] = [now, figures.cpuSeconds, report.cpuSeconds];
      failures.push(...report.failures);
      for (const latency of report.latencies) latencies.push(latency);
      totals.requests += report.done;
      totals.downloads += report.downloads;
      totals.bytes += report.bytes;
      totals.cuts += report.cuts;
    };
    for (let next = SAMPLE_SECONDS; next <= seconds; next += SAMPLE_SECONDS) {
      await wait(Math.max(0, startedAt + next * 1000 - performance.now()));
      await sample();
      if (samples.length % 15 === 0) tell(progressOf(samples.at(-1)));
    }
    const rest = await fleet.rest();
    failures.push(...rest.failures);
    for (const latency of rest.latencies) latencies.push(latency);
    const requests = totals.requests + rest.done;
    const cpuSeconds = local.look().cpuSeconds - cpuBefore;
    tell("the phones rest");
    await local.untilHibernated(hibernationTimeout);
    const pssRested = local.look().pssBytes;
    fleet.close();
    tell("the phones are gone");
    await wait(lingerSeconds * 1000);
    await local.untilHibernated(hibernationTimeout);
    const inMinute = (from: number): number[] =>
      samples.filter(({ second }) => second >= from && second < from + MINUTE).map(({ pssBytes }) => pssBytes);
    const late = samples.filter(({ second }) => second >= Math.min(2 * MINUTE, seconds / 2));
    return {
      settings: { phones, seconds, lingerSeconds, seed, ...behaviour },
      figures: {
        requests,
        failed: failures.length,
        downloads: totals.downloads + rest.downloads,
        bytes: totals.bytes + rest.bytes,
        cuts: totals.cuts + rest.cuts,
        // The first link of a session resumes nothing.
        resumes: rest.resumes - rest.sessions,
        sessionsLost: rest.sessions - phones,
        latencyMedian: rounded(share(latencies, 0.5), 1),
        latency95: rounded(share(latencies, 0.95), 1),
        latency99: rounded(share(latencies, 0.99), 1),
        cpuMillisecondsPerRequest: rounded((1000 * cpuSeconds) / requests),
        pssEmpty: empty.pssBytes,
        pssSecondMinute: Math.round(share(inMinute(MINUTE), 0.5)),
        pssLastMinute: Math.round(share(inMinute(seconds - MINUTE), 0.5)),
        pssPeak: Math.max(...samples.map(({ pssBytes }) => pssBytes)),
        pssBytesPerMinute: Math.round(MINUTE * slope(late.map(({ second, pssBytes }) => ({ x: second, y: pssBytes })))),
        pssRested,
        pssLeft: local.look().pssBytes,
        objectsLeft: local.objects,
      },
      samples,
      failures: [...new Set(failures)],
    };
  } finally {
    await local.close();
  }
}

function progressOf(sample: Sample<"phones"> | undefined): string {
  if (sample === undefined) return "";
  const { second, pssBytes, objects, latencyMedian, latency95 } = sample;
  const rate = sample.requests / SAMPLE_SECONDS;
  return `${Math.round(second)} s: ${Math.round(pssBytes / 1e6)} MB, ${objects} objects, ${rate} requests/s, ${latencyMedian} / ${latency95} ms`;
}
