/**
 * The whole tunnel, phone and edge, over a link that is cut at random in every way that links are: no wrong byte, no
 * request twice, nothing that hangs. ROPEWAY_CHAOS_CUTS says how many cuts. What is asked and cut follows
 * from ROPEWAY_FUZZ_SEED; what of that meets does not.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { SocketPlatform } from "../../pwa/tunnel/sockets/first-socket.ts";
import { Tunnel } from "../../pwa/tunnel/tunnel.ts";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { Random, runSeed } from "../../shared/testing/random.ts";
import { type Cut, type CutProxy, startCutProxy } from "../testing/cut-proxy.ts";
import { dial, pairPhone, type Road } from "../testing/test-phone.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";
import { ChaosOrigin } from "./chaos-origin.ts";
import { chaosRequest, type Ended, type Reason } from "./chaos-request.ts";

const CUTS = Number(process.env.ROPEWAY_CHAOS_CUTS ?? 100);
const SEED = runSeed();
/** Edges at once; in a long run more, as each waits most of its time. */
const RUNTIMES = CUTS < 1_000 ? (["workerd", "deno"] as const) : (["workerd", "deno", "workerd", "deno"] as const);
const CUTS_PER_EDGE = Math.ceil(CUTS / RUNTIMES.length);
/** One for each. */
const ROADS: readonly Road[] = ["websocket", "websocket", "fetch"];
const REQUESTS_PER_PHONE = 4;
/** The phones' clock runs so much faster, that timeouts made for radio links do not take the test's time. */
const CLOCK_RATE = 8;
/** The same after the last cut: on a busy machine such short timeouts give up links that are there. */
const SETTLING_RATE = 2;
/** An edge that is killed comes back before anything else happens. */
const CUTS_PER_RESTART = 25;
/** As many requests end between two deaths as are under way, or on a slow machine most would see one edge after the other die. */
const REQUESTS_PER_RESTART = ROADS.length * REQUESTS_PER_PHONE;
/** Milliseconds after the last cut by which all that is under way must have ended. */
const SETTLE_TIME = 90_000;
const CUT_KINDS: readonly Cut[] = ["reset", "reset", "reset", "end", "half-open", "half-open", "edge-only", "stall"];

class PhoneClock {
  #rate = CLOCK_RATE;
  #since = performance.now();
  #time = 0;

  /** Milliseconds. */
  now(): number {
    return this.#time + (performance.now() - this.#since) * this.#rate;
  }

  /** @param time milliseconds of the phone's. @returns those of the test's. */
  wait(time: number): number {
    return time / this.#rate;
  }

  settle(): void {
    this.#time = this.now();
    this.#since = performance.now();
    this.#rate = SETTLING_RATE;
  }
}

function platform(road: Road, random: Random, clock: PhoneClock): SocketPlatform {
  return {
    dial: (offer, listener) => dial(road, offer, listener),
    dialFurther: (offer, listener) => (road === "websocket" ? dial(road, offer, listener) : null),
    now: () => clock.now(),
    random: () => random.uint32() / 2 ** 32,
    setTimer(task, delay) {
      const timer = setTimeout(task, clock.wait(delay));
      return () => clearTimeout(timer);
    },
    probe: async () => "reachable",
  };
}

class Tally {
  readonly done: Record<string, number> = {};
  /** Of those, the ones that outlived an edge. */
  readonly doneOverDeaths: Record<string, number> = {};
  readonly excused: Partial<Record<Reason, number>> = {};
  readonly wrong: string[] = [];
  readonly underWay = new Set<string>();
  ended = 0;
  loggedOnly = 0;

  take(name: string, { kind, outcome, sawDeath, isLoggedOnly }: Ended): void {
    this.ended += 1;
    if (isLoggedOnly) this.loggedOnly += 1;
    if (outcome === "done") {
      this.done[kind] = (this.done[kind] ?? 0) + 1;
      if (sawDeath) this.doneOverDeaths[kind] = (this.doneOverDeaths[kind] ?? 0) + 1;
    } else if ("excused" in outcome) {
      this.excused[outcome.excused] = (this.excused[outcome.excused] ?? 0) + 1;
    } else this.wrong.push(`${name} ${kind}: ${outcome.wrong}`);
  }
}

describe("a link that is cut at random", () => {
  it.concurrent.each(RUNTIMES.map((runtime, index) => [runtime, SEED + index] as const))(
    `loses nothing, repeats nothing and hangs nowhere with an edge on %s over ${CUTS_PER_EDGE} cuts, seed %i`,
    {
      timeout: 120_000 + CUTS * 1_000,
    },
    async (runtime, seed) => {
      console.log(`chaos on ${runtime}: ${CUTS_PER_EDGE} cuts, seed ${seed}`);
      const all = new Random(seed);
      const random = all.fork("cuts");
      /** In order. */
      const inputs: string[] = [];
      const stateDirectory = await mkdtemp(join(tmpdir(), "ropeway-chaos-"));
      const log = new ChaosOrigin();
      const local = await startLocalOrigin(log.listener);
      const options = { runtime, port: 0, allowPrivate: true, stateDirectory } as const;
      let edge: RunningEdge = await startEdge(options);
      const proxy = await startCutProxy(Number(new URL(edge.url).port), all.fork("link"), 15);
      const tally = new Tally();
      let restarts = 0;
      let isOver = false;

      const clock = new PhoneClock();
      const phones = await Promise.all(
        ROADS.map(async (road, index) => {
          const token = await pairPhone(edge.url, edge.accessKey);
          const tunnel = new Tunnel(
            { onPhase() {}, onTraffic() {} },
            platform(road, all.fork(`phone ${index}`), clock),
          );
          tunnel.introduce({ userAgent: "chaos", acceptLanguage: "en" });
          tunnel.setWaitTime(1_000_000);
          tunnel.start(`ws://127.0.0.1:${proxy.port}${TUNNEL_PATH}`, token);
          return tunnel;
        }),
      );
      const working = phones.flatMap((tunnel, phone) =>
        Array.from({ length: REQUESTS_PER_PHONE }, async (_, line) => {
          for (let round = 0; !isOver; round += 1) {
            const name = `${phone}-${line}-${round}`;
            tally.underWay.add(name);
            const site = { url: local.origin, log };
            inputs.push(`request ${name}`);
            tally.take(name, await chaosRequest(tunnel, site, name, all.fork(name), () => restarts));
            tally.underWay.delete(name);
          }
        }),
      );

      let cuts = 0;
      let nextRestart = { cuts: CUTS_PER_RESTART - 1, ended: 0 };
      while (cuts < CUTS_PER_EDGE) {
        await sleep(10 + random.below(150));
        if (cuts >= nextRestart.cuts && tally.ended >= nextRestart.ended) {
          nextRestart = { cuts: cuts + CUTS_PER_RESTART, ended: tally.ended + REQUESTS_PER_RESTART };
          restarts += 1;
          inputs.push("death");
          edge = await restart(edge, options, proxy);
          cuts += 1;
          continue;
        }
        const [kind, stall, outageTime] = [random.pick(CUT_KINDS), random.below(400), random.below(5000)];
        if (proxy.cut(kind, stall) === 0) continue;
        inputs.push(`${kind} ${stall} ${outageTime}`);
        cuts += 1;
        if (outageTime < 500) await outage(proxy, outageTime);
      }
      isOver = true;
      clock.settle();
      await Promise.race([Promise.all(working), sleep(SETTLE_TIME)]);
      const hung = [...tally.underWay];

      const sessions = phones.map((tunnel) => tunnel.stats().sessions);
      const resumes = phones.map((tunnel) => tunnel.stats().resumes);
      const { done, doneOverDeaths, excused, loggedOnly } = tally;
      const { continued } = log;
      const counts = { cuts, restarts, sessions, resumes, continued, done, doneOverDeaths, excused, loggedOnly };
      console.log(`chaos on ${runtime}: ${JSON.stringify(counts)}`);
      for (const tunnel of phones) tunnel.giveUp();
      await Promise.all([proxy.close(), local.close(), edge.close()]);
      await rm(stateDirectory, { recursive: true, force: true });

      const given = `seed ${seed}: ${inputs.join(", ")}`;
      expect(hung, given).toEqual([]);
      expect(tally.wrong, given).toEqual([]);
      // No cut ends a session, and so no request: that only the edge's death does.
      expect(Math.max(...sessions)).toBeLessThanOrEqual(restarts + 1);
      // A death ends what was under way at most once, and rarely between the log of a POST and the POST. The rates are those
      // of long runs; in a short one, and on a busy machine, a few more or less say nothing.
      const failed = Object.values(excused).reduce((sum, count) => sum + count, 0);
      expect(failed).toBeLessThanOrEqual(restarts * ROADS.length * REQUESTS_PER_PHONE);
      expect(excused["tried often enough"] ?? 0).toBeLessThanOrEqual(2 + restarts / 20);
      expect(excused["answer cut short"] ?? 0).toBeLessThanOrEqual(3 + restarts / 4);
      expect(loggedOnly).toBeLessThanOrEqual(4 + restarts / 20);
      const doneInAll = Object.values(done).reduce((sum, count) => sum + count, 0);
      expect(doneInAll).toBeGreaterThan(failed);
    },
  );
});

/** No connection is made for a while, and those there are fall silent. */
async function outage(proxy: CutProxy, time: number): Promise<void> {
  proxy.isDown = true;
  proxy.cut("half-open");
  await sleep(time);
  proxy.isDown = false;
}

/** The edge's process dies, as in a crash, and another takes its place. */
async function restart(
  edge: RunningEdge,
  options: Parameters<typeof startEdge>[0],
  proxy: CutProxy,
): Promise<RunningEdge> {
  process.kill(edge.pid, "SIGKILL");
  await edge.exited;
  const next = await startEdge({ ...options, accessKey: edge.accessKey });
  proxy.edgePort = Number(new URL(next.url).port);
  return next;
}
