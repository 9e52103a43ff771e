/** Undoes `dcz` (RFC 9842, PROTOCOL.md section 5.3) in steps, and waits for the consumer between them. */
import { DCZ_HEADER_BYTES, type DecoderHandler, isDczHeader } from "../../../../shared/coding/link-coding.ts";
import { concat } from "../../../../shared/wire/frame.ts";
import { BLOCK_HEADER_BYTES, type FrameHeader, frameBehind, readBlockHeader, readFrameHeader } from "./zstd-frame.ts";
import type { ZstdContext, ZstdWasm } from "./zstd-wasm.ts";

export interface StoredDictionary {
  readonly bytes: Uint8Array;
  /** SHA-256 */
  readonly hash: Uint8Array;
}

/** A frame that is being decoded. */
interface OpenFrame {
  readonly context: ZstdContext;
  readonly header: FrameHeader;
  /** Bytes that came out. */
  delivered: number;
}

/**
 * ```
 *  header ──► between frames ──► block ──► payload ─┬─► block
 *                   ▲                               │
 *                   └───────── the last block ──────┘
 * ```
 */
type Place =
  | { readonly kind: "header" }
  | { readonly kind: "between" }
  | { readonly kind: "block"; readonly frame: OpenFrame }
  | { readonly kind: "payload"; readonly frame: OpenFrame; readonly left: number; readonly isLast: boolean }
  | { readonly kind: "closed" };

export class DczDecoder {
  readonly #zstd: ZstdWasm;
  readonly #dictionary: StoredDictionary;
  readonly #deliver: DecoderHandler["deliver"];
  #place: Place = { kind: "header" };
  /** What is too short yet. */
  #rest: Uint8Array = new Uint8Array();

  constructor(zstd: ZstdWasm, dictionary: StoredDictionary, deliver: DecoderHandler["deliver"]) {
    this.#zstd = zstd;
    this.#dictionary = dictionary;
    this.#deliver = deliver;
  }

  /** @throws Error where it is not what it should be. */
  async write(chunk: Uint8Array): Promise<void> {
    let input = this.#rest.length === 0 ? chunk : concat(this.#rest, chunk);
    for (let taken = -1; taken !== 0 && !this.#isClosed; input = input.subarray(taken)) taken = await this.#take(input);
    this.#rest = input;
  }

  /** @throws Error where something lacks. */
  end(): void {
    if (this.#place.kind !== "between" || this.#rest.length > 0) {
      throw new Error("Cannot decode the response: it ends too soon");
    }
  }

  /** Nothing more comes out. */
  close(): void {
    if ("frame" in this.#place) this.#place.frame.context.close();
    this.#place = { kind: "closed" };
  }

  get #isClosed(): boolean {
    return this.#place.kind === "closed";
  }

  /** @returns bytes that were taken, 0 where more has to come. */
  async #take(input: Uint8Array): Promise<number> {
    const place = this.#place;
    if (place.kind === "closed") return 0;
    if (place.kind === "payload") return this.#takePayload(place, input);
    if (place.kind === "between") return this.#takeFrameHeader(input);
    const length = place.kind === "header" ? DCZ_HEADER_BYTES : BLOCK_HEADER_BYTES;
    if (input.length < length) return 0;
    const bytes = input.subarray(0, length);
    if (place.kind === "header") {
      if (!isDczHeader(bytes, this.#dictionary.hash))
        throw new Error("Cannot decode the response: it has another dictionary");
      this.#place = { kind: "between" };
    } else {
      const { size, isLast } = readBlockHeader(bytes);
      await this.#decode(place.frame, bytes);
      if (this.#isClosed) return 0;
      this.#place = { kind: "payload", frame: place.frame, left: size, isLast };
    }
    return length;
  }

  async #takeFrameHeader(input: Uint8Array): Promise<number> {
    const header = readFrameHeader(input);
    if (header === null) return 0;
    const prefix = [...frameBehind(this.#dictionary.bytes, header)];
    const frame: OpenFrame = { context: await this.#zstd.open(), header, delivered: 0 };
    if (this.#isClosed) {
      frame.context.close();
      return 0;
    }
    this.#place = { kind: "block", frame };
    // What comes out is the dictionary.
    for (const each of prefix) for (const _ of frame.context.decode(each));
    return header.length;
  }

  async #takePayload(
    { frame, left, isLast }: Place & { readonly kind: "payload" },
    input: Uint8Array,
  ): Promise<number> {
    const taken = Math.min(left, input.length);
    if (taken > 0) await this.#decode(frame, input.subarray(0, taken));
    if (this.#isClosed) return 0;
    if (taken < left) this.#place = { kind: "payload", frame, left: left - taken, isLast };
    else this.#place = isLast ? this.#ended(frame) : { kind: "block", frame };
    return taken === 0 && left === 0 ? await this.#take(input) : taken;
  }

  #ended({ context, header: { contentSize }, delivered }: OpenFrame): Place {
    if (contentSize !== null && delivered !== contentSize) {
      throw new Error("Cannot decode the response: a frame has another length than it says");
    }
    context.close();
    return { kind: "between" };
  }

  async #decode(frame: OpenFrame, input: Uint8Array): Promise<void> {
    for (const bytes of frame.context.decode(input)) {
      frame.delivered += bytes.length;
      const { contentSize } = frame.header;
      if (contentSize !== null && frame.delivered > contentSize) {
        throw new Error("Cannot decode the response: a frame has another length than it says");
      }
      if (bytes.length > 0) await this.#deliver(bytes);
      // Before the next step: the context is another's by then.
      if (this.#isClosed) return;
    }
  }
}
