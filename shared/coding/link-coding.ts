/**
 * The codings of response bodies on the link, by name (PROTOCOL.md section 5.3). The encoder of a new one belongs in
 * `worker/delivery/coding.ts`; its decoder belongs here, if every phone has it. That of `br` is loaded, or the browser's own,
 * and that of `dcz` comes with the request: it has the dictionary.
 */
import * as limits from "../limits.ts";

export type OpenDecoder = (handler: DecoderHandler) => LinkDecoder;

export const LINK_CODINGS = ["identity", "deflate-raw", "br", "dcz"] as const;

export type LinkCoding = (typeof LINK_CODINGS)[number];

/** The decoders that a phone has. Null: the bytes stay as they come. */
export type LinkDecoders = Readonly<Partial<Record<LinkCoding, OpenDecoder | null>>>;

/** The decoders that every phone has. */
export const LINK_DECODERS: LinkDecoders = { identity: null, "deflate-raw": createInflater };

/** In the session's head: further codings that the phone undoes. */
export const ACCEPT_ENCODING = "accept-encoding";

/** @param value of that field. */
export const acceptsBrotli = (value: string): boolean => value.split(",").some((coding) => coding.trim() === "br");

export interface LinkDecoder {
  /**
   * Resolves when the bytes are decoded and the consumer has taken all but the last step of the result; rejects if they
   * are bad.
   */
  write(chunk: Uint8Array): Promise<void>;
  /** No more comes. The rest is delivered, then `finished` is called, or `failed` if something lacks. */
  end(): void;
  /** Drops what is under way; neither `finished` nor `failed` follows. */
  cancel(): void;
}

export interface DecoderHandler {
  /** Decoded bytes. The next are decoded when the promise resolves. */
  deliver(chunk: Uint8Array): Promise<void> | undefined;
  finished(): void;
  failed(error: unknown): void;
}

/**
 * Undoes deflate-raw (RFC 1951). Decodes in steps of limits.inflateStepBytes and waits for the consumer in between: a platform's decoder queues all
 * that one write gives, and deflate can give a thousand times what it takes.
 */
export function createInflater(handler: DecoderHandler): LinkDecoder {
  const { writable, readable } = new DecompressionStream("deflate-raw");
  const writer = writable.getWriter();
  const reader = readable.getReader();
  let over = false;
  const failed = (error: unknown): void => {
    if (over) return;
    over = true;
    handler.failed(error);
  };
  const pump = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (over) return;
      if (done) {
        over = true;
        return handler.finished();
      }
      await handler.deliver(value);
    }
  };
  pump().catch(failed);
  return {
    async write(chunk) {
      const steps: Promise<void>[] = [];
      for (let start = 0; start < chunk.length; start += limits.inflateStepBytes) {
        steps.push(writer.write(chunk.slice(start, start + limits.inflateStepBytes)));
      }
      await Promise.all(steps);
    },
    end() {
      writer.close().catch(failed);
    },
    cancel() {
      over = true;
      reader.cancel().catch(() => {});
      writer.abort().catch(() => {});
    },
  };
}

// The coding `dcz` of RFC 9842: a header that names the dictionary by its SHA-256, then zstd frames (RFC 8878) whose
// history begins with the dictionary's bytes. PROTOCOL.md section 5.3.

/** A skippable frame of zstd, with the hash in it (RFC 9842 section 5). */
const MAGIC = /* @__PURE__ */ Uint8Array.of(0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0);

export const DCZ_HEADER_BYTES = 40;

/** Bytes: smaller dictionaries and bodies are not worth it. */
export const DICTIONARY_LEAST = 1024;
/** Bytes: both ends hold all of a dictionary while they use it. */
export const DICTIONARY_MOST = 1_048_576;

/** zstd takes bytes that begin so for a dictionary of its own format, and not for content. */
const TRAINED = 0xec30a437;

/** @param hash SHA-256 of the dictionary. */
export function dczHeader(hash: Uint8Array): Uint8Array {
  const header = new Uint8Array(DCZ_HEADER_BYTES);
  header.set(MAGIC);
  header.set(hash, MAGIC.length);
  return header;
}

/** Whether it is a header, and names this dictionary. */
export function isDczHeader(header: Uint8Array, hash: Uint8Array): boolean {
  const expected = dczHeader(hash);
  return header.length === expected.length && header.every((byte, index) => byte === expected[index]);
}

/** Whether a body may be a dictionary. */
export function isDictionary(body: Uint8Array): boolean {
  if (body.length < DICTIONARY_LEAST || body.length > DICTIONARY_MOST) return false;
  return new DataView(body.buffer, body.byteOffset).getUint32(0, true) !== TRAINED;
}

/**
 * Low bits of the first byte (RFC 7932 section 9.1): where they are odd, this and more are windows of 2 MB and more.
 */
const LARGE = 0b1001;
/** The same of a window that is larger than the RFC allows. */
const LARGER = 0b001_0001;
/** 1 MB. */
const MOST = 0b0111;
/** Bytes that such a window reaches back: 16 less than it has. */
const REACH = 1_048_560;

/** Whether brotli that begins so has a larger window than the link takes (PROTOCOL.md section 5.3). */
export function hasLargeWindow(first: number): boolean {
  const low = first & 0b1111;
  return (low % 2 === 1 && low >= LARGE) || (first & 0b111_1111) === LARGER;
}

/**
 * Lowers the window that a body of brotli names to the largest that the link takes. The body means the same if it is no
 * longer than that window reaches back. Only a body of one meta-block says how long it is (section 9.2); most that were
 * coded whole have one.
 *
 * @param opening the first bytes.
 * @returns the first byte to send in place of the one that came; null where the body is too long, or does not say.
 */
export function linkWindow(opening: Uint8Array): number | null {
  const [first = LARGER, low = 0, middle = 0, high = 0] = opening;
  if (!hasLargeWindow(first)) return first;
  const nibbles = 4 + (first >> 6);
  const isWhole = (first & 0b11_0000) === 0b01_0000 && nibbles < 7 && opening.length >= 4;
  if ((first & 0b111_1111) === LARGER || !isWhole) return null;
  const length = 1 + ((low | (middle << 8) | (high << 16)) & (2 ** (4 * nibbles) - 1));
  return length <= REACH ? (first & 0b1111_0000) | MOST : null;
}

/** A coder between two streams, driven by whoever reads what comes out. */
interface CoderSteps {
  /** Reads what goes into the coder. */
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  /** Where the coder puts what comes out. */
  readonly output: Uint8Array[];
  /** One step. True when the source has ended and all has come out. */
  step(): Promise<boolean>;
  /** Nobody reads any more, or the coder failed. */
  destroy(): void;
}

/** Steps only as it is read, until something comes out. */
export function steppedStream({ reader, output, step, destroy }: CoderSteps): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          let isOver = false;
          while (!isOver && output.length === 0) isOver = await step();
          for (const chunk of output.splice(0)) controller.enqueue(chunk);
          if (isOver) controller.close();
        } catch (error) {
          destroy();
          await reader.cancel(error).catch(() => {});
          throw error;
        }
      },
      async cancel(reason) {
        destroy();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
