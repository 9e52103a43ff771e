import { BoundedMap } from "../../../shared/bounded-map.ts";
import type { Clock, SetTimer } from "../../../shared/clock.ts";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { ResponseConsumer } from "../../../shared/http/exchange.ts";
import {
  type Destination,
  type HeaderField,
  type HeaderList,
  REFERRER_POLICIES,
  type RequestHead,
  type ResponseHead,
} from "../../../shared/http/heads.ts";
import { isStoreNote, ORIGINAL, parseImageNote, READS_MARKED } from "../../../shared/http/phone-fields.ts";
import * as limits from "../../../shared/limits.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { SUFFIX_NOTE } from "../../../shared/web/cookie.ts";
import { DOCUMENT_NOTE } from "../../../shared/web/documents.ts";
import { hasNullBody, opensOtherApp, parseUrl } from "../../../shared/web/origin.ts";
import { applyReferrerPolicy, DEFAULT_POLICY } from "../../../shared/web/policies.ts";
import { concat } from "../../../shared/wire/frame.ts";
import {
  formFields,
  MessageBatch,
  PORT_BATCH_TIME,
  PORT_CREDIT_BYTES,
  type PortRequestHead,
  type PortToTunnel,
  type SilentDocument,
  type SlotBinding,
  type TunnelToPort,
} from "../../messages/port-messages.ts";
import type { DocumentNews, FrameStart, ShellToTunnel, TunnelToShell } from "../../messages/tunnel-messages.ts";
import { type Ask, DEAF, edgeRequest, type PhoneRequest } from "../exchange/exchange.ts";
import { HeldResponse, type HeldResponses, holdNavigation, holdsNavigation } from "../requests/held-responses.ts";

/** Names this tunnel: each window has one. */
const TUNNEL = crypto.randomUUID();

/** A port's ways to ask the tunnel and to tell the shell. */
export interface SlotPortHost extends Pick<Clock, "setTimer"> {
  readonly ask: Ask;
  /** Responses that `ask` answers with first. */
  readonly held: HeldResponses;
  readonly frameStarts: FrameStarts;
  readonly pageStarts: PageStarts;
  /**
   * The page's document lives on another origin: it is held for that origin's own slot.
   *
   * @param id of the navigation, as the shell has given it.
   * @param url with the fragment of the redirect that led there, if it had one.
   */
  onNavigationMoved(id: number, url: string): void;
  /** Whether a page stays where it is if its next document, of this real URL, does not come. */
  isPageKept(url: string): boolean;
  onDocumentFailed(failure: TunnelToShell & { type: "document"; kind: "failed" }): void;
  /** @param origin of the top-level slot whose navigation it was. */
  /** A navigation of this top-level slot ended without a document. @param asked for. */
  /** As of the news of kind "none". */
  onNoDocument(asked: Omit<DocumentNews & { kind: "none" }, "kind">): void;
  onSilentDocument(document: SilentDocument & { id: number | null }): void;
  /** Scripts of this origin put pictures where they can read their pixels. */
  onReadsPixels(origin: string): void;
  /** @param request a page's, which may ask for anything. */
  onSocket(request: PortToTunnel & { type: "socket" }, binding: SlotBinding): void;
  /** A page's response is a file that the app keeps. Null: the phone has no place for files. */
  readonly onFile: ((file: OfferedFile) => void) | null;
  onBrokenDocument(document: TunnelToShell & { type: "document"; kind: "broken" }): void;
  /** As of `TunnelAbilities`. */
  savesData(): boolean;
  /** Ports whose service workers are there, as far as the browser tells. */
  readonly ports: Set<SlotPort>;
}

/** A file, as it comes from its site. */
export interface OfferedFile {
  readonly response: HeldResponse;
  /** By which the site may be asked for it once more. */
  readonly request: RequestHead;
  /** As the page calls it, or "". */
  readonly name: string;
}

type StampedStart = Pick<RequestHead, "destination" | "referrer" | "origin" | "isUnasked">;

interface PortExchange {
  readonly response: HeldResponse;
  /** URL of the navigation, if the shell began it and the response was not read yet. */
  claimedUrl?: string | undefined;
  /** Its head was posted, and the service worker has not said yet what becomes of it. */
  isOffered: boolean;
  /** Real URL of a document that the slot's page or a frame of it may show, once its head is there. */
  documentUrl: string | null;
  readonly upload: UploadQueue | null;
  /** Reads in its scripts may be marked. */
  readonly takesMarks: boolean;
  /** As it went out; null of a form that is kept. */
  readonly request: RequestHead | null;
}

/**
 * The tunnel's end of one slot's port: stamps who asks on every request, and paces bodies by what the page has read.
 */
export class SlotPort {
  #binding: SlotBinding;
  #host: SlotPortHost;
  #exchanges = new Map<number, PortExchange>();
  #outbox: PortOutbox;

  constructor(port: MessagePort, binding: SlotBinding, host: SlotPortHost) {
    this.#outbox = new PortOutbox(port, host.setTimer);
    this.#binding = binding;
    this.#host = host;
    port.onmessage = (event: MessageEvent<readonly PortToTunnel[]>) => {
      const [first] = event.data;
      const isLate = first?.type === "ping" && first.until !== undefined && Date.now() > first.until;
      for (const message of event.data) this.#receive(message, isLate);
    };
    // Its service worker was ended, and nobody will read on (HTML section 9.4.3).
    port.addEventListener("close", () => this.#close());
    host.ports.add(this);
    this.introduce();
  }

  /** At first, and when that has changed. */
  introduce(): void {
    const savesData = this.#host.savesData();
    const knows = { heedsUntil: true, opensSockets: true, savesFiles: this.#host.onFile !== null };
    this.#outbox.post({ type: "bound", binding: this.#binding, tunnel: TUNNEL, ...knows, savesData });
  }

  /** @param isLate whether its service worker has given up waiting, and asks elsewhere. */
  #receive(message: PortToTunnel, isLate: boolean): void {
    if (message.type === "ping") return this.#outbox.post({ type: "pong", isLate });
    if (isLate && (message.type === "request" || message.type === "script-cookie")) return;
    if (message.type === "request") return this.#startRequest(message);
    if (message.type === "script-cookie") return this.#setScriptCookie(message);
    if (message.type === "socket") return this.#host.onSocket(message, this.#binding);
    if (message.type === "reads-pixels") return this.#host.onReadsPixels(this.#binding.origin);
    if (message.type === "no-document" || message.type === "silent-document") return this.#tellShell(message);
    const exchange = this.#exchanges.get(message.id);
    if (exchange === undefined) return;
    switch (message.type) {
      case "body":
        if (message.chunk instanceof Uint8Array) exchange.upload?.push(message.chunk);
        return;
      case "body-end":
        exchange.upload?.push(null);
        return;
      case "credit":
        if (exchange.isOffered) this.#attach(message.id, exchange, message.bytes);
        else exchange.response.grant(message.bytes);
        return;
      case "cancel":
        this.#exchanges.delete(message.id);
        exchange.response.cancel();
        return;
      case "hold": {
        this.#exchanges.delete(message.id);
        if (message.file !== undefined) return this.#save(exchange, message.file);
        // Before its head is there, nobody knows where the response comes from; once it flows, part of it is gone.
        const url = exchange.response.head?.url ?? "";
        if (exchange.isOffered && this.#isOwn(url))
          holdNavigation(this.#host.held, this.#binding.topLevelOrigin, url, exchange.response);
        else exchange.response.cancel();
      }
    }
  }

  /** A page can say it of anything that it has asked for: what it could read as well, and what its origin sends. */
  #save({ response, request, isOffered }: PortExchange, name: unknown): void {
    const url = response.head?.url ?? "";
    if (request === null || !isOffered || !this.#isOwn(url) || this.#host.onFile === null) return response.cancel();
    this.#host.onFile({ response, request: { ...request, url }, name: typeof name === "string" ? name : "" });
  }

  #tellShell(message: PortToTunnel & { type: "no-document" | "silent-document" }): void {
    const { origin, topLevel } = this.#binding;
    if (!topLevel) return;
    if (message.type === "no-document") {
      const { url, leadsTo } = message;
      if (typeof url !== "string" || !this.#isOwn(url)) return this.#host.onNoDocument({ origin });
      const { id = null, head } = this.#begunBy(url) ?? {};
      const isFile = id !== null && head != null && !hasNullBody("GET", head.status);
      const isApps = typeof leadsTo === "string" && opensOtherApp(parseUrl(leadsTo)?.protocol ?? "");
      return this.#host.onNoDocument({ origin, url, ...(isFile && { id }), ...(isApps && { leadsTo }) });
    }
    const { type, url, title, phase } = message;
    if (this.#isOwn(url) && typeof title === "string" && (phase === "loading" || phase === "loaded"))
      this.#host.onSilentDocument({ type, url, title, phase, id: this.#begunBy(url)?.id ?? null });
  }

  /** The response to the shell's navigation that leads to the document of this URL; undefined: the shell has begun none. */
  #begunBy(url: string): PortExchange["response"] | undefined {
    const [address] = url.split("#", 1);
    const responses = [...this.#exchanges.values()].map(({ response }) => response);
    return responses.find(({ id, head }) => id !== null && head?.url === address);
  }

  #startRequest(message: PortToTunnel & { type: "request" }): void {
    const { id, head } = message;
    // If the id is in use already, the former request must not be taken for the new one.
    if (this.#exchanges.has(id)) return;
    const isElsewhere = head.mode === "navigate" && !this.#isOwn(head.url);
    if (isWellFormed(head) && isElsewhere && head.method === "POST" && head.form)
      return this.#keepForm(message, head.form);
    if (!isWellFormed(head) || isElsewhere) {
      // A document of another origin belongs into another slot, where other cookies go with it.
      return this.#postError(id, ErrorCode.PROTOCOL_ERROR, "Cannot load: not of this slot's origin");
    }
    const stamped = this.#stamp(head);
    // The slot is told what its navigation was sent with, since it did not send it itself.
    const isTold = head.mode === "navigate" && stamped.referrer !== head.referrer;
    const response = new HeldResponse(isTold ? stamped.referrer : null);
    const { exchange, body } = this.#open(message, response, stamped);
    const bytes = message.body;
    const bodyAgain = bytes instanceof ArrayBuffer ? () => new Response(bytes).body : undefined;
    const isNavigation = head.mode === "navigate";
    if (isNavigation) this.#holdAgain(head.url);
    const answer = this.#host.ask({ head: stamped, body, bodyAgain, push: null, form: head.form }, response);
    response.setExchange(answer);
    const isClaimed = answer.held !== undefined;
    if (isNavigation && isClaimed && this.#binding.topLevel && !head.form) exchange.claimedUrl = head.url;
    const isDocument = isNavigation || isClaimed;
    void response.settled.then((outcome) => {
      if (this.#exchanges.get(id) === exchange) this.#settled(id, exchange, head, isDocument, outcome);
    });
  }

  /** @param onSent called when the body is gone, or not wanted. */
  #open(
    { id, body, head }: PortToTunnel & { type: "request" },
    response: HeldResponse,
    request: RequestHead | null,
    onSent = () => {},
  ) {
    const wantMore = (taken: number) => this.#outbox.post({ type: "body-wanted", id, taken });
    const upload = body === "stream" ? new UploadQueue(wantMore, onSent) : null;
    const takesMarks = head.mode === "navigate" || head.marksReads === true;
    const exchange: PortExchange = { response, isOffered: false, documentUrl: null, upload, takesMarks, request };
    this.#exchanges.set(id, exchange);
    return { exchange, body: body instanceof ArrayBuffer ? new Response(body).body : (upload?.readable ?? null) };
  }

  /** A form for another origin waits for the shell, which says in whose name it is sent. */
  #keepForm(message: PortToTunnel & { type: "request" }, name: string): void {
    const { id, head } = message;
    const end = () => {
      this.#exchanges.delete(id);
      this.#outbox.post({ type: "end", id });
    };
    const { exchange, body } = this.#open(message, new HeldResponse(), null, end);
    const { url, destination: asked, headers } = head;
    const destination = asked === "frame" ? asked : "iframe";
    this.#host.frameStarts.keep(this.#binding, name, { url, destination, headers: formFields(headers), body });
    this.#outbox.post({ type: "response", id, head: { ...KEPT, url } });
    if (exchange.upload === null) end();
  }

  /**
   * The frame is sent somewhere again while it is on its way there. The browser has dropped the navigation before, which
   * may have claimed the response first. A response that still waits is for another window that goes there, too: the shell
   * abandons a navigation before it asks for the same again. Of two windows nobody knows which was sent again.
   */
  #holdAgain(url: string): void {
    const [claim, other] = [...this.#exchanges].filter(([, { claimedUrl }]) => claimedUrl === url);
    if (claim === undefined || other !== undefined || holdsNavigation(this.#host.held, url)) return;
    const [id, { response }] = claim;
    holdNavigation(this.#host.held, new URL(url).origin, url, response);
    this.#lose(id);
  }

  /** Another navigation gets the response. */
  #lose(id: number): void {
    this.#exchanges.delete(id);
    this.#postError(id, ErrorCode.CANCEL, "Cannot go on: another navigation gets it");
  }

  /**
   * The head is there. A document, and what was redirected, waits until the service worker says what becomes of it: not
   * a byte may be on the port that whoever claims a held response would miss.
   *
   * @param isDocument a navigation, or claimed from one, whatever the port says that it asks for: no CORS check was made.
   */
  #settled(
    id: number,
    exchange: PortExchange,
    head: PortRequestHead,
    isDocument: boolean,
    outcome: ResponseHead | RopewayError,
  ): void {
    const { url, mode, isFile } = head;
    if (outcome instanceof RopewayError && this.#keepsPage(id, exchange, head, outcome)) return;
    if (outcome instanceof RopewayError || (outcome.url === url && mode !== "navigate" && !isFile)) {
      this.#attach(id, exchange, PORT_CREDIT_BYTES);
    } else if (isDocument && !this.#isOwn(outcome.url)) {
      this.#handOver(id, exchange, outcome);
    } else {
      exchange.isOffered = true;
      if (mode === "navigate" && this.#binding.topLevel) this.#noteStart(exchange, outcome.url);
      exchange.documentUrl = mode === "navigate" && this.#binding.topLevel ? outcome.url : null;
      this.#postHead(id, exchange, outcome, mode === "navigate");
    }
  }

  /**
   * The browser leaves a page where it is for a navigation that is cancelled; in place of a notice, which would be its next
   * document.
   *
   * @returns whether the page stays.
   */
  #keepsPage(id: number, exchange: PortExchange, head: PortRequestHead, { code, message }: RopewayError): boolean {
    const { url, mode, method } = head;
    if (code === ErrorCode.CANCEL || mode !== "navigate" || !this.#binding.topLevel || !this.#host.isPageKept(url))
      return false;
    this.#exchanges.delete(id);
    this.#postError(id, ErrorCode.CANCEL, message);
    // If the navigation is the shell's own, the shell has heard already.
    if (exchange.response.id === null)
      this.#host.onDocumentFailed({ type: "document", kind: "failed", url, method, code, message });
    return true;
  }

  /** @param credit body bytes that may be posted before the page has read some. */
  #attach(id: number, exchange: PortExchange, credit: number): void {
    const isHeadPosted = exchange.isOffered;
    exchange.isOffered = false;
    exchange.claimedUrl = undefined;
    const consumer: ResponseConsumer = {
      onHead: (head) => {
        if (!isHeadPosted) this.#postHead(id, exchange, head);
      },
      onBody: (chunk) => {
        this.#outbox.postData(id, chunk);
        return undefined;
      },
      onEnd: () => {
        this.#exchanges.delete(id);
        this.#outbox.post({ type: "end", id });
      },
      onError: ({ code, message }) => {
        this.#exchanges.delete(id);
        this.#postError(id, code, message);
        const url = exchange.documentUrl;
        const { id: navigation } = exchange.response;
        if (url !== null)
          this.#host.onBrokenDocument({ type: "document", kind: "broken", url, id: navigation, code, message });
      },
    };
    exchange.response.attach(consumer, credit);
  }

  /** @param url of the document, after redirects. A navigation of the shell's is noted already. */
  #noteStart({ request, response }: PortExchange, url: string): void {
    if (request === null || response.id !== null) return;
    const isOwn = request.origin === this.#binding.origin;
    this.#host.pageStarts.note(isOwn ? { ...request, origin: null } : request, url);
  }

  #close(): void {
    this.#host.ports.delete(this);
    for (const { response, upload } of this.#exchanges.values()) {
      response.cancel();
      upload?.breakOff();
    }
    this.#exchanges.clear();
  }

  #postHead(
    id: number,
    { response: { referrer }, takesMarks }: PortExchange,
    head: ResponseHead,
    isDocument = false,
  ): void {
    const { resumption: _, ...told } = head;
    const isForPage = ([name]: HeaderField) => isDocument && (name === DOCUMENT_NOTE || name === SUFFIX_NOTE);
    const headers = head.headers.filter((field) => !isStoreNote(field) || isForPage(field));
    const picture = parseImageNote(head.headers);
    const hasMarks = !takesMarks && head.headers.some(([name]) => name === READS_MARKED[0]);
    this.#outbox.post({
      type: "response",
      id,
      head: { ...told, headers },
      ...(referrer === null ? {} : { referrer }),
      ...(picture === null ? {} : { picture }),
      ...(hasMarks ? { hasMarks } : {}),
    });
  }

  /** The shell began the navigation, and it was redirected to another origin: not a byte of it is for this slot. */
  #handOver(id: number, exchange: PortExchange, { url, fragment }: ResponseHead): void {
    const { response } = exchange;
    holdNavigation(this.#host.held, new URL(url).origin, url, response);
    this.#lose(id);
    const navigation = response.id;
    if (navigation !== null) this.#host.onNavigationMoved(navigation, url + (fragment ?? ""));
  }

  #postError(id: number, code: ErrorCode, message: string): void {
    this.#outbox.post({ type: "error", id, code, message });
  }

  #isOwn(url: string): boolean {
    const { origin, protocol } = URL.parse(url) ?? {};
    return origin === this.#binding.origin && protocol !== "blob:";
  }

  /**
   * The page and its service worker can put anything on the port, so they do not decide about
   * cookies: the tunnel says which origin asks, whether for a document, and where a document may be redirected to.
   */
  #stamp(asked: PortRequestHead): RequestHead {
    const { origin, topLevelOrigin, topLevel } = this.#binding;
    const head = ofPage(asked);
    if (head.mode === "navigate") {
      return {
        ...head,
        ...(topLevel ? this.#pageStart(head) : this.#frameStart(head)),
        credentials: "include",
        redirect: "same-origin",
        topLevelOrigin,
      };
    }
    return {
      ...head,
      destination: DOCUMENTS.has(head.destination) ? "" : head.destination,
      referrer: this.#isOwn(head.referrer) ? head.referrer : "",
      ...policyOf(asked),
      origin,
      topLevelOrigin,
      ...(asked.marksReads === true ? { marksReads: true } : {}),
      ...(asked.wantsOriginal === true ? { images: ORIGINAL } : {}),
      // The stored copy of a picture may be smaller.
      ...(asked.wantsOriginal === true && head.destination === "image" ? { cache: "reload" } : {}),
    };
  }

  #pageStart({ url, referrer, method }: PortRequestHead): StampedStart {
    const destination = "document";
    if (referrer !== "" || method !== "GET")
      return { destination, referrer: this.#isOwn(referrer) ? referrer : "", origin: this.#binding.origin };
    // The shell has sent the frame there, or it is loaded again: from history, or reloaded.
    return { destination, ...(this.#host.pageStarts.find(url) ?? BY_PERSON) };
  }

  /** A frame's own document takes it elsewhere, or the document around the frame has sent it there. */
  #frameStart({ url, referrer, method, destination: asked }: PortRequestHead): StampedStart {
    const { origin, topLevelOrigin } = this.#binding;
    const destination = asked === "frame" ? asked : "iframe";
    if (this.#isOwn(referrer)) return { destination, referrer, origin };
    if (method !== "GET") return { destination, referrer: "", origin };
    const start = this.#host.frameStarts.find(this.#binding, url);
    return { destination, referrer: start?.referrer ?? "", origin: start?.initiator ?? topLevelOrigin };
  }

  #setScriptCookie(message: PortToTunnel & { type: "script-cookie" }): void {
    const { origin, topLevelOrigin } = this.#binding;
    if (!URL.canParse(message.documentUrl) || new URL(message.documentUrl).origin !== origin) return;
    const head = edgeRequest({
      method: "PUT",
      url: EdgeRequest.SCRIPT_COOKIE,
      headers: [
        ["document-url", message.documentUrl],
        ["cookie-string", encodeURIComponent(message.cookieString)],
      ],
      origin,
      topLevelOrigin,
    });
    this.#host.ask({ head, body: null, push: null }, DEAF);
  }
}

/**
 * Whether a head says nothing but what a page may ask: no message to the edge itself, no field that stands for another
 * part of the head (PROTOCOL.md section 5), and nothing that only becomes a string when it is sent.
 */
function isWellFormed(head: PortRequestHead): boolean {
  const { method, url, destination, mode, credentials, redirect, referrer, headers } = head;
  const words: readonly unknown[] = [method, url, destination, mode, credentials, redirect, referrer];
  if (!words.every((word) => typeof word === "string") || !["string", "undefined"].includes(typeof head.cache))
    return false;
  const protocol = URL.parse(url)?.protocol;
  // A body of holes is as long as it says.
  const areFew = Array.isArray(headers) && headers.length <= limits.headFields;
  return (protocol === "http:" || protocol === "https:") && areFew && headers.every(isField);
}

/**
 * The parts of a head that a page may set, and no more. The rest is the tunnel's: a page that could name a stored body would
 * see by the size of the answer whether that body is stored.
 */
function ofPage({ method, url, headers, destination, mode, credentials, redirect, referrer, cache }: PortRequestHead) {
  const head = { method, url, headers, destination, mode, credentials, redirect, referrer };
  return cache === undefined ? head : { ...head, cache };
}

/** The default one goes without saying. */
function policyOf(asked: PortRequestHead): Pick<RequestHead, "referrerPolicy"> {
  const policy = REFERRER_POLICIES.find((each) => each !== DEFAULT_POLICY && each === asked.referrerPolicy);
  return policy === undefined ? {} : { referrerPolicy: policy };
}

function isField(field: unknown): boolean {
  if (!Array.isArray(field)) return false;
  const [name, value] = field as readonly unknown[];
  return typeof name === "string" && !name.startsWith(":") && typeof value === "string";
}

const DOCUMENTS: ReadonlySet<Destination> = new Set(["document", "iframe", "frame"]);

/** Says that the body of a form is kept. */
const KEPT: Omit<ResponseHead, "url"> = {
  status: 202,
  headers: [],
  redirected: false,
  coding: "identity",
  scriptCookies: [],
};

/**
 * Chunks of an upload that are asked for ahead. There and back a message takes some 10 ms, more than the link needs for a
 * chunk: one at a time, 50 MB took 8 s at least.
 */
const CHUNKS_AHEAD = 8;

/** An upload between the service worker, which sends a chunk when asked, and the stream that takes it. */
class UploadQueue {
  readonly readable: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  readonly #onOver: () => void;
  /** Null: the end. */
  readonly #chunks: (Uint8Array | null)[] = [];
  #taken = 0;
  #isHungry = false;

  /** @param onOver called at its end. */
  constructor(wantMore: (taken: number) => void, onOver: () => void) {
    this.#onOver = onOver;
    let wanted = CHUNKS_AHEAD;
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          for (; wanted > 0; wanted -= 1) wantMore(this.#taken);
          wanted = 1;
          this.#isHungry = true;
          this.#feed();
        },
        cancel: () => this.#over(),
      },
      { highWaterMark: 0 },
    );
  }

  /** @param chunk null at the end. */
  push(chunk: Uint8Array | null): void {
    this.#chunks.push(chunk);
    this.#feed();
  }

  /** Nobody is left to send the rest. */
  breakOff(): void {
    this.#controller?.error(new Error("Cannot read the body: its service worker was ended"));
    this.#controller = null;
  }

  #feed(): void {
    if (!this.#isHungry || this.#controller === null) return;
    const chunk = this.#chunks.shift();
    if (chunk) {
      this.#isHungry = false;
      this.#taken += chunk.length;
      this.#controller.enqueue(chunk);
    } else if (chunk === null) {
      this.#controller.close();
      this.#over();
    }
  }

  #over(): void {
    if (this.#controller !== null) this.#onOver();
    this.#controller = null;
  }
}

/** Bytes: body bytes to a service worker that are worth a message of their own at once. */
export const PORT_BATCH_BYTES = 128 * 1024;

type DataMessage = TunnelToPort & { readonly type: "data" };

/** Bytes of one stream that are posted as one message. */
interface GatheredData {
  readonly id: number;
  readonly chunks: Uint8Array[];
}

/**
 * Messages that a slot's port still has to post. A message costs the browser about a millisecond of work on both sides however
 * little is in it, since the service worker lives in another process: bodies that come in packets of a slow link would
 * take more time there than on the link. So messages within a few milliseconds are posted together, the first at once.
 */
export class PortOutbox {
  readonly #port: Pick<MessagePort, "postMessage">;
  #entries: (Exclude<TunnelToPort, DataMessage> | GatheredData)[] = [];
  /** By stream, the newest entry, if that is data: more is added to it. */
  #growing = new Map<number, GatheredData>();
  #bytes = 0;
  readonly #batch: MessageBatch;

  constructor(port: Pick<MessagePort, "postMessage">, setTimer: SetTimer) {
    this.#port = port;
    this.#batch = new MessageBatch(() => this.#flush(), PORT_BATCH_TIME, setTimer);
  }

  post(message: Exclude<TunnelToPort, DataMessage>): void {
    this.#entries.push(message);
    if ("id" in message) this.#growing.delete(message.id);
    this.#batch.want();
  }

  /** @param chunk may be a view of a larger buffer; nobody else writes into that. */
  postData(id: number, chunk: Uint8Array): void {
    let data = this.#growing.get(id);
    if (data === undefined) {
      data = { id, chunks: [] };
      this.#growing.set(id, data);
      this.#entries.push(data);
    }
    data.chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#batch.want(this.#bytes >= PORT_BATCH_BYTES);
  }

  #flush(): void {
    const entries = this.#entries;
    this.#entries = [];
    this.#growing.clear();
    this.#bytes = 0;
    const transfers: Transferable[] = [];
    const messages = entries.map((entry): TunnelToPort => {
      if (!("chunks" in entry)) return entry;
      const chunk = ownBytes(entry.chunks);
      transfers.push(chunk.buffer);
      return { type: "data", id: entry.id, chunk };
    });
    this.#port.postMessage(messages, transfers);
  }
}

/** The chunks as one, in a buffer of their own that may be transferred. */
function ownBytes(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined && isAloneInMessage(first)) return first as Uint8Array<ArrayBuffer>;
  return concat(...chunks) as Uint8Array<ArrayBuffer>;
}

/**
 * Whether nothing else of the WebSocket message that the chunk is a view of matters, so that its whole buffer may be
 * transferred. Before it lies its own header alone: no other frame with a body fits there.
 */
function isAloneInMessage(chunk: Uint8Array): boolean {
  const longestHeader = 1 + 4 + 4;
  const reachesEnd = chunk.byteOffset + chunk.byteLength === chunk.buffer.byteLength;
  return reachesEnd && chunk.byteOffset <= longestHeader && chunk.byteLength > 16_384;
}

type FrameSlot = Pick<SlotBinding, "origin" | "topLevelOrigin">;

/** A page's form that goes to another origin, in a frame. The form goes out once. */
interface FrameForm extends Pick<RequestHead, "url" | "destination"> {
  readonly headers: HeaderList;
  readonly body: PhoneRequest["body"];
}

/** A reload is sent as the first request was, so starts are kept; of old ones the referrer is lost. */
const STARTS_KEPT = 256;
/** Forms in pages of an origin whose frames have no slot yet, and such origins. Each holds a body of up to 1 MB. */
const FORMS_KEPT = 8;
const ORIGINS_KEPT = 4;

/**
 * Starts of frames of other origins: the sender, the URL and the form. The slot that such a frame goes to cannot say them of
 * itself, and the slot that the frame is in could say anything: so the shell says them, before the frame sets out.
 */
export class FrameStarts {
  readonly #starts = new BoundedMap<string, FrameStart>(STARTS_KEPT);
  /** By top-level origin: a page that sends many drops none of another's. */
  readonly #forms = new BoundedMap<string, BoundedMap<string, FrameForm>>(ORIGINS_KEPT);

  /** @param url real, without a fragment. */
  add(slot: FrameSlot, url: string, start: FrameStart): void {
    this.#starts.set(keyOf(slot, url), start);
  }

  find(slot: FrameSlot, url: string): FrameStart | null {
    return this.#starts.get(keyOf(slot, url)) ?? null;
  }

  /** @param from the slot that the form is in. */
  keep(from: FrameSlot, name: string, form: FrameForm): void {
    const forms = this.#forms.get(from.topLevelOrigin) ?? new BoundedMap<string, FrameForm>(FORMS_KEPT);
    forms.set(keyOf(from, name), form);
    this.#forms.set(from.topLevelOrigin, forms);
  }

  /** @returns the form that sends the frame there, once; null where there is none. */
  takeForm({ url, form }: Pick<ShellToTunnel & { type: "frame-starts" }, "url" | "form">): FrameForm | null {
    if (form === undefined) return null;
    const forms = this.#forms.get(form.from.topLevelOrigin);
    const key = keyOf(form.from, form.name);
    const kept = forms?.get(key);
    if (kept?.url !== url) return null;
    forms?.delete(key);
    return kept;
  }
}

type PageStart = Pick<RequestHead, "referrer" | "origin" | "isUnasked">;

const BY_PERSON: PageStart = { referrer: "", origin: null };

/**
 * Starts of pages that other pages have led to. A document that is loaded again, from history or by a reload, is asked for as
 * at first (RFC 6265bis section 5.2). Otherwise a page could lead back to another site's page, and that site would get the
 * cookies of the person's own visits.
 */
export class PageStarts {
  /** By real URL without a fragment; of a long one by its beginning. */
  readonly #starts = new BoundedMap<string, PageStart>(PAGE_STARTS_KEPT);

  /** A navigation to the URL begins, or a redirect of it has led there. */
  note({ referrer, origin, isUnasked }: RequestHead, url: string, isRedirected = false): void {
    if (origin === null) return this.forget(url);
    const told = isRedirected ? applyReferrerPolicy("", referrer, url) : referrer;
    this.#starts.set(shortened(url), { referrer: told, origin, ...(isUnasked === true ? { isUnasked } : {}) });
  }

  /** A page goes there itself, within its slot. */
  forget(url: string): void {
    this.#starts.delete(shortened(url));
  }

  find(url: string): PageStart | null {
    return this.#starts.get(shortened(url)) ?? null;
  }
}

/** To have a start forgotten, a page has to lead the person to as many other URLs. */
const PAGE_STARTS_KEPT = 4_096;

function shortened(url: string): string {
  return url.length <= 1_000 ? url : `${url.slice(0, 1_000)} ${url.length}`;
}

function keyOf({ origin, topLevelOrigin }: FrameSlot, name: string): string {
  return `${topLevelOrigin} ${origin} ${name}`;
}
