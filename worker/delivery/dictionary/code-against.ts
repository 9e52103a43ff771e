/**
 * Codes a body against another that the phone has (PROTOCOL.md section 5.3), where that is worth it. What has come of the
 * body by then goes as one frame of zstd; what the origin sends later goes in further ones, as it pauses.
 */
import { pause, type SetTimer } from "../../../shared/clock.ts";
import { DICTIONARY_LEAST, DICTIONARY_MOST, dczHeader, steppedStream } from "../../../shared/coding/link-coding.ts";
import { concat } from "../../../shared/wire/frame.ts";
import { LINK_FLUSH_DELAY } from "../coding/flushed-body.ts";
import { bodyOf, type ReadAhead, readAhead } from "../reference/read-ahead.ts";
import type { DecodedResponse } from "../stage.ts";
import type { DictionaryCompressor } from "./dictionary-compressor.ts";
import type { Dictionary } from "./kept-bodies.ts";

/** Milliseconds to wait for the whole body. Most are there by then, since the edge is near to origins. */
const WITHIN = 100;

/** Frames with the dictionary: to read it anew for each costs as much as to code a body of its length. */
const FRAMES_WITH_DICTIONARY = 8;

/** Bytes of a further frame. */
const FRAME_BYTES = 256 * 1024;

const NOTHING = new Uint8Array();
/** Level of zstd, for comparison: the least work. */
const QUICKEST = 1;

interface Coder {
  readonly compressor: DictionaryCompressor;
  readonly setTimer: SetTimer;
}

/** What a response takes of the edge's memory. */
export interface Hold {
  /** From now on no more than so many bytes. */
  shrink(bytes: number): void;
  release(): void;
}

/** @param hold released when the body that is returned is over. @returns the body as it was where the dictionary is of no great use. */
export async function codeAgainst(
  { head, body }: DecodedResponse,
  dictionary: Dictionary,
  { compressor, setTimer }: Coder,
  hold: Hold,
): Promise<DecodedResponse> {
  const read = await readAhead(body, DICTIONARY_MOST, WITHIN, setTimer);
  const first = concat(...read.chunks);
  const frame = first.length < DICTIONARY_LEAST ? null : frameIfSmall(first, dictionary, compressor);
  const release = () => hold.release();
  if (frame === null) {
    hold.shrink(first.length);
    return { head, body: bodyOf(read, release) };
  }
  const frames = [dczHeader(dictionary.hash), frame];
  const { rest } = read;
  if (rest === "whole") {
    hold.shrink(frame.length);
    return { head: { ...head, coding: "dcz" }, body: bodyOf({ chunks: frames, rest }, release) };
  }
  hold.shrink(frame.length + dictionary.bytes.length + FRAME_BYTES);
  return {
    head: { ...head, coding: "dcz" },
    body: codedBody(frames, rest, dictionary, { compressor, setTimer }, release),
  };
}

/** @returns null where it is not clearly less than without the dictionary, or the compressor has no room. */
function frameIfSmall(body: Uint8Array, { bytes }: Dictionary, compressor: DictionaryCompressor): Uint8Array | null {
  try {
    const frame = compressor.compress(body, bytes);
    const isTiny = frame.length < body.length / 20;
    return isTiny || frame.length < 0.75 * compressor.compress(body, NOTHING, QUICKEST).length ? frame : null;
  } catch {
    return null;
  }
}

function codedBody(
  frames: readonly Uint8Array[],
  rest: Exclude<ReadAhead["rest"], "whole">,
  { bytes }: Dictionary,
  { compressor, setTimer }: Coder,
  onOver: () => void,
): ReadableStream<Uint8Array> {
  const { reader } = rest;
  const output = [...frames];
  let { pending } = rest;
  let left = FRAMES_WITH_DICTIONARY;
  let gathered: Uint8Array[] = [];
  let size = 0;

  function flush(): void {
    if (size === 0) return;
    left -= 1;
    output.push(compressor.compress(concat(...gathered), left > 0 ? bytes : NOTHING));
    gathered = [];
    size = 0;
  }

  /** One step: a chunk in, or a frame out. True when the source has ended. */
  async function step(): Promise<boolean> {
    pending ??= reader.read();
    const next = await (size > 0
      ? Promise.race([pending, pause(setTimer, LINK_FLUSH_DELAY).then(() => null)])
      : pending);
    if (next !== null) pending = null;
    if (next !== null && !next.done) {
      gathered.push(next.value.slice());
      size += next.value.length;
    }
    if (next === null || next.done || size >= FRAME_BYTES) flush();
    if (next?.done === true) onOver();
    return next?.done === true;
  }

  return steppedStream({ reader, output, step, destroy: onOver });
}
