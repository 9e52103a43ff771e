/** One request of the chaos run: what is asked, and whether it may end as it did. */
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { EXCHANGE_ATTEMPTS, REPLAYED_BODY_BYTES } from "../../pwa/tunnel/requests/lasting-request.ts";
import { ErrorCode, errorCodeName } from "../../shared/errors.ts";
import type { RequestHead } from "../../shared/http/heads.ts";
import * as limits from "../../shared/limits.ts";
import { ConsumerLog } from "../../shared/testing/http/exchange-rig.ts";
import { navigation, scriptFetch } from "../../shared/testing/http/request-heads.ts";
import type { Random } from "../../shared/testing/random.ts";
import { sha256 } from "../testing/contract.ts";
import { type BlobKind, blob, type ChaosOrigin } from "./chaos-origin.ts";

interface ChaosAsked {
  readonly head: RequestHead;
  readonly body: ReadableStream<Uint8Array> | null;
  readonly push: null;
}

/** The phone's tunnel. */
export interface ChaosTunnel {
  ask(request: ChaosAsked, consumer: ConsumerLog): unknown;
  /** `sessions`: opened so far. */
  stats(): { readonly sessions: number };
}

const KINDS = ["ranged", "ranged", "coded", "plain", "put", "large-put", "post", "post", "denied"] as const;
type Kind = (typeof KINDS)[number];

/** Why a request may fail whose edge died: nothing that is known says how it could go on. */
export type Reason =
  /** Part of a body was handed on, and nothing proves that another response's bytes fit behind it. */
  | "no validator"
  /** So much of the upload was read that it was not kept, and cannot be sent again. */
  | "body not kept"
  /** It reached its origin before the edge died, or was about to, and must not run twice. */
  | "already sent"
  /** It ran, and its answer had begun. */
  | "answer cut short"
  /** It was sent in as many sessions as EXCHANGE_ATTEMPTS allows, and each was lost before anything came back. */
  | "tried often enough";

export interface Ended {
  readonly kind: Kind;
  readonly outcome: "done" | { readonly excused: Reason } | { readonly wrong: string };
  /** Whether an edge died while it was under way, or its session was found to have died with one before. */
  readonly sawDeath: boolean;
  /** A POST that is said to have been sent, and that its origin never saw: the edge died between log and request. */
  readonly isLoggedOnly: boolean;
}

/** Milliseconds in which a session that was lost is followed by another. */
const NEXT_SESSION_TIME = 500;

/** Of a request that may be sent again. */
const GIVEN_UP: ReadonlySet<number> = new Set([ErrorCode.LINK_LOST, ErrorCode.OUTCOME_UNKNOWN]);

interface Asked {
  readonly kind: Kind;
  /** Hash of the body that is to come. */
  readonly expected: string;
  /** Of the body as the origin sends it. */
  readonly bytesFromOrigin: number;
  /** Bytes of the upload that were read so far. */
  readonly read: () => number;
}

/** @param deaths how many edges have died so far. */
export async function chaosRequest(
  tunnel: ChaosTunnel,
  origin: { readonly url: string; readonly log: ChaosOrigin },
  name: string,
  random: Random,
  deaths: () => number,
): Promise<Ended> {
  const before = deaths();
  const { sessions } = tunnel.stats();
  const consumer = new ConsumerLog();
  const asked = ask(tunnel, origin.url, name, random, consumer);
  await consumer.over;
  const edges = 1 + deaths() - before;
  const arrivals = origin.log.arrivals.get(name) ?? 0;
  // What goes down with a session ends before the next is there to be counted.
  if (consumer.error !== null || arrivals > 1) await sleep(NEXT_SESSION_TIME);
  // One that was begun after a death, but before its session was found to be lost, goes down with that.
  const losses = Math.max(edges - 1, tunnel.stats().sessions - sessions);
  const problem = judge(asked, consumer, losses, arrivals);
  // What may be repeated is, once in each session.
  const runs = asked.kind === "post" ? 1 : 1 + losses;
  const outcome = arrivals > runs ? { wrong: `ran ${arrivals} times in ${1 + losses} sessions` } : problem;
  const isLoggedOnly = consumer.error?.code === ErrorCode.ALREADY_SENT && arrivals === 0;
  return { kind: asked.kind, outcome, sawDeath: losses > 0, isLoggedOnly };
}

function ask(tunnel: ChaosTunnel, origin: string, name: string, random: Random, consumer: ConsumerLog): Asked {
  const kind = random.pick(KINDS);
  const seed = random.below(1_000_000);
  if (kind === "ranged" || kind === "coded" || kind === "plain") {
    const length = 1 + random.below(kind === "plain" ? 300_000 : 2_000_000);
    const body = blob(seed, length);
    const head = navigation(`${origin}/${kind satisfies BlobKind}/${name}/${seed}/${length}`);
    tunnel.ask({ head, body: null, push: null }, consumer);
    const bytesFromOrigin = kind === "coded" ? gzipSync(body).length : length;
    return { kind, expected: sha256(body), bytesFromOrigin, read: () => 0 };
  }
  const body = blob(seed, kind === "large-put" ? 300_000 + random.below(500_000) : random.below(200_000));
  const page = kind === "denied" ? "http://other.example" : origin;
  const method = kind === "post" ? "POST" : "PUT";
  const upload = inPieces(body, random);
  const head = { ...navigation(`${origin}/upload/${name}`), ...scriptFetch(page), method };
  tunnel.ask({ head, body: upload.stream, push: null }, consumer);
  return { kind, expected: sha256(body), bytesFromOrigin: 64, read: upload.read };
}

function judge(asked: Asked, consumer: ConsumerLog, losses: number, arrivals: number): Ended["outcome"] {
  const { kind, expected } = asked;
  const { error, chunks } = consumer;
  if (error === null) {
    if (kind === "denied") return { wrong: "was answered, though the origin does not allow it" };
    const body = Buffer.concat(chunks);
    // The answer to an upload is the hash of what came.
    const got = kind === "ranged" || kind === "coded" || kind === "plain" ? sha256(body) : body.toString();
    return got === expected ? "done" : { wrong: `${body.length} wrong bytes` };
  }
  if (kind === "denied" && error.code === ErrorCode.CORS_DENIED) return "done";
  const hasTried = losses >= EXCHANGE_ATTEMPTS - 1 && GIVEN_UP.has(error.code) && consumer.head === null;
  const reason =
    losses === 0 ? null : (excuse(asked, consumer, error.code, arrivals) ?? (hasTried ? "tried often enough" : null));
  return reason === null
    ? { wrong: `${errorCodeName(error.code)} with ${consumer.bytes} bytes there: ${error.message}` }
    : { excused: reason };
}

function excuse(
  { kind, bytesFromOrigin, read }: Asked,
  consumer: ConsumerLog,
  code: number,
  arrivals: number,
): Reason | null {
  const isLost = code === ErrorCode.LINK_LOST;
  switch (kind) {
    case "ranged":
    case "coded":
    case "plain": {
      const hasValidator = kind !== "plain" && bytesFromOrigin >= limits.resumableBodyBytes;
      return isLost && !hasValidator && consumer.bytes > 0 ? "no validator" : null;
    }
    case "large-put":
      return isLost && read() > REPLAYED_BODY_BYTES ? "body not kept" : null;
    case "post":
      if (code === ErrorCode.ALREADY_SENT) return "already sent";
      return isLost && consumer.head !== null && arrivals === 1 ? "answer cut short" : null;
    default:
      return null;
  }
}

function inPieces(
  body: Buffer,
  random: Random,
): { readonly stream: ReadableStream<Uint8Array>; readonly read: () => number } {
  let offset = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (offset >= body.length) return controller.close();
        const end = Math.min(body.length, offset + 1 + random.below(60_000));
        controller.enqueue(new Uint8Array(body.subarray(offset, end)));
        offset = end;
        await sleep(random.below(8));
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, read: () => offset };
}
