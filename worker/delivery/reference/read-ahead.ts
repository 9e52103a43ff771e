/** Reads a body ahead of whoever takes it, within a bound. */
import type { SetTimer } from "../../../shared/clock.ts";

type Reader = ReadableStreamDefaultReader<Uint8Array>;
type Read = ReturnType<Reader["read"]>;

/** What was read of a body, and what is to come. */
export interface ReadAhead {
  /** Copies. */
  readonly chunks: Uint8Array[];
  /** "whole": that was all of it. */
  readonly rest: "whole" | { readonly reader: Reader; readonly pending: Read | null };
}

/**
 * @param most bytes: where a body is longer it is read no further.
 * @param within milliseconds, likewise.
 */
export async function readAhead(
  body: ReadableStream<Uint8Array>,
  most: number,
  within: number,
  setTimer: SetTimer,
): Promise<ReadAhead> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  const late = Promise.withResolvers<null>();
  const cancelTimer = setTimer(() => late.resolve(null), within);
  try {
    for (let bytes = 0; bytes <= most; ) {
      const pending = reader.read();
      // What fails here fails again for whoever reads on.
      const read = await Promise.race([pending.catch(() => null), late.promise]);
      if (read === null) return { chunks, rest: { reader, pending } };
      if (read.done) return { chunks, rest: "whole" };
      bytes += read.value.length;
      chunks.push(read.value.slice());
    }
    return { chunks, rest: { reader, pending: null } };
  } finally {
    cancelTimer();
  }
}

/**
 * The body as it was.
 *
 * @param onGiven told once when nothing is held of it any more.
 */
export function bodyOf({ chunks, rest }: ReadAhead, onGiven: () => void): ReadableStream<Uint8Array> {
  const left = chunks.values();
  let pending = rest === "whole" ? null : rest.pending;
  let isHeld = true;
  const given = (): void => {
    if (isHeld) onGiven();
    isHeld = false;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value: chunk } = left.next();
        if (chunk !== undefined) return controller.enqueue(chunk);
        given();
        const read = rest === "whole" ? null : await (pending ?? rest.reader.read());
        pending = null;
        if (read === null || read.done) controller.close();
        else controller.enqueue(read.value);
      },
      async cancel(reason) {
        given();
        if (rest !== "whole") await rest.reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
