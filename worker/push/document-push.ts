/**
 * Parse-and-push (GPRSWeb): pushes what a document names while it streams to the phone. Each push is announced before the
 * bytes that name it are on their way, and asked for exactly as the phone would ask for the page.
 */
import { ErrorCode } from "../../shared/errors.ts";
import {
  documentName,
  type RequestHandler,
  type ServerRequest,
  type SlotScheme,
  servePush,
} from "../../shared/http/exchange.ts";
import { headerValue, headerValues } from "../../shared/http/head-fields.ts";
import type { KnownUrls, RequestHead, ResponseHead } from "../../shared/http/heads.ts";
import {
  type AcceptTable,
  isKnownUrl,
  type LearnedRequest,
  readLearned,
  type Viewport,
  withDefaultAccept,
} from "../../shared/http/phone-fields.ts";
import * as limits from "../../shared/limits.ts";
import type { MuxStream } from "../../shared/mux/stream/stream.ts";
import { DocumentBytes, shownDocument } from "../../shared/web/documents.ts";
import { isMixedContent, isPotentiallyTrustworthy } from "../../shared/web/origin.ts";
import { applyReferrerPolicy, parseReferrerPolicy } from "../../shared/web/policies.ts";
import type { Priority } from "../../shared/wire/frame.ts";
import {
  CHARACTERS,
  DocumentScanner,
  linksOf,
  matchesMedia,
  type NamedResource,
  type ScanHandler,
  Steps,
  UNNAMED,
} from "./document-scanner.ts";
import { PagePolicies } from "./policy-check.ts";
import type { PushOrder, UnsentResponse } from "./push-order.ts";

/**
 * @returns what is told of each piece of the body as its origin sent it, before any of it is on its way to the phone, and
 * by null that no more comes, whole or not; null for what is of no interest. It must not throw, and not keep the bytes.
 */
export type ObserveBody = (head: ResponseHead) => ((chunk: Uint8Array | null) => void) | null;

/** Bytes: so much of a document is looked through for resources; hardly one is longer. */
export const SCANNED_DOCUMENT_BYTES = 1024 * 1024;

/** Characters: a head holds no longer ones, and sites write them. */
const LONGEST_URL = 16 * 1024;
/** To look at an address, and make a request of it. */
const ADDRESS_STEPS = 8;

/** Policy of a page that runs no scripts. */
const SCRIPTLESS = "script-src 'none'; connect-src 'none'";

/** Parts of a document's session that pushing needs. */
interface PushHost {
  /** Count: so much is pushed of a document. */
  readonly most: number;
  /** A stream for a push, or null while there are as many as there may be. */
  openPush(priority: Priority): MuxStream | null;
  /** Whether the page is to get none of it unless it asks. */
  isUnwanted(head: RequestHead): boolean;
  /**
   * Answers as if the phone had asked. A request of the phone may take the response, until it is sent or `settle`d.
   *
   * @param observer of what it says.
   */
  offer(request: ServerRequest, observer: ObserveBody | null): UnsentResponse;
  readonly slotScheme: SlotScheme;
  readonly viewport?: Viewport | undefined;
  /** `accept` of the phone's browser, as far as it was announced. */
  readonly accept: AcceptTable;
  /** The order in which the pushes of this document are sent. */
  openOrder(document: MuxStream): PushOrder;
}

/**
 * Pushes what the response to `request` names, if it is a document.
 *
 * @param document the stream that it was asked for on.
 * @returns null where nothing is to be pushed.
 */
export function pushObserver(request: ServerRequest, document: MuxStream, host: PushHost): ObserveBody | null {
  const { head } = request;
  const isWanted = head.method === "GET" && head.mode === "navigate" && headerValue(head.headers, "pragma") === null;
  // What a page behind a password loads is asked for with that; a push has none.
  if (!isWanted || headerValue(head.headers, "authorization") !== null) return null;
  return (response) => {
    const hasChanged = isDocument(response);
    if (!hasChanged && !isUnchanged(response)) return null;
    const push = new DocumentPush(request, document, response, host);
    if (hasChanged) return push.observer;
    push.unchanged();
    return null;
  };
}

/** The condition of a redirected request was made for its first URL, and says nothing of the last one. */
function isUnchanged({ status, redirected }: ResponseHead): boolean {
  return status === 304 && !redirected;
}

/** Not what a continued or a saved document names: nobody asks for that now. */
function isDocument({ status, headers }: ResponseHead): boolean {
  return status === 200 && shownDocument(status, headers).kind === "html";
}

class DocumentPush {
  #host: PushHost;
  #signal: AbortSignal;
  #document: MuxStream;
  #order: PushOrder;
  #url: URL;
  #topLevelOrigin: string;
  #base: URL;
  #referrerPolicy: ReturnType<typeof parseReferrerPolicy>;
  readonly #steps = new Steps();
  readonly #policies: PagePolicies;
  /** Such a document asks other origins without credentials for what it embeds. */
  readonly #isCredentialless: boolean;
  readonly #isScriptless: boolean;
  readonly #known: KnownUrls;
  readonly #most: number;
  /** Resources that the phone expects its page to ask for; none when they were acted on. */
  #learned: readonly LearnedRequest[];
  #named = new Set<string>();
  /** Addresses that are not pushed are not looked at again. */
  readonly #refused = new Set<string>();
  #pushed: { readonly stream: MuxStream; readonly urgency: number; readonly giveUp: () => void }[] = [];
  /** As the response's fields say them. */
  readonly #links: readonly string[];
  readonly #bytes: DocumentBytes;
  #isOver = false;

  constructor({ head, signal }: ServerRequest, document: MuxStream, response: ResponseHead, host: PushHost) {
    this.#host = host;
    this.#signal = signal;
    this.#document = document;
    this.#order = host.openOrder(document);
    this.#known = head.known ?? new Set();
    this.#most = Math.min(head.pushes ?? host.most, host.most, limits.pushesPerDocument);
    this.#url = new URL(response.url);
    // Learned of the page that was asked for: nothing of it is for another origin's.
    const isOther = this.#url.origin !== new URL(head.url).origin;
    this.#learned = head.learned === undefined || isOther ? [] : readLearned(head.learned, head.url);
    this.#base = this.#url;
    this.#links = headerValues(response.headers, "link");
    this.#bytes = new DocumentBytes(shownDocument(response.status, response.headers).encoding, false);
    // A top-level document may have come from elsewhere by redirects, a frame's may not (PROTOCOL.md section 5.2).
    this.#topLevelOrigin = head.destination === "document" ? this.#url.origin : head.topLevelOrigin;
    this.#referrerPolicy = parseReferrerPolicy(headerValue(response.headers, "referrer-policy"));
    this.#isCredentialless =
      headerValue(response.headers, "document-isolation-policy") === "isolate-and-credentialless";
    this.#policies = new PagePolicies(this.#url.origin, this.#steps);
    for (const value of headerValues(response.headers, "content-security-policy")) this.#policies.add(value);
    this.#isScriptless = head.isScriptless === true;
    if (this.#isScriptless) this.#policies.add(SCRIPTLESS);
    signal.addEventListener("abort", () => this.#stop());
  }

  /** Told of the document's bytes. Never throws: a document that cannot be read is just not helped. */
  get observer(): (chunk: Uint8Array | null) => void {
    const { viewport } = this.#host;
    const bytes = this.#bytes;
    const handler: ScanHandler = {
      onResource: (resource) => this.#push(resource),
      onBase: (href) => this.#setBase(href),
      onReferrerPolicy: (policy) => {
        this.#referrerPolicy = policy;
      },
      onContentSecurityPolicy: (content) => {
        this.#policies.add(content);
      },
      onStyle: (text, nonce) => {
        if (!this.#policies.allowsStyle(nonce)) return;
        for (const resource of importsOfInline(text, this.#base.href, viewport)) this.#push(resource);
      },
    };
    const language = this.#isScriptless ? "html without scripts" : "html";
    const scanner = new DocumentScanner(handler, this.#steps, viewport, language, bytes.values);
    let left: number = SCANNED_DOCUMENT_BYTES;
    this.#reading(() => {
      for (const each of this.#links.flatMap(linksOf)) scanner.openLink(each);
    });
    return (chunk) => {
      if (chunk === null || left <= 0) return;
      const part = chunk.subarray(0, left);
      left -= part.length;
      this.#reading(() => {
        scanner.write(bytes.read(part));
        if (scanner.isPastPolicies) this.#pushLearned();
      });
    };
  }

  /** The phone has the document: nothing of it is read here. Its policies let the page ask for what is learned of it. */
  unchanged(): void {
    this.#reading(() => this.#pushLearned());
  }

  #reading(read: () => void): void {
    if (this.#isOver || this.#signal.aborted || this.#policies.isOpaque) return;
    try {
      read();
    } catch {
      this.#isOver = true;
    }
  }

  /** A document that cannot be read goes to the phone all the same. */
  #guarded(observe: ObserveBody | null): ObserveBody | null {
    if (observe === null) return null;
    return (response) => {
      let onChunk: ReturnType<ObserveBody> = null;
      this.#reading(() => {
        onChunk = observe(response);
      });
      return (chunk) => this.#reading(() => onChunk?.(chunk));
    };
  }

  #setBase(href: string): void {
    // Nobody asks for the addresses that such a base makes.
    if (href.length > LONGEST_URL) this.#isOver = true;
    else if (URL.canParse(href, this.#url)) {
      const base = new URL(href, this.#url);
      if (this.#policies.allowsBase(base)) this.#base = base;
    }
  }

  /** Scripts will ask for it: after what the markup names so far. */
  #pushLearned(): void {
    const learned = this.#learned;
    this.#learned = [];
    for (const request of learned) {
      const isOwn = new URL(request.url).origin === this.#url.origin;
      if (request.mode !== "same-origin" || isOwn) this.#push({ ...UNNAMED, ...request });
    }
  }

  #push(resource: NamedResource): void {
    // These cost least, so they are asked first.
    if (this.#isOver || this.#named.size >= this.#most || this.#steps.isOver) return;
    const url = this.#addressOf(resource);
    if (url === null) return;
    const { destination, mode, credentials, nonce, isOfStyle } = resource;
    const key = [destination, mode, credentials, url.href].join(" ");
    // The phone has named it as one that it lacks, whatever it had before. A picture may still be held back.
    const isWanted = resource.accept !== undefined && destination !== "image";
    const refusal = [key, nonce, isOfStyle, isWanted].join(" ");
    if (this.#named.has(key) || this.#refused.has(refusal)) return;
    const head = this.#requestFor(resource, url);
    if (head === null || (!isWanted && (this.#host.isUnwanted(head) || isKnownUrl(this.#known, head.url)))) {
      this.#refused.add(refusal);
      return;
    }
    // The steps ran out on the way here. That is no refusal.
    if (this.#steps.isOver) return;
    this.#named.add(key);
    const priority = priorityOf(resource);
    const claimedPriority = claimedPriorityOf(resource);
    const stream = this.#host.openPush(priority);
    if (stream === null) return;
    const observer = this.#guarded(
      observeImports(resource, this.#host.viewport, (each) => {
        if (!this.#isOver && !this.#signal.aborted) this.#push(each);
      }),
    );
    try {
      const turn = this.#order.add(stream, priority.urgency);
      let offered: UnsentResponse | null = null;
      const handle: RequestHandler = (request) => {
        offered = this.#host.offer(request, observer);
        return offered.inTurn(turn.come);
      };
      const onClaim = (): void => {
        offered?.settle();
        turn.release();
        if (claimedPriority !== null) stream.schedule(claimedPriority);
      };
      const announcement = { head, document: documentName(this.#document) };
      const giveUp = servePush(stream, announcement, handle, onClaim);
      this.#pushed.push({ stream, urgency: priority.urgency, giveUp });
    } catch {
      // A head cannot hold its address.
      stream.reset(ErrorCode.INTERNAL_ERROR);
    }
  }

  /** Null for what pages do not ask for, or not so. */
  #addressOf(resource: NamedResource): URL | null {
    // An address that could not be read is another one.
    if (resource.url.length > LONGEST_URL || resource.url.includes("\ufffd")) return null;
    const length = resource.url.length + this.#base.href.length;
    if (!this.#steps.take(ADDRESS_STEPS + length / CHARACTERS) || !URL.canParse(resource.url, this.#base)) return null;
    const url = new URL(resource.url, this.#base);
    url.hash = "";
    const isPlain = /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
    return isPlain ? url : null;
  }

  /** The request as the tunnel will make it when the page asks; null where it must not be made. Changes `url`. */
  #requestFor(resource: NamedResource, url: URL): RequestHead | null {
    const { destination, mode, credentials, accept = "" } = resource;
    if (!this.#policies.allows(resource, url)) return null;
    if (resource.isOfStyle && !this.#policies.allowsStyleAttributes()) return null;
    this.#upgrade(url);
    if (url.href === this.#url.href) return null;
    const policy = resource.referrerPolicy || this.#referrerPolicy;
    const isEmbedded = mode === "no-cors" && url.origin !== this.#url.origin;
    return {
      method: "GET",
      url: url.href,
      headers: withDefaultAccept(accept === "" ? [] : [["accept", accept]], destination, this.#host.accept),
      destination,
      mode,
      credentials: isEmbedded && this.#isCredentialless ? "omit" : credentials,
      redirect: "follow",
      referrer: this.#referrerOf(resource, url),
      ...(policy && { referrerPolicy: policy }),
      origin: this.#url.origin,
      topLevelOrigin: this.#topLevelOrigin,
    };
  }

  /** Of another origin's importer the phone says nothing. */
  #referrerOf({ referrerPolicy, importer = this.#url.href }: NamedResource, url: URL): string {
    if (new URL(importer).origin !== this.#url.origin) return "";
    return applyReferrerPolicy(referrerPolicy || this.#referrerPolicy, importer, url.href);
  }

  /** As browser and service worker do: Mixed Content section 4.1, Upgrade Insecure Requests section 3.2. */
  #upgrade(url: URL): void {
    const isForeign = url.origin !== this.#url.origin;
    const upgrades = this.#host.slotScheme === "https" || this.#policies.upgrades;
    const isUpgraded = isForeign && upgrades && url.protocol === "http:" && !isPotentiallyTrustworthy(url);
    if (isUpgraded || isMixedContent(url, this.#url.origin)) url.protocol = "https:";
  }

  /** The document is wanted no more, so neither is what only it asks for; the page may have claimed the rest. */
  #stop(): void {
    this.#isOver = true;
    for (const { stream, urgency, giveUp } of this.#pushed) {
      if (stream.priority.urgency === urgency) giveUp();
    }
  }
}

/** Behind all that was asked for; among pushes in the order in which pages need them. */
function priorityOf(resource: NamedResource): Priority {
  const isRenderBlocking = resource.destination === "style" && resource.priority !== "low";
  const urgency = isRenderBlocking ? 5 : isUrgent(resource) ? 6 : 7;
  return { urgency, incremental: false };
}

/**
 * Of a push that the page has asked for. A service worker is not told what the element says, so the phone can only go by
 * the destination; Chromium loads images of high priority with scripts, and scripts that nothing waits for with images.
 *
 * @returns null where the phone knows as much.
 */
function claimedPriorityOf(resource: NamedResource): Priority | null {
  const { destination, priority, isDeferred } = resource;
  if (priority === "low") return { urgency: 4, incremental: false };
  if (destination === "image" && priority === "high") return { urgency: 2, incremental: false };
  if (isDeferred && priority === "auto") return { urgency: 3, incremental: false };
  return null;
}

function isUrgent({ destination, priority, isDeferred }: NamedResource): boolean {
  const isWaitedFor = destination === "" || (destination === "script" && !isDeferred);
  return priority === "high" || (isWaitedFor && priority === "auto");
}

// Imports of a pushed style sheet or module: browsers ask for it when the file has come, and what is
// imported there for more. Only the beginning is read, where both have to stand or by custom do, so nothing in a comment or
// a string is taken for an import.

/** Characters: hardly any file imports so much. */
const LENGTH = 8 * 1024;
/** Chunks in which they may come: each is read with what the one before left over. */
const CHUNKS = 16;

interface Imports {
  /** As written. */
  readonly urls: readonly string[];
  /** Characters that were read: what follows is to be read again when there is more. */
  readonly read: number;
  /** Whether anything else follows: no more are to come. */
  readonly isOver: boolean;
}

/** How imports are written. What these match is found in one pass: no two parts of them may take the same white space. */
interface Notation {
  readonly space: RegExp;
  /** Groups: ways to write the address, the last what it is for. */
  readonly statement: RegExp;
  /** Text that may become an import when more of it is there. */
  readonly begun: RegExp;
}

const STYLE: Notation = {
  space: /(?:\s|\/\*[^*]*(?:\*(?!\/)[^*]*)*\*\/|@charset\s*"[^"]*"\s*;|@layer\s[^;{}"']*;)*/iy,
  statement:
    /@import\s*(?:url\(\s*(?:"([^"\\]*)"|'([^'\\]*)'|([^\s"'()\\]+))\s*\)|"([^"\\]*)"|'([^'\\]*)')([^;{}"']*);/iy,
  begun: /^(?:@[a-z]*|@(?:import|charset|layer)\b[^;{]*|\/.*)?$/is,
};

const MODULE: Notation = {
  space: /(?:\s|\/\*[^*]*(?:\*(?!\/)[^*]*)*\*\/|\/\/[^\n]*\n|;|(?:"use strict"|'use strict')\s*;?)*/y,
  statement: /(?:import|export)(?:(?=[\s{*])[^"'();]*[\s}*]from)?\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)')(?!\s*with\b)()/y,
  begun: /^(?:[a-z]*|(?:import|export)\b[^;(]*|\/.*)$/s,
};

/** Style sheets for a screen like the phone's. */
export function importsOfStyle(text: string, viewport: Viewport | undefined): Imports {
  return leadingImports(text, STYLE, (url, condition) => {
    const query = condition.replace(/^\s*layer(?:\([^)]*\))?/i, "").trim();
    if (url === "") return false;
    return /^(?:all|screen)?$/i.test(query) || (viewport !== undefined && matchesMedia(query, viewport) === true);
  });
}

/** Modules by an address, and not by a bare name. */
export function importsOfModule(text: string): Imports {
  return leadingImports(text, MODULE, (url) => /^(?:\.{0,2}\/|https?:)/.test(url));
}

function leadingImports(
  text: string,
  { space, statement, begun }: Notation,
  isWanted: (url: string, condition: string) => boolean,
): Imports {
  const urls: string[] = [];
  for (let at = 0; ; ) {
    space.lastIndex = at;
    at += space.exec(text)?.[0].length ?? 0;
    statement.lastIndex = at;
    const [whole, ...parts] = statement.exec(text) ?? [];
    if (whole === undefined) return { urls, read: at, isOver: !begun.test(text.slice(at, at + 4_000)) };
    const condition = parts.pop() ?? "";
    const url = parts.find((part) => part !== undefined) ?? "";
    if (isWanted(url, condition)) urls.push(url);
    at += whole.length;
  }
}

/**
 * Reads along in what is pushed.
 *
 * @param onImport told of each, as its file asks for it.
 * @returns null for what imports nothing that could be known.
 */
function observeImports(
  importer: NamedResource,
  viewport: Viewport | undefined,
  onImport: (resource: NamedResource) => void,
): ObserveBody | null {
  const { destination, isModule } = importer;
  if (destination !== "style" && !isModule) return null;
  const type = isModule ? /^(?:text|application)\/javascript$/i : /^text\/css$/i;
  // A nonce is that of an element, and goes on to what modules import alone.
  const by = { ...importer, isDeferred: false, nonce: isModule ? importer.nonce : "" };
  return ({ status, headers, url: base }) => {
    const found = (headerValue(headers, "content-type") ?? "").replace(/;.*$/s, "").trim();
    if (status !== 200 || !type.test(found)) return null;
    const told = new Set<string>();
    const tell = (url: string): void => {
      if (told.has(url) || !URL.canParse(url, base)) return;
      told.add(url);
      onImport({ ...by, url: new URL(url, base).href, importer: base });
    };
    const read = isModule ? importsOfModule : (text: string) => importsOfStyle(text, viewport);
    return importReader(read, tell);
  };
}

/** To be told of the bytes of a file. */
function importReader(read: (text: string) => Imports, tell: (url: string) => void) {
  const decoder = new TextDecoder();
  let [left, chunks, unread] = [LENGTH, CHUNKS, ""];
  return (chunk: Uint8Array | null): void => {
    if (chunk === null || left <= 0 || chunks <= 0) return;
    unread += decoder.decode(chunk.subarray(0, left), { stream: true });
    left -= chunk.length;
    chunks -= 1;
    const { urls, read: length, isOver } = read(unread);
    unread = unread.slice(length);
    if (isOver) left = 0;
    for (const url of urls) tell(url);
  };
}

/** Imports of a `<style>` of the document, whose addresses are relative to `base`. */
function importsOfInline(text: string, base: string, viewport: Viewport | undefined): NamedResource[] {
  const { urls } = importsOfStyle(text.slice(0, LENGTH), viewport);
  return urls
    .filter((url) => URL.canParse(url, base))
    .map((url) => ({
      ...UNNAMED,
      destination: "style",
      mode: "no-cors",
      credentials: "include",
      url: new URL(url, base).href,
    }));
}
