/** A response body as it leaves the platform's fetch: read in large pieces, its failures typed. */
import { concat } from "../../../shared/wire/frame.ts";

/** Bytes: buffer of one read from an origin; workerd hands out 4 KiB at a time without one, six times slower. */
export const UPSTREAM_READ_BYTES = 32 * 1024;

export interface BodyObserver {
  /** What the stream errors with instead of what the platform threw. */
  readonly translate: (error: unknown) => unknown;
  /** Called once, when the body ended, failed or was cancelled. */
  readonly onSettled: () => void;
}

/** Takes ownership of `body`. Reads only as the returned stream is read. */
export function responseBody({ read, cancel }: ChunkReader, observer: BodyObserver): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = await read();
          if (chunk === null) {
            observer.onSettled();
            controller.close();
            return;
          }
          controller.enqueue(chunk);
        } catch (error) {
          observer.onSettled();
          throw observer.translate(error);
        }
      },
      async cancel(reason) {
        try {
          await cancel(reason);
        } finally {
          observer.onSettled();
        }
      },
    },
    { highWaterMark: 0 },
  );
}

export interface ChunkReader {
  /** The next chunk, never empty; null at the end, however often it is asked. */
  readonly read: () => Promise<Uint8Array | null>;
  readonly cancel: (reason?: unknown) => Promise<void>;
}

/**
 * Reads what `decide` needs to decide, and no more.
 *
 * @param decide gets all that was read, and whether that is the whole body; null where it must have more.
 * @returns with a reader that begins with what was read.
 */
export async function decideOnOpening<T>(
  body: ChunkReader,
  decide: (opening: Uint8Array, isWhole: boolean) => T | null,
): Promise<{ readonly decision: T | null; readonly body: ChunkReader }> {
  let opening: Uint8Array | null = null;
  for (let isWhole = false; ; ) {
    const decision = decide(opening ?? new Uint8Array(), isWhole);
    if (decision !== null || isWhole) return { decision, body: startingWith(opening, body) };
    // The next read may be into the same buffer.
    const before: Uint8Array = opening?.slice() ?? new Uint8Array();
    const chunk = await body.read();
    if (chunk === null) isWhole = true;
    else opening = before.length === 0 ? chunk : concat(before, chunk);
  }
}

/** Takes ownership of `body`, whose chunks follow the first. */
export function startingWith(opening: Uint8Array | null, body: ChunkReader): ChunkReader {
  let left = opening;
  async function read(): Promise<Uint8Array | null> {
    const first = left;
    left = null;
    return first ?? body.read();
  }
  return { read, cancel: body.cancel };
}

/**
 * Takes ownership of `body`.
 *
 * @param reusesBuffer each chunk is gone when the next one is asked for: its buffer is read into again. For a consumer
 *   that copies each chunk before it reads on; workerd's collector does not run before 64 MB of read buffers have piled up.
 */
export function openReader(body: ReadableStream<Uint8Array>, reusesBuffer: boolean): ChunkReader {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: "byob" });
  } catch {
    return openDefaultReader(body.getReader());
  }
  let spare: ArrayBuffer | null = null;
  async function read(): Promise<Uint8Array | null> {
    const { value, done } = await reader.read(new Uint8Array(spare ?? new ArrayBuffer(UPSTREAM_READ_BYTES)));
    if (done) {
      spare = null;
      return null;
    }
    // A small chunk would keep its whole buffer alive for as long as it waits for the link.
    const isSmall = value.byteLength * 2 < UPSTREAM_READ_BYTES;
    spare = isSmall || reusesBuffer ? value.buffer : null;
    return isSmall ? value.slice() : value;
  }
  return { read, cancel: (reason) => reader.cancel(reason) };
}

function openDefaultReader(reader: ReadableStreamDefaultReader<Uint8Array>): ChunkReader {
  async function read(): Promise<Uint8Array | null> {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return null;
      if (value.byteLength > 0) return value;
    }
  }
  return { read, cancel: (reason) => reader.cancel(reason) };
}
