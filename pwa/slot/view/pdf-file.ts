/**
 * Bytes of a PDF as its viewer needs them. The first request takes the answer that the navigation has had. Where the server
 * gives ranges, a large file comes in pieces, the pages that are looked at first; else it comes whole.
 */
import { PDFDataRangeTransport } from "pdfjs-dist/legacy/build/pdf.mjs";
import type { Places } from "../words.ts";

/** Bytes: a file below this is there before its pieces would be. */
const WHOLE = 512_000;

/** Bytes of the start: a file that was made for the web has its first page there. */
const START = 64 * 1024;

/** Bytes of a file that comes whole: it is held in the memory of the page. */
const LARGEST = 200_000_000;

export type PdfFile = { readonly data: Uint8Array } | { readonly range: PDFDataRangeTransport };

export interface FileHost {
  /** As the page's own window asks for it. */
  readonly url: string;
  /** As of `words.ts`, which has the words for all of the view. */
  readonly t: (text: string, places?: Places) => string;
  /** Told of bytes, and of how many there will be if that is known. */
  readonly onProgress: (got: number, all: number | null) => void;
  /** No more comes of the file. Null: it is another one on the server now; else its server answers with this status. */
  readonly onLost: (status: number | null) => void;
}

/** @throws Error that says why it cannot be had. */
export async function openFile({ url, t, onProgress, onLost }: FileHost): Promise<PdfFile> {
  const response = await fetch(url);
  if (!response.ok || response.body === null)
    throw new Error(t("Cannot show the file: the site answered with {status}", { status: String(response.status) }));
  const length = Number(response.headers.get("content-length") ?? 0);
  const validator = rangeValidator(response.headers);
  const inPieces = validator !== null && length > WHOLE;
  if (!inPieces && length > LARGEST) throw new Error(t("Cannot show the file: it is too large to be shown"));
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  for (let got = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    got += value.length;
    onProgress(got, length > 0 ? length : null);
    if (got > LARGEST) throw new Error(t("Cannot show the file: it is too large to be shown"));
    if (!inPieces || got < START) continue;
    void reader.cancel();
    return { range: new Pieces(url, length, await joined(chunks), validator, onLost) };
  }
  return { data: await joined(chunks) };
}

async function joined(chunks: readonly Uint8Array[]): Promise<Uint8Array> {
  return new Uint8Array(await new Blob(chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer());
}

/** Null where pieces of two answers might not be of one file (RFC 9110 section 13.1.5). */
export function rangeValidator(headers: Pick<Headers, "get">): string | null {
  if (!/\bbytes\b/i.test(headers.get("accept-ranges") ?? "") || headers.get("content-encoding") !== null) return null;
  const tag = headers.get("etag") ?? "";
  return tag.startsWith('"') ? tag : null;
}

class Pieces extends PDFDataRangeTransport {
  readonly #url: string;
  readonly #validator: string;
  readonly #onLost: FileHost["onLost"];
  readonly #stop = new AbortController();

  constructor(url: string, length: number, start: Uint8Array, validator: string, onLost: FileHost["onLost"]) {
    super(length, start);
    this.#url = url;
    this.#validator = validator;
    this.#onLost = onLost;
  }

  override requestDataRange(begin: number, end: number, tries = 0): void {
    const again = (refusal: unknown) => {
      if (this.#stop.signal.aborted) return;
      const isRefused = typeof refusal === "number";
      if (!isRefused || (MAY_PASS.includes(refusal) && tries < MOST_TRIES)) {
        const pause = RETRY_DELAY * 2 ** Math.min(tries, MOST_TRIES);
        setTimeout(() => this.requestDataRange(begin, end, tries + 1), pause);
        return;
      }
      this.#stop.abort();
      this.#onLost(CHANGED.includes(refusal) ? null : refusal);
    };
    void this.#get(begin, end).catch(again);
  }

  /** @throws the status, where it is another than 206. */
  async #get(begin: number, end: number): Promise<void> {
    const headers = { range: `bytes=${begin}-${end - 1}`, "if-range": this.#validator };
    const response = await fetch(this.#url, { headers, signal: this.#stop.signal });
    if (response.status !== 206) {
      void response.body?.cancel();
      throw response.status;
    }
    this.onDataRange(begin, new Uint8Array(await response.arrayBuffer()));
  }

  override abort(): void {
    this.#stop.abort();
  }
}

/** Statuses that say of a piece that the file is another, or gone (RFC 9110 section 13.1.5). */
const CHANGED: readonly number[] = [200, 404, 410, 412, 416];
/** A server that is busy says nothing of the file. */
const MAY_PASS: readonly number[] = [408, 425, 429, 500, 502, 503, 504];

/** Milliseconds before a piece is asked for again; twice as long after each time that it did not come. */
const RETRY_DELAY = 3_000;
const MOST_TRIES = 5;
