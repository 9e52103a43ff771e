/** The first stage: shows the body to who observes it, as it passes. */
import type { Stage } from "./stage.ts";

export const observe: Stage = (response, { observer }) => {
  const onChunk = observer?.(response.head) ?? null;
  return onChunk === null ? response : { ...response, body: shownTo(onChunk, response.body) };
};

function shownTo(onChunk: (chunk: Uint8Array) => void, source: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await reader.read();
        if (done) return controller.close();
        onChunk(value);
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
