import type { DecoderHandler, LinkDecoder } from "../../../../shared/coding/inflate.ts";
import type { DczDecoder } from "./dcz-decoder.ts";

/** Opens a decoder that hands what comes out to `deliver`. */
export type OpenDczDecoder = (deliver: DecoderHandler["deliver"]) => Promise<DczDecoder>;

/** A decoder whose script, and what it needs, come later than the response does. */
export function lateDecoder(open: OpenDczDecoder, handler: DecoderHandler): LinkDecoder {
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
  const then = (task: (decoder: DczDecoder) => Promise<void> | void): Promise<void> => {
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
        isOver = true;
        handler.finished();
      });
    },
    cancel: close,
  };
}
