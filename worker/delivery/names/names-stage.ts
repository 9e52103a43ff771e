/** A stage of `deliver`: scripts, and those in documents, with their reads of `location` and `top` marked. */

import { byteStringToBytes, bytesToByteString } from "../../../shared/base-encodings.ts";
import { BoundedMap } from "../../../shared/bounded-map.ts";
import type { SetTimer } from "../../../shared/clock.ts";
import type { Room } from "../../../shared/fair-shares.ts";
import { contentLength, headerValue } from "../../../shared/http/head-fields.ts";
import type { HeaderList, RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import { READS_MARKED } from "../../../shared/http/phone-fields.ts";
import { cacheControl } from "../../../shared/http-cache/cache-rules.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { type Attribute, decodeReferences, HtmlTokens, type Tag, tagEnd } from "../../../shared/web/html-tokens.ts";
import { concat } from "../../../shared/wire/frame.ts";
import { bodyOf, readAhead } from "../references.ts";
import type { DecodedResponse } from "../stage.ts";
import { markReads, mayRead } from "./script-reads.ts";

/** Bytes: a longer script comes as it is. To read 100 kB takes some 100 ms of a cold processor, 30 of a hot one (docs/edge-cost.md). */
const MOST_SCRIPT = 1024 * 1024;
/** Bytes of scripts that are read in so many milliseconds, for all phones; scripts beyond it come as they are. */
const MOST_AT_ONCE = 8 * 1024 * 1024;
const AT_ONCE = 8_000;
/** Bytes: room for a script whose length nobody tells is taken by pieces. */
const PIECE = 256 * 1024;
/** Characters of a script in a document, likewise: the document waits for its end. */
const MOST_INLINE = 128 * 1024;
/** Characters of all such scripts of a document, event handlers in attributes too. */
const MOST_OF_DOCUMENT = 256 * 1024;
/** Characters of a tag. A document waits until its tag ends, and no credit bounds that: behind a longer tag it comes as it is. */
const MOST_OF_TAG = 1024 * 1024;
/** Characters that what is parsed counts for at least: the parser's start costs time, however short the text is. */
const LEAST_READ = 512;
/** Milliseconds in which a script is read whole, or goes as it is. It runs no sooner. */
const READ_WITHIN = 3_000;
/** Bytes of scripts whose marked text is kept for the next phone; shorter ones are read again. */
const KEPT_FROM = 4 * 1024;
const KEPT = 24;
/** Characters of all of them. */
const KEPT_CHARACTERS = 4 * 1024 * 1024;

const SCRIPTS: ReadonlySet<string> = new Set(["script", "sharedworker", "worker"]);
/** Kinds of scripts by the `type` of their elements; others hold data. */
const SCRIPT_TYPE = /^(?:|module|(?:text|application)\/(?:x-)?(?:java|ecma)script)$/i;
const SCRIPT_MEDIA = /^\s*(?:text|application)\/(?:x-)?(?:java|ecma)script\b/i;
/** An attribute with a script: an event handler, or an address that is one. */
const HANDLER = /[\s"'/]on[a-z]+\s*=|javascript:/i;
const SCRIPT_ADDRESS = /^\s*javascript:/i;
/** A policy that allows scripts by their text. In a document its quotes may be references. */
const BY_HASH = /sha(?:256|384|512)-/i;
/** Encodings whose bytes look like markup and are other text: marks would shift what people wrote into markup. */
const NOT_ASCII = /\b(?:utf-?16|ucs-?2|unicode|iso-10646|csunicode|iso-?2022|csiso2022)/i;

const DOCUMENTS: ReadonlySet<string> = new Set(["document", "iframe", "frame"]);

export class NamesStage {
  readonly #room: Room;
  readonly #setTimer: SetTimer;
  /** Marked texts by the hash of the origin's; null where there is nothing to mark. */
  readonly #kept = new BoundedMap<string, string | null>(KEPT);
  /** Bytes that may be read just now. */
  #unread = MOST_AT_ONCE;

  /** @param room for what deliveries hold, of all phones in the process. */
  constructor(room: Room, setTimer: SetTimer) {
    this.#room = room;
    this.#setTimer = setTimer;
  }

  async apply(response: DecodedResponse, request: RequestHead): Promise<DecodedResponse> {
    const { head } = response;
    if (request.marksReads !== true || !mayChange(head, request)) return response;
    const type = headerValue(head.headers, "content-type") ?? "";
    if (NOT_ASCII.test(type)) return response;
    if (SCRIPTS.has(request.destination) && SCRIPT_MEDIA.test(type)) return this.#script(response);
    const isDocument = DOCUMENTS.has(request.destination) || request.url === EdgeRequest.WARMED_PAGE;
    if (!isDocument || !/^\s*text\/html\b/i.test(type)) return response;
    return isAllowedByHash(head.headers) ? response : { head: marked(head), body: markedDocument(response.body) };
  }

  async #script(response: DecodedResponse): Promise<DecodedResponse> {
    let held = contentLength(response.head.headers) ?? PIECE;
    const release = () => this.#room.give(release);
    if (held > MOST_SCRIPT || !this.#room.take(release, held)) return response;
    const mayHold = (bytes: number): boolean => {
      while (bytes > held && held < MOST_SCRIPT && this.#room.take(release, PIECE)) held += PIECE;
      return bytes <= held;
    };
    const read = await readAhead(response.body, mayHold, READ_WITHIN, this.#setTimer);
    const text = read.rest === "whole" ? await this.#marked(concat(...read.chunks)) : null;
    if (text === null) return { head: response.head, body: bodyOf(read, release) };
    release();
    return { head: marked(response.head), body: new Blob([text]).stream() };
  }

  async #marked(bytes: Uint8Array<ArrayBuffer>): Promise<string | null> {
    const text = decoded(bytes);
    if (text === null) return null;
    if (bytes.length < KEPT_FROM) return this.#read(text) ?? null;
    const hash = bytesToByteString(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
    const known = this.#kept.use(hash);
    if (known !== undefined) return known;
    const read = this.#read(text);
    if (read === undefined) return null;
    this.#kept.set(hash, read);
    let characters = 0;
    for (const [name, kept] of [...this.#kept].reverse()) {
      characters += kept?.length ?? 0;
      if (characters > KEPT_CHARACTERS) this.#kept.delete(name);
    }
    return read;
  }

  /** @returns undefined where so much was read lately that this has to come as it is. */
  #read(text: string): string | null | undefined {
    if (text.length > this.#unread) return undefined;
    this.#unread -= text.length;
    this.#setTimer(() => {
      this.#unread += text.length;
    }, AT_ONCE);
    return markReads(text);
  }
}

function mayChange(head: ResponseHead, { method, headers, delivery }: RequestHead): boolean {
  if (head.status !== 200 || head.continues === true) return false;
  if (method !== "GET" && method !== "POST") return false;
  if (headers.some(([name]) => name === "range") || delivery?.continuation != null) return false;
  return !cacheControl(head.headers).has("no-transform");
}

const isAllowedByHash = (headers: HeaderList): boolean =>
  headers.some(([name, value]) => name === "content-security-policy" && BY_HASH.test(value));

/** The head of a body that is longer than its origin's: what was said of those bytes does not hold of it. */
function marked(head: ResponseHead): ResponseHead {
  const { resumption: _, ...rest } = head;
  const headers = head.headers.filter(
    ([name]) => !/^(?:content-(?:length|md5|digest)|repr-digest|digest|accept-ranges)$/.test(name),
  );
  return { ...rest, headers: [...headers, READS_MARKED] };
}

/** Null where the bytes are no UTF-8: another encoding's are not to be read without knowing it. */
function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** A document with the scripts that stand in it marked. All else keeps its bytes, whatever their encoding. */
function markedDocument(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const document = new MarkedDocument();
  const give = (controller: TransformStreamDefaultController<Uint8Array>): void => {
    const text = document.take();
    if (text !== "") controller.enqueue(byteStringToBytes(text));
  };
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        document.write(bytesToByteString(chunk));
        give(controller);
      },
      flush(controller) {
        document.end();
        give(controller);
      },
    }),
  );
}

/** Has a character for each byte. */
class MarkedDocument {
  /** Text that is ready. */
  #ready: string[] = [];
  /** Index in the tokens' text up to which all is in `#ready` or in `#script`. */
  #copied = 0;
  /** The script that is being read, if its reads are to be marked. */
  #script: string[] | null = null;
  #length = 0;
  #left = MOST_OF_DOCUMENT;
  #opening = "";
  /** The rest comes as it is. */
  #isOver = false;
  readonly #tokens = new HtmlTokens(
    {
      onTag: (html, tag) => this.#onTag(html, tag),
      onRawText: (_name, html, start, end, isLast) => this.#onRawText(html, start, end, isLast),
      onDecided: (html, end) => this.#onDecided(html, end),
    },
    "html",
  );

  write(text: string): void {
    if (this.#isOver) return void this.#ready.push(text);
    this.#readMark(text);
    this.#tokens.write(text);
    if (this.#tokens.waiting <= MOST_OF_TAG) return;
    // No script is open here: of one, no more than a name waits.
    this.#isOver = true;
    this.#ready.push(this.#tokens.giveUp());
  }

  /** UTF-16 says so by its first two bytes, whatever the head says. */
  #readMark(text: string): void {
    if (this.#opening.length >= 2) return;
    this.#opening += text.slice(0, 2);
    if (/^(?:\xff\xfe|\xfe\xff)/.test(this.#opening)) this.#left = 0;
  }

  end(): void {
    if (!this.#isOver) this.#tokens.end();
  }

  take(): string {
    const text = this.#ready.join("");
    this.#ready = [];
    return text;
  }

  #onTag(html: string, { name, isEnd, nameStop, end }: Tag): void {
    const hasHandler = HANDLER.test(html.slice(nameStop, end));
    if (isEnd || !(hasHandler || name === "script" || name === "meta")) return;
    const attributes: Attribute[] = [];
    tagEnd(html, nameStop, attributes);
    if (hasHandler)
      for (const each of attributes)
        if (each.name.startsWith("on") || (each.name === "href" && SCRIPT_ADDRESS.test(each.value)))
          this.#onHandler(html, each);
    const attribute = (wanted: string) => attributes.find((each) => each.name === wanted)?.value;
    if (name === "meta") {
      const content = attribute("content") ?? "";
      if (BY_HASH.test(content) || NOT_ASCII.test(`${content} ${attribute("charset")}`)) this.#left = 0;
    } else if (attribute("src") === undefined && SCRIPT_TYPE.test((attribute("type") ?? "").trim()) && this.#left > 0)
      this.#script = [];
  }

  #onHandler(html: string, { name, value, end }: Attribute): void {
    const last = html[end - 1] ?? "";
    const isQuoted = /["']/.test(last) && html[end - value.length - 2] === last;
    const stop = isQuoted ? end - 1 : end;
    const counted = Math.max(value.length, LEAST_READ);
    if (html.slice(stop - value.length, stop) !== value || counted > this.#left) return;
    if (!mayRead(decodeReferences(value))) return;
    this.#left -= counted;
    const quote = isQuoted ? last : '"';
    const text = name === "href" ? markedAddress(value, quote) : markedHandler(value, quote);
    if (text === null) return;
    this.#copyTo(html, stop - value.length);
    this.#ready.push(isQuoted ? text : quote + text + quote);
    this.#copied = stop;
  }

  #onRawText(html: string, start: number, end: number, isLast: boolean): void {
    if (this.#script === null) return;
    this.#copyTo(html, start);
    this.#script.push(html.slice(start, end));
    this.#length += end - start;
    this.#copied = end;
    if (isLast || this.#length > Math.min(MOST_INLINE, this.#left)) this.#closeScript();
  }

  #closeScript(): void {
    const text = (this.#script ?? []).join("");
    const isShort = this.#length <= Math.min(MOST_INLINE, this.#left);
    const counted = isShort && mayRead(text) ? Math.max(this.#length, LEAST_READ) : this.#length;
    const read = isShort && counted <= this.#left ? markedInline(text) : null;
    this.#left -= counted;
    this.#script = null;
    this.#length = 0;
    this.#ready.push(read ?? text);
  }

  #onDecided(html: string, end: number): void {
    this.#copyTo(html, end);
    this.#copied = 0;
  }

  #copyTo(html: string, end: number): void {
    if (end > this.#copied) this.#ready.push(html.slice(this.#copied, end));
    this.#copied = Math.max(this.#copied, end);
  }
}

function markedInline(characters: string): string | null {
  const text = decoded(byteStringToBytes(characters));
  const read = text === null ? null : markReads(text);
  return read === null ? null : bytesToByteString(new TextEncoder().encode(read));
}

/** An event handler as it is to stand in the quotes of its attribute. */
function markedHandler(written: string, quote: string): string | null {
  const text = decodeReferences(written);
  const code = quote.charCodeAt(0);
  if (text === written) return markedInline(written)?.replaceAll(quote, `&#${code};`) ?? null;
  // Text that is no ASCII depends on the document's encoding; not all references are known.
  if (/[^\0-\x7f]|&[a-z#]/i.test(text)) return null;
  const read = markReads(text);
  return read?.replaceAll("&", "&amp;").replaceAll(quote, `&#${code};`) ?? null;
}

/** A link's script, likewise. One with escapes, which are undone before it runs, or with line ends, which are left out, stays. */
function markedAddress(written: string, quote: string): string | null {
  const [scheme = ""] = SCRIPT_ADDRESS.exec(written) ?? [];
  const text = written.slice(scheme.length);
  const read = /[%\t\n\r]/.test(text) ? null : markedHandler(text, quote);
  return read === null ? null : scheme + read;
}
