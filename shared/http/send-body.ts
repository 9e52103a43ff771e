import type { MuxStream } from "../mux/stream/stream.ts";

/**
 * Pumps a body into a stream at the pace of its credit, then ends it. Used by both ends.
 *
 * @throws what the reader throws; a RopewayError when the stream fails first, and then the reader is cancelled.
 */
export async function sendBody(stream: MuxStream, reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    try {
      await stream.write(value);
    } catch (error) {
      await reader.cancel(error).catch(() => {});
      throw error;
    }
  }
  stream.end();
}
