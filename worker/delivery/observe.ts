/** The first stage: shows the body to who observes it, as it passes. */
import type { Stage } from "./stage.ts";

export const observe: Stage = (response, { observer }) => {
  const onChunk = observer?.(response.head) ?? null;
  return onChunk === null ? response : { ...response, body: shownTo(onChunk, response.body) };
};

function shownTo(
  onChunk: (chunk: Uint8Array | null) => void,
  source: ReadableStream<Uint8Array>,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await reader.read().catch((reason: unknown) => {
          onChunk(null);
          throw reason;
        });
        onChunk(value ?? null);
        if (done) return controller.close();
        controller.enqueue(value);
      },
      cancel(reason) {
        onChunk(null);
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
