/** A slot's request on its way to the tunnel, with real URLs: its head as the origin would have been asked directly, and its body. */

import { BoundedMap } from "../../../shared/bounded-map.ts";
import { ErrorCode, type RopewayError } from "../../../shared/errors.ts";
import type {
  CacheMode,
  CredentialsMode,
  Destination,
  HeaderField,
  RedirectMode,
  ReferrerPolicy,
  RequestMode,
} from "../../../shared/http/heads.ts";
import { RESERVED_PATH } from "../../../shared/subprotocol.ts";
import { isMixedContent } from "../../../shared/web/origin.ts";
import { applyReferrerPolicy, parseReferrerPolicy } from "../../../shared/web/policies.ts";
import { MESSAGE_TAG } from "../../messages/page-messages.ts";
import type { PortRequestHead } from "../../messages/port-messages.ts";
import { ORIGINAL_MARK, UPLOAD_NUMBER, type WorkerToPage } from "../../messages/worker-messages.ts";
import { isSlotUrl, replaceSlotOrigin, type SlotIdentity, takeFormMark, toReal } from "../../slot/slot-url.ts";
import type { SlotContext } from "../slot-exchange.ts";
import type { BodyObserver } from "../tunnel-port.ts";

declare const self: ServiceWorkerGlobalScope;

/** Set by the browser for its own ends (`origin` names the slot), or by the edge for the session. */
const NOT_FORWARDED = new Set(["user-agent", "upgrade-insecure-requests", "accept-encoding", "origin", UPLOAD_NUMBER]);

/** Destinations of requests whose responses the edge may hold back. */
const MAY_WAIT: ReadonlySet<string> = new Set(["audio", "image", "video"]);

const ORIGINAL = new RegExp(`[?&]${ORIGINAL_MARK}(?=#|$)`);

export interface RequestCircumstances {
  /** Slot URL of the page that asks, or null when unknown. */
  readonly documentUrl: string | null;
  readonly bodyLength: number | null;
}

/** @param target the URL to ask for, on the slot or real; the request's own but for downloads. */
export function requestHead(
  request: Request,
  target: string,
  context: SlotContext,
  { documentUrl, bodyLength }: RequestCircumstances,
): PortRequestHead {
  // Scripts read the addresses of elements, and fetch them.
  const asked = request.mode === "navigate" ? target : target.replace(ORIGINAL, "");
  const url = new URL(toReal(asked, context));
  url.hash = "";
  const isNavigation = request.mode === "navigate";
  // The slot may be http: where the real page is https:, so that the browser sees no mixed content.
  if (!isNavigation && isMixedContent(url, context.realOrigin)) url.protocol = "https:";
  return {
    method: request.method,
    url: url.href,
    headers: forwardedFields(request, bodyLength),
    // The page itself is a frame in the shell: in a top-level slot a frame's document is the page's, or same-origin.
    destination: isNavigation && context.binding.topLevel ? "document" : (request.destination as Destination),
    mode: request.mode as RequestMode,
    credentials: isNavigation ? "include" : (request.credentials as CredentialsMode),
    // Whether a document may load on another origin, and with which cookies, depends on where it will be shown.
    redirect: isNavigation ? "same-origin" : (request.redirect as RedirectMode),
    ...(isNavigation ? { form: takeFormMark(target).form ?? "" } : {}),
    ...(asked !== target && MAY_WAIT.has(request.destination) ? { wantsOriginal: true } : {}),
    // A script that is to have a certain hash comes as it is.
    ...(/^(?:script|(?:shared)?worker)$/.test(request.destination) && !request.integrity ? { marksReads: true } : {}),
    ...(request.cache === "default" ? {} : { cache: request.cache as CacheMode }),
    referrerPolicy: request.referrerPolicy as ReferrerPolicy,
    referrer: referrerOf(
      { referrer: request.referrer, policy: request.referrerPolicy },
      url.href,
      context,
      documentUrl,
    ),
  };
}

/** As the browser lists them. */
function languages(): string {
  return navigator.languages.join(",");
}

/** The fields that go on to the origin. */
export function forwardedFields({ headers }: Pick<Request, "headers">, bodyLength: number | null): HeaderField[] {
  const fields: HeaderField[] = [];
  for (const [name, value] of headers) {
    if (NOT_FORWARDED.has(name) || name.startsWith("sec-")) continue;
    // The session says the browser's own; a script may have set another.
    if (name === "accept-language" && value.replace(/;q=[\d.]+/g, "") === languages()) continue;
    fields.push([name, value]);
  }
  if (bodyLength !== null) fields.push(["content-length", String(bodyLength)]);
  return fields;
}

/** A page of Ropeway's own on the slot's host counts as no referrer. */
function isReserved(url: URL, slot: SlotContext): boolean {
  return url.origin === slot.slotOrigin && url.pathname.startsWith(RESERVED_PATH);
}

/**
 * What a request for `targetUrl` refers to, with real URLs.
 *
 * @param asked what the browser says of the request.
 */
export function referrerOf(
  { referrer, policy }: { readonly referrer: string; readonly policy: string },
  targetUrl: string,
  slot: SlotContext,
  documentUrl: string | null,
): string {
  // The browser takes the real address of the page's own origin for another one's. The page script says where none is meant.
  const isOwn = policy === "same-origin" && URL.parse(targetUrl)?.origin === slot.realOrigin;
  const told = referrer === "" && isOwn ? (documentUrl ?? "") : referrer;
  const source = URL.parse(told);
  if (source === null || source.origin === slot.shellOrigin || isReserved(source, slot)) return "";
  // The browser has cut the referrer to the slot's origin where it took the target for another one.
  const cut = isSlotUrl(source, slot) && source.pathname === "/" && source.search === "";
  // A srcdoc or blob: document asks in the name of the one that made it, which the referrer tells.
  const document = URL.parse(documentUrl ?? "");
  const full = cut && document !== null && isSlotUrl(document, slot) ? document.href : told;
  return applyReferrerPolicy(parseReferrerPolicy(policy), toReal(full, slot), targetUrl);
}

/** Up to here a body travels as one message, and text in it is looked through for slot URLs. */
const SMALL_BODY = 1024 * 1024;
const TEXT_TYPE = /^(?:text\/|application\/(?:json|x-www-form-urlencoded|[\w.-]+\+json))/i;

export interface OutgoingBody {
  readonly content: ArrayBuffer | ReadableStream<Uint8Array> | null;
  /** Bytes, for `content-length`: many servers take no upload without. */
  readonly length: number | null;
}

/**
 * Reads the body into the browser's blob storage first, which spills to disk: its length must be known. Where that storage
 * cannot be read, the body is held in memory.
 */
export async function outgoingBody(request: Request, slot: SlotIdentity): Promise<OutgoingBody> {
  if (request.method === "GET" || request.method === "HEAD") return { content: null, length: null };
  const whole = (await areBlobsReadable()) ? await request.blob() : await request.arrayBuffer();
  const size = whole instanceof ArrayBuffer ? whole.byteLength : whole.size;
  if (size === 0) return { content: null, length: request.method === "POST" || request.method === "PUT" ? 0 : null };
  if (size > SMALL_BODY) return { content: new Response(whole).body, length: size };
  const content = whole instanceof ArrayBuffer ? whole : await whole.arrayBuffer();
  const type = request.headers.get("content-type") ?? "";
  const rewritten = TEXT_TYPE.test(type) ? withRealUrls(content, slot) : content;
  return { content: rewritten, length: rewritten.byteLength };
}

let blobsAreReadable: Promise<boolean> | null = null;

/** In WebKit, a service worker of a frame on another host than the window's cannot read any (WebKitGTK 2.50). */
function areBlobsReadable(): Promise<boolean> {
  blobsAreReadable ??= new Blob(["?"]).arrayBuffer().then(
    () => true,
    () => false,
  );
  return blobsAreReadable;
}

/** Text that mentions the slot (a script sent `location.href`) mentions the real origin instead. */
function withRealUrls(content: ArrayBuffer, slot: SlotIdentity): ArrayBuffer {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return content;
  }
  const replaced = replaceSlotOrigin(text, slot);
  return replaced === text ? content : new TextEncoder().encode(replaced).buffer;
}

/** Bytes: small enough that progress shows for a small upload on a slow link, too. */
const PIECE = 64 * 1024;
/** Milliseconds from one message to the next (XMLHttpRequest section 3.5.6). */
const INTERVAL = 50;

/**
 * A body whose upload the page script asks to be told of, in pieces; and how it is told of the bytes that have left. Else the
 * body as it is.
 */
export function watchedBody(
  event: FetchEvent,
  { content, length }: OutgoingBody,
): { readonly content: OutgoingBody["content"]; readonly onTaken?: (bytes: number) => void } {
  const number = event.request.headers.get(UPLOAD_NUMBER);
  if (number === null || content === null || length === null) return { content };
  const page = self.clients.get(event.clientId);
  const onTaken = atTimes(length, (loaded) => {
    const message: WorkerToPage = { tag: MESSAGE_TAG, type: "upload", number: Number(number), loaded, total: length };
    void page.then((client) => client?.postMessage(message));
  });
  return { content: inPieces(content), onTaken };
}

/** @returns passes on a count now and then, and when it is the total. */
export function atTimes(total: number, tell: (count: number) => void, now = Date.now): (count: number) => void {
  let told = 0;
  let toldAt = 0;
  return (count) => {
    const time = now();
    if (count === told || (count < total && time - toldAt < INTERVAL)) return;
    told = count;
    toldAt = time;
    tell(count);
  };
}

/** The same bytes, each piece in a buffer of its own, since a message carries the whole of one. */
export function inPieces(content: ArrayBuffer | ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = (new Response(content).body as ReadableStream<Uint8Array>).getReader();
  let rest = new Uint8Array();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (rest.length === 0) {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          rest = value as Uint8Array<ArrayBuffer>;
        }
        controller.enqueue(rest.slice(0, PIECE));
        rest = rest.subarray(PIECE);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Ids that are kept, of streams that have ended. */
const IDS_KEPT = 64;
/** Characters of a line that are looked at. An id that is longer is not known. */
const LINE_MAX = 1024;

/**
 * `Last-Event-ID` of event sources: the browser adds it when one connects again, after its service worker has seen the
 * request. So the last id is read here, from the stream as it passes (HTML section 9.2.6), and kept for when that ends.
 */
export class EventStreams {
  /** By who asks and for what, oldest first. */
  readonly #lastIds = new BoundedMap<string, string>(IDS_KEPT);

  /** Null for what is no event source's request: a script's own has another cache mode (HTML section 9.2.2). */
  begin(clientId: string, { url, cache, headers }: Pick<Request, "url" | "cache" | "headers">): EventStream | null {
    if (headers.get("accept") !== "text/event-stream" || cache !== "no-store") return null;
    const source = `${clientId} ${url}`;
    const id = this.#lastIds.get(source) ?? "";
    this.#lastIds.delete(source);
    return new EventStream(id, (last) => {
      this.#lastIds.set(source, last);
    });
  }
}

export class EventStream implements BodyObserver {
  readonly #keep: (id: string) => void;
  readonly #decoder = new TextDecoder();
  #line = "";
  /** The id of the event under way, and that of the last whole event. */
  #id: string;
  #lastId: string;

  constructor(id: string, keep: (id: string) => void) {
    this.#id = id;
    this.#lastId = id;
    this.#keep = keep;
  }

  /** Fields that the browser adds to the request. */
  get headers(): HeaderField[] {
    return this.#lastId === "" ? [] : [["last-event-id", this.#lastId]];
  }

  onChunk(bytes: Uint8Array): void {
    const lines = (this.#line + this.#decoder.decode(bytes, { stream: true })).split(/\r\n|\n|\r(?!$)/);
    this.#line = (lines.pop() ?? "").slice(0, LINE_MAX);
    for (const line of lines) {
      if (line === "") this.#lastId = this.#id;
      const id = line.length < LINE_MAX ? /^id(?:: ?(.*))?$/.exec(line) : null;
      if (id !== null && id[1]?.includes("\0") !== true) this.#id = id[1] ?? "";
    }
  }

  onEnd(outcome: "end" | RopewayError): void {
    // A page that closes its source does not connect again. After any other end the browser does.
    const isClosed = outcome !== "end" && outcome.code === ErrorCode.CANCEL;
    if (!isClosed && this.#lastId !== "") this.#keep(this.#lastId);
  }
}

declare global {
  interface Request {
    /** In the standard, and in Chromium; not in the types. */
    readonly isHistoryNavigation?: boolean;
  }
}

/**
 * Whether a navigation is known to be of the slot's own pages or the shell. Of others it need not be: the frame may be
 * one in a page without referrers, but also in a page of another site that learnt the slot's host.
 */
export async function isFromOwn({ request, clientId }: FetchEvent, shellOrigin: string): Promise<boolean> {
  // Entries of the history were let through before.
  if (request.isHistoryNavigation === true) return true;
  const source = URL.parse(request.referrer)?.origin;
  if (source !== undefined) return source === self.location.origin || source === shellOrigin;
  // Forms do not leave their slot: no document of one is without `form-action`.
  if (request.method !== "GET") return true;
  // In Chromium the client is the document that the frame has so far. Other sites frame reserved pages at most.
  const replaced = clientId === "" ? undefined : await self.clients.get(clientId);
  return replaced !== undefined && !replaced.url.startsWith(self.location.origin + RESERVED_PATH);
}
