/** A response body as it leaves the platform's fetch: counted, read in large pieces, its failures typed. */
import { limits } from "../../shared/limits.ts";

export interface MeteredBody {
  readonly stream: ReadableStream<Uint8Array>;
  /** Bytes read from the origin so far, after its content-encoding was undone. */
  readonly bytes: () => number;
}

export interface BodyObserver {
  /**
   * Each chunk is gone when the next one is asked for: its buffer is read into again. For a consumer that copies each
   * chunk before it reads on; workerd's collector does not run before 64 MB of read buffers have piled up.
   */
  readonly reusesBuffer: boolean;
  /** What the stream errors with instead of what the platform threw. */
  readonly translate: (error: unknown) => unknown;
  /** Told of each chunk before the reader gets it. */
  readonly onChunk?: ((chunk: Uint8Array) => void) | null;
  /** Called once, when the body ended, failed or was cancelled. */
  readonly onSettled: () => void;
}

/** Takes ownership of `body`. Reads only as the returned stream is read. */
export function meterBody(body: ReadableStream<Uint8Array>, observer: BodyObserver): MeteredBody {
  let total = 0;
  const { read, cancel } = openReader(body, observer.reusesBuffer);
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = await read();
          if (chunk === null) {
            observer.onSettled();
            controller.close();
            return;
          }
          total += chunk.byteLength;
          observer.onChunk?.(chunk);
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
  return { stream, bytes: () => total };
}

interface ChunkReader {
  /** The next chunk, never empty, or null at the end. */
  readonly read: () => Promise<Uint8Array | null>;
  readonly cancel: (reason: unknown) => Promise<void>;
}

function openReader(body: ReadableStream<Uint8Array>, reusesBuffer: boolean): ChunkReader {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: "byob" });
  } catch {
    return openDefaultReader(body.getReader());
  }
  let spare: ArrayBuffer | null = null;
  async function read(): Promise<Uint8Array | null> {
    const { value, done } = await reader.read(new Uint8Array(spare ?? new ArrayBuffer(limits.upstreamReadBytes)));
    if (done) return null;
    // A small chunk would keep its whole buffer alive for as long as it waits for the link.
    const isSmall = value.byteLength * 2 < limits.upstreamReadBytes;
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
