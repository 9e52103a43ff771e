/**
 * The whole tunnel, phone and edge, over several sockets that are cut one by one at random: no wrong byte, no request
 * twice, nothing that hangs. What is asked and cut follows from ROPEWAY_FUZZ_SEED; what of that meets does not.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { SocketPlatform } from "../../pwa/tunnel/sockets/first-socket.ts";
import { Tunnel } from "../../pwa/tunnel/tunnel.ts";
import { type EdgeOptions, startEdge } from "../../scripts/edge-process.ts";
import { TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { Random, runSeed } from "../../shared/testing/random.ts";
import { type Cut, startCutProxy } from "../testing/cut-proxy.ts";
import { dial, pairPhone } from "../testing/test-phone.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";
import { ChaosOrigin } from "./chaos-origin.ts";
import { chaosRequest, type Ended } from "./chaos-request.ts";

const SEED = runSeed();
const CHANNELS = 4;
const REQUESTS = 36;
const REQUESTS_AT_ONCE = 8;
/** The phone's clock runs so much faster, that timeouts made for radio links do not take the test's time. */
const CLOCK_RATE = 8;
/**
 * Several times what a run takes, counted whether there is a socket to hit or not. A cut takes a live socket, and one that
 * was cut silently under an upload is missed late: on a busy machine, cuts without end could take each fresh socket before
 * anything has come through it.
 */
const MOST_CUTS = 200;
const CUT_KINDS: readonly Cut[] = ["reset", "reset", "end", "half-open", "edge-only", "stall"];

const platform = (random: Random): SocketPlatform => ({
  dial: (offer, listener) => dial("websocket", offer, listener),
  dialFurther: (offer, listener) => dial("websocket", offer, listener),
  now: () => performance.now() * CLOCK_RATE,
  random: () => random.uint32() / 2 ** 32,
  setTimer(task, delay) {
    const timer = setTimeout(task, delay / CLOCK_RATE);
    return () => clearTimeout(timer);
  },
  probe: async () => "reachable",
});

async function setUp(runtime: EdgeOptions["runtime"], all: Random) {
  const random = all.fork("cuts");
  /** In order. */
  const inputs: string[] = [];
  const stateDirectory = await mkdtemp(join(tmpdir(), "ropeway-channels-"));
  const log = new ChaosOrigin();
  const local = await startLocalOrigin(log.listener);
  const options = { runtime, port: 0, allowPrivate: true, stateDirectory } as const;
  let edge = await startEdge(options);
  const proxy = await startCutProxy(Number(new URL(edge.url).port), all.fork("link"), 15);
  const token = await pairPhone(edge.url, edge.accessKey);
  const tunnel = new Tunnel({ onPhase() {}, onTraffic() {} }, platform(all.fork("phone")));
  tunnel.introduce({ userAgent: "channels", acceptLanguage: "en" });
  tunnel.setWaitTime(1_000_000);
  tunnel.setExperiment({ channels: CHANNELS });
  tunnel.start(`ws://127.0.0.1:${proxy.port}${TUNNEL_PATH}`, token);
  let restarts = 0;
  return {
    tunnel,
    proxy,
    /** What was asked and cut, for whoever has to find out why that failed. */
    given: () => `seed ${all.seed}: ${inputs.join(", ")}`,
    /** One after the other on each of some lines, until so many were made; `between` runs when one has ended. */
    async requests(between: (ended: number) => void | Promise<void> = () => {}): Promise<Ended[]> {
      const results: Ended[] = [];
      let begun = 0;
      const line = async (): Promise<void> => {
        while (begun < REQUESTS) {
          begun += 1;
          const name = String(begun);
          inputs.push(`request ${name}`);
          const site = { url: local.origin, log };
          results.push(await chaosRequest(tunnel, site, name, all.fork(name), () => restarts));
          await between(results.length);
        }
      };
      await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, line));
      return results;
    },
    /** The edge's process dies, as in a crash, and another takes its place. */
    async restart(): Promise<void> {
      restarts += 1;
      process.kill(edge.pid, "SIGKILL");
      await edge.exited;
      edge = await startEdge({ ...options, accessKey: edge.accessKey });
      proxy.edgePort = Number(new URL(edge.url).port);
    },
    /** Cuts single sockets, MOST_CUTS at most, until the returned function is called, which says how many. */
    cutSockets(): () => Promise<number> {
      let isOver = false;
      let cuts = 0;
      const cutting = (async () => {
        for (let made = 0; !isOver && made < MOST_CUTS; made += 1) {
          await sleep(20 + random.below(200));
          const [kind, stall] = [random.pick(CUT_KINDS), random.below(400)];
          if (isOver) break;
          inputs.push(`${kind} ${stall}`);
          cuts += proxy.cut(kind, stall, 1);
        }
      })();
      return async () => {
        isOver = true;
        await cutting;
        return cuts;
      };
    },
    async close(): Promise<void> {
      tunnel.giveUp();
      await Promise.all([proxy.close(), local.close(), edge.close()]);
      await rm(stateDirectory, { recursive: true, force: true });
    },
  };
}

const wrongOnes = (results: readonly Ended[]): Ended[] =>
  results.filter(({ outcome }) => typeof outcome === "object" && "wrong" in outcome);

/** A test on each runtime, side by side: they wait most of their time. */
function each(name: string, run: (runtime: EdgeOptions["runtime"]) => Promise<void>): void {
  describe(name, () => {
    it.concurrent.each(["workerd", "deno"] as const)("on %s", { timeout: 240_000 }, run);
  });
}

describe.concurrent("several sockets to an edge", () => {
  each(`carry all, whole and once, while single ones are cut, seed ${SEED}`, async (runtime) => {
    const edge = await setUp(runtime, new Random(SEED));
    const endCuts = edge.cutSockets();
    const results = await edge.requests();
    const cuts = await endCuts();
    const stats = edge.tunnel.stats();
    await edge.close();
    console.log(`channels on ${runtime}: ${JSON.stringify({ seed: SEED, cuts, ...stats })}`);
    expect(
      results.filter(({ outcome }) => outcome !== "done"),
      edge.given(),
    ).toEqual([]);
    expect(results).toHaveLength(REQUESTS);
    expect([stats.sessions, stats.channelsWanted, stats.resumes > 0, cuts > 10]).toEqual([1, CHANNELS, true, true]);
  });

  each(`are opened and ended in the midst of that, seed ${SEED}`, async (runtime) => {
    const edge = await setUp(runtime, new Random(SEED));
    const endCuts = edge.cutSockets();
    const counts = [1, CHANNELS, 2, 6, 1, CHANNELS];
    const results = await edge.requests((ended) => {
      if (ended % (REQUESTS / counts.length) === 0) edge.tunnel.setExperiment({ channels: counts.shift() ?? CHANNELS });
    });
    await endCuts();
    const { sessions } = edge.tunnel.stats();
    await edge.close();
    expect(
      results.filter(({ outcome }) => outcome !== "done"),
      edge.given(),
    ).toEqual([]);
    expect([results.length, sessions]).toEqual([REQUESTS, 1]);
  });

  each(`go on with another edge when one dies, seed ${SEED}`, async (runtime) => {
    const edge = await setUp(runtime, new Random(SEED));
    const endCuts = edge.cutSockets();
    const results = await edge.requests((ended) => (ended === REQUESTS / 3 ? edge.restart() : undefined));
    await endCuts();
    const { sessions } = edge.tunnel.stats();
    await edge.close();
    expect(wrongOnes(results), edge.given()).toEqual([]);
    expect(results.filter(({ outcome }) => outcome !== "done").length).toBeLessThanOrEqual(REQUESTS_AT_ONCE);
    expect([results.length, sessions <= 2]).toEqual([REQUESTS, true]);
  });
});
