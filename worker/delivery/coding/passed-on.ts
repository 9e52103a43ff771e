import type { CodedBody } from "../../upstream/response-body.ts";
import type { DecodedResponse } from "../stage.ts";

/**
 * Passes a body on as its origin coded it, and reads it decoded beside: for those who read along, and to know that it is
 * sound. Takes ownership of both.
 *
 * @param coded of the same body; a phone can undo it.
 */
export function passedOn({ head, body }: DecodedResponse, coded: CodedBody): DecodedResponse {
  const reader = body.getReader();
  let pending: ReturnType<typeof reader.read> | null = null;
  let isOver = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const passed = coded.take();
          for (const chunk of passed) controller.enqueue(chunk);
          if (isOver) return controller.close();
          if (passed.length > 0) return;
          pending ??= reader.read();
          // It may fail while what came before is on its way.
          pending.catch(() => {});
          const read = await Promise.race([pending, coded.passed]);
          if (read === undefined) continue;
          pending = null;
          isOver = read.done;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return { head: { ...head, coding: "br" }, body: stream };
}
