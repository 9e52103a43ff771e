/** A coder between two streams, driven by whoever reads what comes out. */
export interface CoderSteps {
  /** Reads what goes into the coder. */
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  /** Where the coder puts what comes out. */
  readonly output: Uint8Array[];
  /** One step. True when the source has ended and all has come out. */
  step(): Promise<boolean>;
  /** Nobody reads any more, or the coder failed. */
  destroy(): void;
}

/** Steps only as it is read, until something comes out. */
export function steppedStream({ reader, output, step, destroy }: CoderSteps): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          let isOver = false;
          while (!isOver && output.length === 0) isOver = await step();
          for (const chunk of output.splice(0)) controller.enqueue(chunk);
          if (isOver) controller.close();
        } catch (error) {
          destroy();
          await reader.cancel(error).catch(() => {});
          throw error;
        }
      },
      async cancel(reason) {
        destroy();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
