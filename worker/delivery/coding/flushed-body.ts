/** Codes a body by a coder of the platform's, and flushes it as the source pauses: an event stream arrives event by event. */
import type { BrotliCompress, DeflateRaw } from "node:zlib";
import { type Clock, monotonicClock, pause, type SetTimer } from "../../../shared/clock.ts";
import { steppedStream } from "../../../shared/coding/link-coding.ts";

/** Milliseconds: how long coded bytes wait for the origin's next chunk before they are flushed to the phone. */
export const LINK_FLUSH_DELAY = 5;

export interface FlushedCoder {
  readonly coder: DeflateRaw | BrotliCompress;
  /** What makes it put out all that it was given, in zlib's numbers. */
  readonly flush: number;
  /** Milliseconds after which it is flushed though more keeps coming, if nothing came out meanwhile. */
  readonly patience?: number;
  /** Nothing goes in any more. */
  onOver?(): void;
}

/** Resolves when the source had its chance to hand over a chunk it already has. */
const settled = (setTimer: SetTimer) => pause(setTimer, LINK_FLUSH_DELAY).then(() => null);

/** Reads only as its own reader asks. Takes ownership of source and coder. */
export function flushedBody(
  source: ReadableStream<Uint8Array>,
  { coder, flush: flushKind, patience = Number.POSITIVE_INFINITY, onOver }: FlushedCoder,
  { now, setTimer }: Clock = monotonicClock,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const output: Uint8Array<ArrayBuffer>[] = [];
  let wroteAt = 0;
  coder.on("data", (chunk: Uint8Array<ArrayBuffer>) => {
    output.push(chunk);
    wroteAt = now();
  });
  const broken = new Promise<never>((_, reject) => coder.once("error", reject));
  broken.catch(() => {});

  const write = (chunk: Uint8Array) =>
    Promise.race([broken, new Promise<void>((resolve) => coder.write(chunk, () => resolve()))]);
  const flush = () => Promise.race([broken, new Promise<void>((resolve) => coder.flush(flushKind, () => resolve()))]);
  const end = () =>
    Promise.race([
      broken,
      new Promise<void>((resolve) => {
        coder.once("end", resolve);
        coder.end();
      }),
    ]);

  let pending: Promise<ReadableStreamReadResult<Uint8Array>> | null = null;
  let holdsInput = false;

  /** One step: a chunk in, a flush, or the end. True when the source has ended. */
  async function step(): Promise<boolean> {
    pending ??= reader.read();
    const next = await (holdsInput ? Promise.race([pending, settled(setTimer)]) : pending);
    if (next === null || (holdsInput && now() - wroteAt > patience)) {
      await flush();
      holdsInput = false;
      return false;
    }
    pending = null;
    if (next.done) {
      await end();
      onOver?.();
      return true;
    }
    if (next.value.byteLength > 0) {
      if (!holdsInput) wroteAt = now();
      await write(next.value);
      holdsInput = true;
    }
    return false;
  }

  const destroy = (): void => {
    coder.destroy();
    onOver?.();
  };
  return steppedStream({ reader, output, step, destroy });
}
