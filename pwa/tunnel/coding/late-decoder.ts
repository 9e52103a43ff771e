import type { DecoderHandler, LinkDecoder } from "../../../shared/coding/link-coding.ts";

/** What decodes in steps, and waits for its consumer between them. */
export interface SteppedDecoder {
  /** @throws Error at what does not decode. */
  write(chunk: Uint8Array): Promise<void>;
  /** @throws Error where something lacks. */
  end(): void;
  /** Nothing more comes out. Idempotent. */
  close(): void;
}

/** Opens a decoder that hands what comes out to `deliver`. */
export type OpenSteppedDecoder = (deliver: DecoderHandler["deliver"]) => Promise<SteppedDecoder>;

/** A decoder whose script, and what it needs, may come later than the response does. */
export function lateDecoder(open: OpenSteppedDecoder, handler: DecoderHandler): LinkDecoder {
  const opened = open((bytes) => handler.deliver(bytes));
  let isOver = false;
  const close = (): void => {
    isOver = true;
    opened.then(
      (decoder) => decoder.close(),
      () => {},
    );
  };
  const failed = (error: unknown): void => {
    if (isOver) return;
    close();
    handler.failed(error);
  };
  let last: Promise<void> = Promise.resolve();
  /** In their order, and none after the end. */
  const then = (task: (decoder: SteppedDecoder) => Promise<void> | void): Promise<void> => {
    last = last
      .then(async () => {
        if (!isOver) await task(await opened);
      })
      .catch(failed);
    return last;
  };
  return {
    write(chunk) {
      const bytes = chunk.slice();
      return then((decoder) => decoder.write(bytes));
    },
    end() {
      void then((decoder) => {
        decoder.end();
        decoder.close();
        isOver = true;
        handler.finished();
      });
    },
    cancel: close,
  };
}
