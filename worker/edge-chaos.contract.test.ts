/**
 * The whole tunnel, phone and edge, over a link that is cut at random in every way that links are: no wrong byte, no
 * request twice, nothing that hangs. ROPEWAY_CHAOS_CUTS says how many cuts, ROPEWAY_CHAOS_SEED repeats a run.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { LinkPlatform } from "../pwa/tunnel/link.ts";
import { Tunnel } from "../pwa/tunnel/tunnel.ts";
import { type RunningEdge, startEdge } from "../scripts/edge-process.ts";
import { ErrorCode, errorCodeName } from "../shared/errors.ts";
import { TUNNEL_PATH } from "../shared/subprotocol.ts";
import { ConsumerLog } from "../shared/testing/exchange-rig.ts";
import { Random } from "../shared/testing/random.ts";
import { type BlobKind, blob, ChaosOrigin } from "./testing/chaos-origin.ts";
import { sha256 } from "./testing/contract.ts";
import { type Cut, type CutProxy, startCutProxy } from "./testing/cut-proxy.ts";
import { navigation, scriptFetch } from "./testing/phone-session.ts";
import { pairPhone } from "./testing/test-phone.ts";
import { startLocalOrigin } from "./upstream/testing/local-origin.ts";

const CUTS = Number(process.env.ROPEWAY_CHAOS_CUTS ?? 100);
const SEED = Number(process.env.ROPEWAY_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 32));
const PHONES = 3;
const REQUESTS_PER_PHONE = 4;
/** The phones' clock runs so much faster, that timeouts made for radio links do not take the test's time. */
const CLOCK_RATE = 8;
/** An edge that is killed comes back before anything else happens. */
const CUTS_PER_RESTART = 25;
/** Milliseconds after the last cut by which all that is under way must have ended. */
const SETTLE_TIME = 30_000;
const CUT_KINDS: readonly Cut[] = ["reset", "reset", "reset", "end", "half-open", "half-open", "edge-only", "stall"];

/** What a session's loss may end a request with, where nothing proves how it could go on. */
const LOSSES: ReadonlySet<number> = new Set([ErrorCode.LINK_LOST, ErrorCode.ALREADY_SENT, ErrorCode.OUTCOME_UNKNOWN]);

const platform: LinkPlatform = {
  openSocket: (url, protocols) => new WebSocket(url, protocols),
  now: () => performance.now() * CLOCK_RATE,
  random: () => Math.random(),
  setTimer(task, delay) {
    const timer = setTimeout(task, delay / CLOCK_RATE);
    return () => clearTimeout(timer);
  },
  probe: async () => "reachable",
};

class Tally {
  readonly done: Record<string, number> = {};
  readonly failed: Record<string, number> = {};
  readonly wrong: string[] = [];
  readonly underWay = new Set<string>();

  count(table: "done" | "failed", name: string): void {
    this[table][name] = (this[table][name] ?? 0) + 1;
  }
}

describe.each(["workerd", "deno"] as const)("a link of an edge on %s that is cut at random", (runtime) => {
  it(`loses nothing, repeats nothing and hangs nowhere over ${CUTS / 2} cuts, seed ${SEED}`, {
    timeout: 120_000 + CUTS * 2_000,
  }, async () => {
    console.log(`chaos on ${runtime}: ${CUTS / 2} cuts, seed ${SEED}`);
    const random = new Random(SEED);
    const stateDirectory = await mkdtemp(join(tmpdir(), "ropeway-chaos-"));
    const origin = new ChaosOrigin();
    const local = await startLocalOrigin(origin.listener);
    const options = { runtime, port: 0, allowPrivate: true, stateDirectory } as const;
    let edge: RunningEdge = await startEdge(options);
    const proxy = await startCutProxy(Number(new URL(edge.url).port), random, 15);
    const tally = new Tally();
    let restarts = 0;
    let isOver = false;

    const phones = await Promise.all(
      Array.from({ length: PHONES }, async () => {
        const token = await pairPhone(edge.url, edge.accessKey);
        const tunnel = new Tunnel({ onPhase() {}, onTraffic() {} }, platform);
        tunnel.introduce({ userAgent: "chaos", acceptLanguage: "en" });
        tunnel.setWaitTime(1_000_000);
        tunnel.start(`ws://127.0.0.1:${proxy.port}${TUNNEL_PATH}`, token);
        return tunnel;
      }),
    );
    const working = phones.flatMap((tunnel, phone) =>
      Array.from({ length: REQUESTS_PER_PHONE }, async (_, line) => {
        for (let round = 0; !isOver; round += 1) {
          await request(tunnel, local.origin, `${phone}-${line}-${round}`, random, tally);
        }
      }),
    );

    let cuts = 0;
    while (cuts < CUTS / 2) {
      await sleep(10 + random.below(150));
      if (cuts % CUTS_PER_RESTART === CUTS_PER_RESTART - 1) {
        restarts += 1;
        edge = await restart(edge, options, proxy);
        cuts += 1;
      } else if (proxy.cut(random.pick(CUT_KINDS), random.below(400)) > 0) {
        cuts += 1;
        if (random.oneIn(10)) await outage(proxy, random.below(500));
      }
    }
    isOver = true;
    await Promise.race([Promise.all(working), sleep(SETTLE_TIME)]);
    const hung = [...tally.underWay];

    console.log(`chaos on ${runtime}: ${JSON.stringify({ cuts, restarts, done: tally.done, failed: tally.failed })}`);
    const sessions = phones.map((tunnel) => tunnel.stats().sessions);
    for (const tunnel of phones) tunnel.giveUp();
    await Promise.all([proxy.close(), local.close(), edge.close()]);
    await rm(stateDirectory, { recursive: true, force: true });

    expect(hung).toEqual([]);
    expect(tally.wrong).toEqual([]);
    // No cut ends a session, and so no request: that only the edge's death does.
    expect(Math.max(...sessions)).toBeLessThanOrEqual(restarts + 1);
    expect([...origin.posts].filter(([, count]) => count > 1)).toEqual([]);
    expect(Object.values(tally.done).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(CUTS / 4);
  });
});

/** One request of a random kind, checked to its last byte. */
async function request(tunnel: Tunnel, origin: string, name: string, random: Random, tally: Tally): Promise<void> {
  const kind = random.pick([
    "ranged",
    "ranged",
    "coded",
    "plain",
    "put",
    "large-put",
    "post",
    "post",
    "denied",
  ] as const);
  const seed = random.below(1_000_000);
  const consumer = new ConsumerLog();
  let expected: string;
  let isSure: boolean;
  let isDownload = false;
  if (kind === "put" || kind === "large-put" || kind === "post" || kind === "denied") {
    const body = blob(seed, kind === "large-put" ? 300_000 + random.below(500_000) : random.below(200_000));
    expected = sha256(body);
    // Too large to keep, or not to be repeated: a lost session may be its end.
    isSure = kind === "put";
    const method = kind === "post" ? "POST" : "PUT";
    const page = kind === "denied" ? "http://other.example" : origin;
    const head = { ...navigation(`${origin}/${name}`), ...scriptFetch(page), method };
    tunnel.request(head, inPieces(body, random), consumer);
  } else {
    isDownload = true;
    const length = 1 + random.below(kind === "plain" ? 300_000 : 2_000_000);
    expected = sha256(blob(seed, length));
    isSure = kind !== "plain" && length > 20_000;
    tunnel.request(navigation(`${origin}/${kind satisfies BlobKind}/${seed}/${length}`), null, consumer);
  }
  const label = `${name} ${kind}`;
  tally.underWay.add(label);
  await consumer.over;
  tally.underWay.delete(label);
  if (consumer.error !== null) {
    const { code } = consumer.error;
    if (kind === "denied" && code === ErrorCode.CORS_DENIED) return tally.count("done", kind);
    tally.count("failed", `${kind} ${errorCodeName(code)}`);
    const mayFail = LOSSES.has(code) && !isSure;
    if (!mayFail) tally.wrong.push(`${label}: ${consumer.error.message}`);
    return;
  }
  tally.count("done", kind);
  const got = isDownload ? sha256(Buffer.concat(consumer.chunks)) : consumer.text;
  if (got !== expected) tally.wrong.push(`${label}: ${consumer.bytes} wrong bytes`);
}

function inPieces(body: Buffer, random: Random): ReadableStream<Uint8Array> {
  let offset = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (offset >= body.length) return controller.close();
        const length = 1 + random.below(60_000);
        controller.enqueue(new Uint8Array(body.subarray(offset, offset + length)));
        offset += length;
        await sleep(random.below(8));
      },
    },
    { highWaterMark: 0 },
  );
}

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
