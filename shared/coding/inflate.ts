/** Undoes the link coding deflate-raw (RFC 1951): PROTOCOL.md section 5.3. */
import * as limits from "../limits.ts";

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
 * Decodes in steps of limits.inflateStepBytes and waits for the consumer in between: a platform's decoder queues all
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
