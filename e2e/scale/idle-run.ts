/** A phone that idles: what passes on its link, what is left of it at the edge, and what it costs to wake. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createAuthority } from "../bench/servers/certificates.ts";
import { EDGE_NAMES, startRopewayEdge } from "../bench/servers/ropeway-edge.ts";
import { median } from "../bench/statistics.ts";
import { Lab, type LinkSettings, originAddress } from "../lab/lab.ts";
import { startOrigin } from "./origin/start-origin.ts";
import { Fleet, PHONE_PROGRAM, WITH_MESSAGES } from "./phones/fleet.ts";
import type { Behaviour } from "./phones/task.ts";
import { type ProcessFigures, readProcess } from "./process-figures.ts";
import type { Outcome, Sample } from "./result.ts";
import { rounded } from "./series.ts";

export interface IdleSettings {
  readonly idleSeconds: number;
  /** Of an edge without any phone, to compare with. */
  readonly emptySeconds: number;
  /** Shorter idle times after the long one, each with a wake at its end. */
  readonly laterIdles: number;
  readonly laterIdleSeconds: number;
  /** Milliseconds after which what did not hibernate counts as awake. */
  readonly hibernationTimeout: number;
  readonly link: LinkSettings;
  readonly behaviour: Behaviour;
  readonly seed: number;
}

const WARM_REQUESTS = 7;
/** Milliseconds between warm requests, and between looks at an edge that may hibernate. */
const PAUSE = 300;
const SAMPLE_SECONDS = 5;
const MINUTE = 60;

export async function runIdle(settings: IdleSettings, tell: (line: string) => void): Promise<Outcome<"idle">> {
  const { idleSeconds, emptySeconds, laterIdles, laterIdleSeconds, hibernationTimeout, link, behaviour, seed } =
    settings;
  const directory = await mkdtemp(join(tmpdir(), "ropeway-scale-"));
  const closing: (() => unknown)[] = [() => rm(directory, { recursive: true, force: true })];
  try {
    const lab = await Lab.open({ link, congestion: "bbr", names: EDGE_NAMES });
    closing.push(() => lab.close());
    const authority = await createAuthority(directory);
    const edge = await startRopewayEdge({ lab, authority, directory });
    closing.push(() => edge.close());
    const origin = await startOrigin(
      (argv) => lab.origins.spawn(argv, { stdio: ["ignore", "pipe", "pipe"] }),
      originAddress(1),
      80,
    );
    closing.push(() => origin.close());
    const fleet = new Fleet(1, () =>
      lab.phone.spawn([process.execPath, PHONE_PROGRAM], {
        ...WITH_MESSAGES,
        env: { ...process.env, NODE_EXTRA_CA_CERTS: authority.file },
      }),
    );
    closing.push(() => fleet.close());
    const look = (): ProcessFigures => readProcess(edge.pid);
    const without = look();
    const objects = (): number => Math.max(0, look().databases - without.databases);
    const failures: string[] = [];
    const touch = async (): Promise<number> => {
      const report = await fleet.touch();
      failures.push(...report.failures);
      return report.latencies[0] ?? Number.POSITIVE_INFINITY;
    };

    const target = {
      edge: edge.url,
      accessKey: edge.accessKey,
      origin: `http://${originAddress(1)}`,
      seed,
      channels: null,
    };
    failures.push(...(await fleet.join(target, 1000)).failures);
    failures.push(...(await fleet.visit(behaviour)).failures);
    const warm: number[] = [];
    for (let request = 0; request < WARM_REQUESTS; request++) {
      await wait(PAUSE);
      warm.push(await touch());
    }
    tell(`warm requests take ${Math.round(median(warm))} ms; now the phone idles`);
    const secondsToHibernate = await untilHibernated(objects, hibernationTimeout);

    const [linkBefore, appBefore, edgeBefore] = [await lab.counters(), await fleet.report(), look()];
    const samples: Sample<"idle">[] = [];
    const startedAt = performance.now();
    for (let next = 0; next <= idleSeconds; next += Math.min(SAMPLE_SECONDS, idleSeconds)) {
      await wait(Math.max(0, startedAt + next * 1000 - performance.now()));
      const [{ up, down }, app, figures] = [await lab.counters(), await fleet.report(), look()];
      samples.push({
        second: rounded((performance.now() - startedAt) / 1000, 1),
        objects: Math.max(0, figures.databases - without.databases),
        linkBytes: up.bytes + down.bytes - linkBefore.up.bytes - linkBefore.down.bytes,
        linkPackets: up.packets + down.packets - linkBefore.up.packets - linkBefore.down.packets,
        keepAlives: app.keepAlives - appBefore.keepAlives,
        wakeups: figures.wakeups - edgeBefore.wakeups,
        cpuSeconds: rounded(figures.cpuSeconds - edgeBefore.cpuSeconds, 6),
        pssBytes: figures.pssBytes,
      });
    }
    const [linkAfter, appAfter] = [await lab.counters(), await fleet.report()];
    const wake = await touch();
    tell(`after ${idleSeconds} s the phone's request takes ${Math.round(wake)} ms`);
    const laterWakes: number[] = [];
    for (let idle = 0; idle < laterIdles; idle++) {
      await wait(laterIdleSeconds * 1000);
      laterWakes.push(await touch());
    }

    fleet.close();
    await untilHibernated(objects, hibernationTimeout);
    const emptyBefore = look();
    await wait(emptySeconds * 1000);
    const emptyAfter = look();
    const last = samples.at(-1);
    const { second: elapsed = 0, wakeups = 0, cpuSeconds = 0 } = last ?? {};
    return {
      settings: {
        idleSeconds,
        emptySeconds,
        laterIdles,
        laterIdleSeconds,
        seed,
        roundTripMilliseconds: 2 * link.delay,
        downKilobitsPerSecond: link.down,
        upKilobitsPerSecond: link.up,
      },
      figures: {
        warmMilliseconds: rounded(median(warm), 1),
        wakeMilliseconds: rounded(wake, 1),
        laterWakeMilliseconds: rounded(laterWakes.length === 0 ? wake : median(laterWakes), 1),
        secondsToHibernate: rounded(secondsToHibernate, 1),
        objectsWhileIdle: Math.max(...samples.map((sample) => sample.objects)),
        keepAlives: appAfter.keepAlives - appBefore.keepAlives,
        otherAppBytes: appAfter.frameBytes - appBefore.frameBytes,
        linkBytesUp: linkAfter.up.bytes - linkBefore.up.bytes,
        linkBytesDown: linkAfter.down.bytes - linkBefore.down.bytes,
        linkPacketsUp: linkAfter.up.packets - linkBefore.up.packets,
        linkPacketsDown: linkAfter.down.packets - linkBefore.down.packets,
        idleWakeupsPerMinute: rounded((MINUTE * wakeups) / elapsed, 1),
        emptyWakeupsPerMinute: rounded((MINUTE * (emptyAfter.wakeups - emptyBefore.wakeups)) / emptySeconds, 1),
        idleCpuMillisecondsPerMinute: rounded((MINUTE * 1000 * cpuSeconds) / elapsed, 2),
        emptyCpuMillisecondsPerMinute: rounded(
          (MINUTE * 1000 * (emptyAfter.cpuSeconds - emptyBefore.cpuSeconds)) / emptySeconds,
          2,
        ),
      },
      samples,
      failures: [...new Set(failures)],
    };
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

/** @returns seconds that it took, or `timeout` if it did not come to that. */
async function untilHibernated(objects: () => number, timeout: number): Promise<number> {
  const startedAt = performance.now();
  while (objects() > 0 && performance.now() < startedAt + timeout) await wait(PAUSE);
  return (performance.now() - startedAt) / 1000;
}
