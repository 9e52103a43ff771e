/**
 * Content codings (RFC 9110 section 8.4.1) that the edge did not ask for. The platforms' fetch undoes `gzip` and `br`
 * where they are the only one, and hands out the rest as it came, fields included.
 */
import { createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { steppedStream } from "../../../shared/coding/stepped-stream.ts";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import * as limits from "../../../shared/limits.ts";

const DECODERS: Readonly<Record<string, (first: number) => Decoder>> = {
  gzip: () => createGunzip(),
  "x-gzip": () => createGunzip(),
  // Many servers send it without the header of RFC 1950 that it should have.
  deflate: (first) => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw()),
};
type Decoder = ReturnType<typeof createGunzip> | ReturnType<typeof createInflate> | ReturnType<typeof createInflateRaw>;
/** Those that browsers undo. A body in any other is left as it is, as there: `none`, `utf-8` and the like are no codings. */
const KNOWN = new Set([...Object.keys(DECODERS), "br", "zstd"]);
const MOST_CODINGS = 2;

/** True where the platform's fetch hands out the body decoded, while it leaves the fields as they came. */
export function isDecodedByPlatform(headers: Headers): boolean {
  return ["gzip", "br"].includes((headers.get("content-encoding") ?? "").trim().toLowerCase());
}

/** What is left to undo of the body that the platform hands out, the last one first. */
export function codingsLeft(headers: Headers): readonly string[] {
  if (isDecodedByPlatform(headers)) return [];
  const names = (headers.get("content-encoding") ?? "").split(",").map((name) => name.trim().toLowerCase());
  const codings = names.filter((name) => name !== "" && name !== "identity");
  return codings.every((name) => KNOWN.has(name)) ? codings.reverse() : [];
}

/**
 * Takes ownership of `body`. Reads only as the result is read.
 *
 * @throws RopewayError UPSTREAM_FAILED for what the platforms have no bounded decoder for: nothing is read then.
 */
export function undoCodings(
  body: ReadableStream<Uint8Array>,
  codings: readonly string[],
  host: string,
): ReadableStream<Uint8Array> {
  if (codings.length > MOST_CODINGS || codings.some((coding) => DECODERS[coding] === undefined)) {
    throw new RopewayError(
      ErrorCode.UPSTREAM_FAILED,
      "stream",
      "origin",
      `Cannot read what ${host} sent: its content-encoding was not asked for`,
    );
  }
  return codings.reduce(decode, body);
}

/** Hands the decoder little at a time: it puts out at once all that a piece holds, up to a thousandfold. */
function decode(source: ReadableStream<Uint8Array>, coding: string): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const output: Uint8Array[] = [];
  let rest: Uint8Array = new Uint8Array();
  let decoder: Decoder | null = null;
  /** Settles when the decoder has ended, which it may do before its input does, or failed. */
  const { promise: over, resolve: end, reject: fail } = Promise.withResolvers<void>();
  over.catch(() => {});

  function open(first: number): Decoder | null {
    const opened = DECODERS[coding]?.(first) ?? null;
    opened?.on("data", (chunk: Uint8Array) => output.push(chunk));
    opened?.once("end", end);
    opened?.on("error", fail);
    return opened;
  }

  /** One piece in, or the end. True when the source has ended. */
  async function step(): Promise<boolean> {
    if (rest.byteLength === 0) {
      const { value, done } = await reader.read();
      if (done) {
        // Browsers take an empty body in any coding.
        decoder?.end();
        if (decoder !== null) await over;
        return true;
      }
      rest = value;
    }
    const piece = rest.subarray(0, limits.inflateStepBytes);
    rest = rest.subarray(limits.inflateStepBytes);
    const [first] = piece;
    if (first === undefined) return false;
    decoder ??= open(first);
    await Promise.race([over, new Promise<void>((resolve) => decoder?.write(piece, () => resolve()))]);
    return false;
  }

  return steppedStream({ reader, output, step, destroy: () => decoder?.destroy() });
}

/** The platforms' decoders fail on a body of no bytes, which servers send with a coding all the same. */
export async function rawBody({ headers, body }: Response): Promise<ReadableStream<Uint8Array>> {
  if (headers.get("content-length") !== "0") return body as ReadableStream<Uint8Array>;
  await body?.cancel();
  return new Response("").body as ReadableStream<Uint8Array>;
}
