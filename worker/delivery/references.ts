/**
 * A stage of `deliver`: where the body is the one that the phone has stored for this request, the phone gets its name
 * instead (PROTOCOL.md section 5.7). To know that the body is read whole, so one that is longer, another's, or slow goes
 * on as it is.
 */
import type { SetTimer } from "../../shared/clock.ts";
import { headerValue } from "../../shared/http/head-fields.ts";
import type { BodyName, RequestHead, ResponseHead } from "../../shared/http/heads.ts";
import { hashOfBody, NAMED_BODY_MOST } from "../../shared/http/phone-fields.ts";
import { cacheControl } from "../../shared/http-cache/cache-rules.ts";
import { concat, GatheredBytes } from "../../shared/wire/frame.ts";
import type { Refer } from "./stage.ts";

/**
 * Milliseconds to wait for the whole body: less than a longer one takes on a slow link, and hardly noticed on a fast
 * one.
 */
const WITHIN = 300;

/** Bytes of bodies that a session may hold at once; further ones go as they are. */
const HELD_BYTES = 4 * 1024 * 1024;

export class References {
  readonly #setTimer: SetTimer;
  #held = 0;

  constructor(setTimer: SetTimer) {
    this.#setTimer = setTimer;
  }

  readonly refer: Refer = async (response, request) => {
    const { stored } = request;
    if (stored === undefined || !mayBe(stored, request, response.head)) return response;
    if (this.#held + stored.size > HELD_BYTES) return response;
    this.#held += stored.size;
    const release = (): void => {
      this.#held -= stored.size;
    };
    const read = await readAhead(response.body, stored.size, WITHIN, this.#setTimer);
    if (read.rest === "whole" && (await isNamed(read.chunks, stored))) {
      release();
      // The phone has all of it: nothing is left to go on with.
      const { resumption: _, ...head } = response.head;
      return { head: { ...head, isReference: true }, body: null };
    }
    return { head: response.head, body: bodyOf(read, release) };
  };
}

/**
 * Whether the body may be the named one, and the phone may be told so. It may not after a redirect: the page that was
 * redirected would learn by the size of the answer whether another site sends what it guessed.
 */
function mayBe({ size }: BodyName, request: RequestHead, { status, headers, redirected, continues }: ResponseHead) {
  if (request.method !== "GET" || request.delivery?.continuation != null) return false;
  if (status !== 200 || redirected || continues === true || size > NAMED_BODY_MOST) return false;
  // For another origin the edge says `no-store` also where it hides a redirect.
  if (cacheControl(headers).has("no-store")) return false;
  const length = headerValue(headers, "content-length");
  return length === null || Number(length) === size;
}

async function isNamed(chunks: readonly Uint8Array[], { hash, size }: BodyName): Promise<boolean> {
  return chunks.reduce((sum, { length }) => sum + length, 0) === size && (await hashOfBody(concat(...chunks))) === hash;
}

// Reads a body ahead of whoever takes it, within a bound.

type Reader = ReadableStreamDefaultReader<Uint8Array>;
type Read = ReturnType<Reader["read"]>;

/** The part of a body that was read, and the rest. */
export interface ReadAhead {
  /** Copies. */
  readonly chunks: Uint8Array[];
  /** "whole": that was all of it. */
  readonly rest: "whole" | { readonly reader: Reader; readonly pending: Read | null };
}

/** Bytes: shorter chunks are put together. Each costs more than a hundred bytes by itself, and an origin can send a megabyte one byte at a time. */
const SHORT_CHUNK = 4 * 1024;

/** Copies of a body's chunks. */
export class KeptBytes {
  #chunks: Uint8Array[] = [];
  readonly #short = new GatheredBytes();

  add(chunk: Uint8Array): void {
    const isShort = chunk.length < SHORT_CHUNK;
    if (isShort) this.#short.add(chunk);
    if (!isShort || this.#short.length >= SHORT_CHUNK) this.#flush();
    if (!isShort) this.#chunks.push(chunk.slice());
  }

  /** All that was added since the last call. */
  take(): Uint8Array[] {
    this.#flush();
    return this.#chunks.splice(0);
  }

  #flush(): void {
    if (this.#short.length > 0) this.#chunks.push(this.#short.take());
  }
}

/**
 * @param most bytes, or whether so many may be held: where a body is longer it is read no further.
 * @param within milliseconds, likewise.
 */
export async function readAhead(
  body: ReadableStream<Uint8Array>,
  most: number | ((bytes: number) => boolean),
  within: number,
  setTimer: SetTimer,
): Promise<ReadAhead> {
  const mayHold = typeof most === "number" ? (bytes: number) => bytes <= most : most;
  const reader = body.getReader();
  const kept = new KeptBytes();
  const late = Promise.withResolvers<null>();
  const cancelTimer = setTimer(() => late.resolve(null), within);
  try {
    for (let bytes = 0; mayHold(bytes); ) {
      const pending = reader.read();
      // A body that fails here fails again for the reader of the rest.
      const read = await Promise.race([pending.catch(() => null), late.promise]);
      if (read === null) return { chunks: kept.take(), rest: { reader, pending } };
      if (read.done) return { chunks: kept.take(), rest: "whole" };
      bytes += read.value.length;
      kept.add(read.value);
    }
    return { chunks: kept.take(), rest: { reader, pending: null } };
  } finally {
    cancelTimer();
  }
}

/**
 * The body as it was.
 *
 * @param onGiven told once when nothing is held of it any more.
 */
export function bodyOf({ chunks, rest }: ReadAhead, onGiven: () => void): ReadableStream<Uint8Array> {
  const left = chunks.values();
  let pending = rest === "whole" ? null : rest.pending;
  let isHeld = true;
  const given = (): void => {
    if (isHeld) onGiven();
    isHeld = false;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value: chunk } = left.next();
        if (chunk !== undefined) return controller.enqueue(chunk);
        given();
        const read = rest === "whole" ? null : await (pending ?? rest.reader.read());
        pending = null;
        if (read === null || read.done) controller.close();
        else controller.enqueue(read.value);
      },
      async cancel(reason) {
        given();
        if (rest !== "whole") await rest.reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
