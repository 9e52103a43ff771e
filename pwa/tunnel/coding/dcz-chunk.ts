/** Entry of the script that undoes `dcz`, which the store loads when one may come. */
import zipped from "ropeway:zstd-decoder-wasm";
import { DCZ_HEADER_BYTES, type DecoderHandler, isDczHeader } from "../../../shared/coding/link-coding.ts";
import { concat } from "../../../shared/wire/frame.ts";
import { ContextPool, type StoredDictionary, unzipped } from "./late-decoder.ts";

const compiled = unzipped(zipped).then((bytes) => ZstdWasm.compile(bytes));
// Each decoder hears of a failure itself.
compiled.catch(() => {});

export async function openDczDecoder(
  dictionary: StoredDictionary,
  deliver: DecoderHandler["deliver"],
): Promise<DczDecoder> {
  return new DczDecoder(await compiled, dictionary, deliver);
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

/** Undoes `dcz` (RFC 9842, PROTOCOL.md section 5.3) in steps, and waits for the consumer between them. */
export class DczDecoder {
  readonly #zstd: ZstdWasm;
  readonly #dictionary: StoredDictionary;
  readonly #deliver: DecoderHandler["deliver"];
  #place: Place = { kind: "header" };
  /** Bytes that are too few to be decoded yet. */
  #rest: Uint8Array = new Uint8Array();

  constructor(zstd: ZstdWasm, dictionary: StoredDictionary, deliver: DecoderHandler["deliver"]) {
    this.#zstd = zstd;
    this.#dictionary = dictionary;
    this.#deliver = deliver;
  }

  /** @throws Error where the input is not sound. */
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
    // The output of the prefix is the dictionary.
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

// Of a zstd frame only the header is read here, and where its blocks end (RFC 8878 section 3.1.1).
const MAGIC = 0xfd2fb528;
const LEAST_WINDOW_LOG = 10;
/** Bytes of the longest block: also the least window that is announced. */
const BLOCK_BYTES = 128 * 1024;
const LAST_BLOCK = 1;
const RLE = 1;

/** Bytes: more no decoder of HTTP has to offer (RFC 8878 section 3.1.1.1.2 and RFC 9659), the dictionary among them here. */
const WINDOW_MOST = 8 * 1024 * 1024;

export const BLOCK_HEADER_BYTES = 3;

export interface FrameHeader {
  /** Bytes that it takes itself. */
  readonly length: number;
  /** Bytes of its content, null where it does not say. */
  readonly contentSize: number | null;
  readonly windowSize: number;
}

/**
 * @returns null where more of it is to come.
 * @throws Error for a frame that nobody sends here: with a dictionary's number, a checksum, or another magic number.
 */
export function readFrameHeader(bytes: Uint8Array): FrameHeader | null {
  const [descriptor] = bytes.subarray(4);
  if (descriptor === undefined) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  // Reserved bit, checksum, number of a dictionary.
  if (view.getUint32(0, true) !== MAGIC || (descriptor & 0b1111) !== 0) throw badFrame();
  const isSingleSegment = (descriptor & 0b10_0000) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? (isSingleSegment ? 1 : 0) : 2 ** sizeFlag;
  const sizeAt = isSingleSegment ? 5 : 6;
  const length = sizeAt + sizeBytes;
  if (bytes.length < length) return null;
  const contentSize = readContentSize(view, sizeAt, sizeBytes);
  const windowSize = isSingleSegment ? (contentSize ?? 0) : windowOf(bytes[5] ?? 0);
  return { length, contentSize, windowSize };
}

function readContentSize(view: DataView, at: number, bytes: number): number | null {
  if (bytes === 0) return null;
  if (bytes === 1) return view.getUint8(at);
  if (bytes === 2) return view.getUint16(at, true) + 256;
  return bytes === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
}

function windowOf(descriptor: number): number {
  const base = 2 ** (LEAST_WINDOW_LOG + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

/** How many bytes follow a block's header, and whether it is the last of its frame. */
export function readBlockHeader(bytes: Uint8Array): { readonly size: number; readonly isLast: boolean } {
  const header = (bytes[0] ?? 0) | ((bytes[1] ?? 0) << 8) | ((bytes[2] ?? 0) << 16);
  const type = (header >> 1) & 3;
  return { size: type === RLE ? 1 : header >> 3, isLast: (header & LAST_BLOCK) !== 0 };
}

/**
 * The beginning of a frame that has the dictionary as its first content, in blocks that are not compressed. The blocks that
 * follow see the same history as those of a frame that was coded against the dictionary.
 *
 * @throws Error where both need a larger window than a phone offers.
 */
export function* frameBehind(dictionary: Uint8Array, { windowSize }: FrameHeader): Generator<Uint8Array> {
  yield frameHeader(Math.max(BLOCK_BYTES, dictionary.length + windowSize));
  for (let start = 0; start < dictionary.length; start += BLOCK_BYTES) {
    const block = dictionary.subarray(start, start + BLOCK_BYTES);
    const header = block.length << 3;
    yield Uint8Array.of(header, header >> 8, header >> 16);
    yield block;
  }
}

/** Header of a frame that does not name its size, a checksum or a dictionary. */
function frameHeader(windowSize: number): Uint8Array {
  if (windowSize > WINDOW_MOST) throw new Error("Cannot decode the response: it needs too large a window");
  let log = LEAST_WINDOW_LOG;
  while (2 ** (log + 1) <= windowSize) log += 1;
  const mantissa = Math.ceil((windowSize / 2 ** log - 1) * 8);
  const header = new Uint8Array(6);
  new DataView(header.buffer).setUint32(0, MAGIC, true);
  header[5] = ((log - LEAST_WINDOW_LOG) << 3) + mantissa;
  return header;
}

function badFrame(): Error {
  return new Error("Cannot decode the response: it has a frame that is not to be there");
}

/** Functions of zstd.h and Emscripten. Sizes are bytes, the rest addresses. */
interface ZstdExports {
  readonly memory: WebAssembly.Memory;
  malloc(size: number): number;
  free(address: number): void;
  ZSTD_createDCtx(): number;
  ZSTD_freeDCtx(context: number): number;
  /** @returns an error in the highest numbers. */
  ZSTD_decompressStream(context: number, output: number, input: number): number;
}

/** Bytes that one step takes, and bytes that it puts out, at most. */
const STEP = 64 * 1024;
/** ZSTD_inBuffer and ZSTD_outBuffer: address, size, position, 4 bytes each. */
const BUFFER = 12;

/** Each context has a window of up to 8 MB. */
const CONTEXTS = { most: 4, mostStalled: 16 };

/** Results from here on are errors: ZSTD_error_maxCode is 120. */
const FIRST_ERROR = 2 ** 32 - 120;

/** The decoder of zstd, compiled to wasm (`zstddec`), and as many of its contexts as may be in use at once. */
export class ZstdWasm {
  readonly #zstd: ZstdExports;
  /** Both buffers' descriptions, what goes in, and what comes out: a step uses them and leaves them. */
  readonly #memory: number;
  readonly #pool = new ContextPool(CONTEXTS);

  private constructor(zstd: ZstdExports) {
    this.#zstd = zstd;
    this.#memory = zstd.malloc(2 * BUFFER + 2 * STEP);
  }

  static async compile(bytes: ArrayBuffer): Promise<ZstdWasm> {
    const imports = { env: { emscripten_notify_memory_growth() {} } };
    const { instance } = await WebAssembly.instantiate(bytes, imports);
    return new ZstdWasm(instance.exports as unknown as ZstdExports);
  }

  /** The context decodes one frame after the other. Its user closes it. @throws Error where zstd has no memory. */
  async open(): Promise<ZstdContext> {
    await this.#pool.take();
    const context = this.#zstd.ZSTD_createDCtx();
    if (context === 0) {
      this.#pool.release();
      throw new Error("Cannot decode the response: no memory");
    }
    return {
      decode: (input) => this.#decode(context, input),
      close: () => {
        this.#zstd.ZSTD_freeDCtx(context);
        this.#pool.release();
      },
    };
  }

  *#decode(context: number, input: Uint8Array): Generator<Uint8Array<ArrayBuffer>> {
    for (let start = 0; start < input.length; start += STEP) {
      const piece = input.subarray(start, start + STEP);
      for (let taken = 0, isFull = true; taken < piece.length || isFull; ) {
        const step = this.#step(context, piece, taken);
        taken = step.taken;
        isFull = step.bytes.length === STEP;
        yield step.bytes;
      }
    }
  }

  /** Steps of other contexts may overwrite the input meanwhile, and move the memory. */
  #step(context: number, input: Uint8Array, taken: number): Step {
    this.#pool.stepped();
    const [inBuffer, outBuffer] = [this.#memory, this.#memory + BUFFER];
    const [from, to] = [outBuffer + BUFFER, outBuffer + BUFFER + STEP];
    const { memory } = this.#zstd;
    new Uint8Array(memory.buffer).set(input, from);
    new Uint32Array(memory.buffer, inBuffer, 6).set([from, input.length, taken, to, STEP, 0]);
    const result = this.#zstd.ZSTD_decompressStream(context, outBuffer, inBuffer) >>> 0;
    if (result >= FIRST_ERROR) throw new Error("Cannot decode the response: its zstd is broken");
    const after = new Uint32Array(memory.buffer, inBuffer, 6);
    const bytes = new Uint8Array(memory.buffer, to, after[5] ?? 0).slice();
    return { bytes, taken: after[2] ?? 0 };
  }
}

interface Step {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Bytes of the input that were taken, in all steps together. */
  readonly taken: number;
}

export interface ZstdContext {
  /** @returns what comes out, the caller's. @throws Error at what is no zstd; then it can only be closed. */
  decode(input: Uint8Array): Iterable<Uint8Array<ArrayBuffer>>;
  close(): void;
}
