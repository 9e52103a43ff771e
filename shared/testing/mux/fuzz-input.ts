/** What the fuzzer throws: frames that make sense, frames that nearly do, and bytes that do not. */
import { requestToFields, responseToFields } from "../../http/head-fields.ts";
import * as limits from "../../limits.ts";
import {
  concat,
  DEFAULT_PRIORITY,
  type EncodableField,
  encodeFrame,
  type HeaderField,
  type Priority,
} from "../../wire/frame.ts";
import { HpackEncoder } from "../../wire/hpack/header-encoder.ts";
import { responseHead } from "../http/exchange-rig.ts";
import { requestHead } from "../http/request-heads.ts";
import type { Random } from "../random.ts";
import type { EncodableFrame } from "./scripted-transport.ts";

/** Numbers at which arithmetic, limits and encodings break. */
const EDGES = [0, 1, 2, 3, 63, 64, 255, 16_383, 16_384, 65_536, 65_537, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1];
const NAMES = [
  ":method",
  ":path",
  ":status",
  ":context",
  ":coding",
  ":url",
  "accept",
  "x-a",
  "x-b",
  "Upper",
  "",
  "a b",
];

/** What a peer that follows the rules would know of the session that it speaks to. */
export interface FuzzKnowledge {
  /** Streams that the phone has opened. */
  readonly streams: number;
  /** Sequenced frames that the session has sent. */
  readonly sent: number;
}

/** Plays one peer: keeps an HPACK encoder in step as long as its heads arrive as they were made. */
export class FuzzInput {
  readonly #random: Random;
  readonly #encoder = new HpackEncoder({ maxTableBytes: limits.hpackTableBytes });
  readonly #role: "phone" | "edge";
  readonly #known: FuzzKnowledge;
  /** What it is greedy for; streams otherwise. */
  readonly #wantsBytes: boolean;
  #opened = 0;

  /** @param role of the peer that is played. */
  constructor(random: Random, role: "phone" | "edge", known: FuzzKnowledge = { streams: 9, sent: 9 }) {
    this.#random = random;
    this.#role = role;
    this.#known = known;
    this.#wantsBytes = random.oneIn(2);
  }

  /** A frame of any type; most speak of streams that may exist. */
  frame(): EncodableFrame {
    const random = this.#random;
    const streamId = this.#streamId();
    if (streamId === 0) return this.#head(this.#openedStream());
    switch (random.below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return this.#head(this.#role === "phone" ? this.#openedStream() : streamId);
      case 4:
      case 5:
      case 6:
      case 7:
        return { type: "data", streamId, end: random.oneIn(4), payload: this.#payload() };
      case 8:
        return { type: "reset", streamId, code: random.below(64), message: random.oneIn(2) ? "why" : "" };
      case 9:
        return { type: "credit", streamId, increment: random.oneIn(9) ? this.#edge() : 1 + random.below(100_000) };
      case 10:
        return { type: "credit", streamId: 0, increment: random.oneIn(99) ? this.#edge() : 1 + random.below(100_000) };
      case 11:
        return { type: "priority", streamId, priority: this.#priority() };
      case 12:
        return random.oneIn(4) ? this.#settings() : { type: "ping", token: this.#edge() };
      case 13:
        return random.oneIn(40) ? this.#lastWord() : { type: "pong", token: random.below(9) };
      case 14:
        return { type: "ack", received: random.oneIn(60) ? this.#edge() : random.below(this.#known.sent + 1) };
      default:
        return this.#head(streamId);
    }
  }

  /** A frame that breaks nothing but asks for room: more streams, more bytes, and no end. */
  greed(): EncodableFrame {
    const random = this.#random;
    const streamId = this.#streamId();
    const wantsStream = this.#wantsBytes ? random.oneIn(20) : !random.oneIn(20);
    if (streamId === 0 || wantsStream) return { ...this.#head(this.#openedStream()), end: false };
    return { type: "data", streamId, end: false, payload: new Uint8Array(random.below(limits.batchBytes)) };
  }

  /** An HPACK block of a request or response as the peer would send it. */
  block(): Uint8Array<ArrayBuffer> {
    return this.#encoder.encode(this.#fields());
  }

  #openedStream(): number {
    this.#opened += 1;
    return 2 * this.#opened - 1;
  }

  /** One that exists or existed, rarely any; 0 while there is none. */
  #streamId(): number {
    const random = this.#random;
    if (random.oneIn(300)) return this.#edge() || 1;
    const streams = this.#role === "phone" ? this.#opened : this.#known.streams;
    // Mostly among the last few, since those are open.
    return streams === 0 ? 0 : 2 * (streams - random.below(random.oneIn(4) ? streams : Math.min(streams, 6))) - 1;
  }

  #edge(): number {
    return this.#random.pick(EDGES);
  }

  #priority(): Priority {
    return { urgency: this.#random.below(8), incremental: this.#random.oneIn(2) };
  }

  #payload(): Uint8Array {
    const random = this.#random;
    return random.oneIn(20) ? new Uint8Array(random.below(limits.batchBytes)) : random.bytes(random.below(64));
  }

  #head(streamId: number): EncodableFrame & { type: "head" } {
    const priority = this.#random.oneIn(4) ? this.#priority() : DEFAULT_PRIORITY;
    return { type: "head", streamId, end: this.#random.oneIn(2), priority, block: this.block() };
  }

  #fields(): readonly EncodableField[] {
    const random = this.#random;
    const plain = this.#role === "phone" ? requestToFields(requestHead) : responseToFields(this.#response());
    if (!random.oneIn(3)) return plain;
    const extra = Array.from({ length: random.below(6) }, (): HeaderField => [random.pick(NAMES), this.#value()]);
    return random.oneIn(2) ? [...plain, ...extra] : extra;
  }

  #response(): typeof responseHead {
    return this.#random.oneIn(3) ? { ...responseHead, coding: "deflate-raw" } : responseHead;
  }

  #value(): string {
    const random = this.#random;
    if (random.oneIn(10)) return "v".repeat(random.below(5000));
    return String.fromCharCode(...random.bytes(random.below(12)));
  }

  #settings(): EncodableFrame {
    const random = this.#random;
    const entries = Array.from({ length: random.below(4) }, (): [number, number] => [
      random.below(4),
      random.oneIn(9) ? this.#edge() : random.below(2_000_000),
    ]);
    return { type: "settings", entries };
  }

  #lastWord(): EncodableFrame {
    if (this.#random.oneIn(2)) {
      return {
        type: "hello",
        sessionId: this.#random.bytes(16),
        received: this.#edge(),
        next: this.#edge(),
        link: 0,
        resume: this.#random.oneIn(2),
      };
    }
    return { type: "go-away", lastStreamId: this.#edge(), code: this.#random.below(64), message: "go" };
  }
}

/** `bytes` changed in one to four places: flipped, overwritten, cut, doubled, or with something put in. */
export function mutate(random: Random, bytes: Uint8Array): Uint8Array {
  let mutated: Uint8Array = bytes.slice();
  for (let times = 1 + random.below(4); times > 0; times -= 1) {
    const at = random.below(mutated.length + 1);
    switch (random.below(6)) {
      case 0:
        mutated[at] = (mutated[at] ?? 0) ^ (1 << random.below(8));
        break;
      case 1:
        mutated[at] = random.uint32();
        break;
      case 2:
        mutated = mutated.slice(0, at);
        break;
      case 3:
        mutated = concat(mutated.subarray(0, at), mutated.subarray(random.below(at + 1)));
        break;
      case 4:
        mutated = concat(mutated.subarray(0, at), random.bytes(1 + random.below(9)), mutated.subarray(at));
        break;
      default:
        // A length or number that is too large, in the longest encoding.
        mutated = concat(mutated.subarray(0, at), Uint8Array.of(0xc0 | random.below(64)), mutated.subarray(at));
    }
  }
  return mutated;
}

/** So many frames as one message. */
export function message(frames: number, next: () => EncodableFrame): Uint8Array {
  return concat(...Array.from({ length: frames }, () => encodeFrame(next())));
}
