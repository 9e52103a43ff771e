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
  /** The file on the server is another one now. */
  readonly onChanged: () => void;
}

/** @throws Error that says why it cannot be had. */
export async function openFile({ url, t, onProgress, onChanged }: FileHost): Promise<PdfFile> {
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
    return { range: new Pieces(url, length, await joined(chunks), validator, onChanged) };
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
  readonly #onChanged: () => void;
  readonly #stop = new AbortController();
  /** Pieces that did not come, in a row. */
  #refused = 0;

  constructor(url: string, length: number, start: Uint8Array, validator: string, onChanged: () => void) {
    super(length, start);
    this.#url = url;
    this.#validator = validator;
    this.#onChanged = onChanged;
  }

  override requestDataRange(begin: number, end: number): void {
    const got = this.#get(begin, end);
    got.then(
      () => {
        this.#refused = 0;
      },
      () => {
        if (this.#stop.signal.aborted) return;
        const pause = RETRY_DELAY * 2 ** Math.min(this.#refused++, MOST_DOUBLINGS);
        setTimeout(() => this.requestDataRange(begin, end), pause);
      },
    );
  }

  async #get(begin: number, end: number): Promise<void> {
    const headers = { range: `bytes=${begin}-${end - 1}`, "if-range": this.#validator };
    const response = await fetch(this.#url, { headers, signal: this.#stop.signal });
    if (response.status !== 206) {
      void response.body?.cancel();
      // A server that is busy, or wants another sign-in, says nothing of the file.
      if (!CHANGED.includes(response.status)) throw new Error(String(response.status));
      this.#stop.abort();
      return this.#onChanged();
    }
    this.onDataRange(begin, new Uint8Array(await response.arrayBuffer()));
  }

  override abort(): void {
    this.#stop.abort();
  }
}

/** Statuses that say of a piece that the file is another, or gone (RFC 9110 section 13.1.5). */
const CHANGED: readonly number[] = [200, 404, 410, 412, 416];

/** Milliseconds before a piece is asked for again that was lost; twice as long after each that was lost before. */
const RETRY_DELAY = 3_000;
const MOST_DOUBLINGS = 5;
