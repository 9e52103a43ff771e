/**
 * `WebSocket` and `WebSocketStream` for pages and their workers: none of the browser's own would pass the service worker, so it is a port to the
 * tunnel. WHATWG WebSockets, section 3.
 */
import type { ScriptCookie } from "../../../shared/http/heads.ts";
import type { SocketPart } from "../../../shared/http/socket-records.ts";
import { isMixedContent, parseUrl } from "../../../shared/web/origin.ts";
import type { GovernedSocketRequest, PageToSocket, SocketToPage } from "../../messages/socket-messages.ts";
import { upgradesRequests } from "../policy.ts";

export interface SocketHost {
  /** Whose objects it makes: of a window, a frame, or a worker. */
  readonly realm: Pick<
    typeof globalThis,
    | "Blob"
    | "CloseEvent"
    | "DOMException"
    | "Event"
    | "EventTarget"
    | "MessageChannel"
    | "MessageEvent"
    | "Promise"
    | "ReadableStream"
    | "SecurityPolicyViolationEvent"
    | "TypeError"
    | "WritableStream"
  > & { readonly document?: Document; readonly WebSocketError?: WebSocketErrorClass };
  /** Scripts that the edge has not marked make addresses of the slot's: the real one of such a one. */
  readonly real: (url: string) => string;
  /** Real URL that relative ones resolve on at the time. */
  readonly base: () => string;
  /** Serialized real origin of the script that asks. */
  readonly origin: string;
  /** The policies that govern a script's connections at the time. */
  readonly policies: () => readonly string[];
  /** Leads the port to the tunnel. */
  readonly open: (request: GovernedSocketRequest, port: MessagePort) => void;
  /** The server has set cookies that scripts may see. */
  readonly onCookies: (cookies: readonly ScriptCookie[]) => void;
  /** A socket did not open, though the script wanted it and the page's policy allows it. */
  readonly onUnopened: () => void;
}

/** The classes that a realm gets, by name. */
interface SocketClasses {
  readonly WebSocket: typeof WebSocket;
  /** Where the browser has it. */
  readonly WebSocketStream?: WebSocketStreamClass;
}

interface CloseInfo {
  readonly closeCode?: number | null;
  readonly reason?: string;
}

interface OpenInfo {
  readonly readable: ReadableStream<string | ArrayBuffer>;
  readonly writable: WritableStream<unknown>;
  readonly extensions: string;
  readonly protocol: string;
}

interface StreamOptions {
  readonly protocols?: readonly string[];
  readonly signal?: AbortSignal;
}

type WebSocketErrorClass = new (message: string, init?: CloseInfo) => Error;

type WebSocketStreamClass = new (
  url: string | URL,
  options?: StreamOptions,
) => {
  readonly url: string;
  readonly opened: Promise<OpenInfo>;
  readonly closed: Promise<CloseInfo>;
  close(info?: CloseInfo): void;
};

const [CONNECTING, OPEN, CLOSING, CLOSED] = [0, 1, 2, 3];
const STATES = { CONNECTING, OPEN, CLOSING, CLOSED };
/** Bytes that were shown before the tunnel is told. */
const SHOWN_STEP = 32 * 1024;
/** Bytes that a `WebSocketStream` takes before they have left. */
const UNSENT_BYTES = 64 * 1024;

function parseTarget(
  url: unknown,
  policies: readonly string[],
  { real, base, origin, realm: { DOMException } }: SocketHost,
): URL {
  const parsed = parseUrl(real(String(url)), base());
  if (parsed === null) throw new DOMException(`Cannot open WebSocket: invalid URL ${url}`, "SyntaxError");
  if (parsed.protocol === "http:") parsed.protocol = "ws:";
  else if (parsed.protocol === "https:") parsed.protocol = "wss:";
  if (!/^wss?:$/.test(parsed.protocol) || parsed.href.includes("#"))
    throw new DOMException(`Cannot open WebSocket: invalid URL ${url}`, "SyntaxError");
  if (upgradesRequests(policies)) parsed.protocol = "wss:";
  // As Chromium; the standard has it fail later.
  if (isMixedContent(new URL(parsed.href.replace("ws", "http")), origin))
    throw new DOMException("Cannot open WebSocket: the page is secure", "SecurityError");
  return parsed;
}

function checkedProtocols(protocols: unknown, { DOMException }: SocketHost["realm"]): string[] {
  const isList = typeof protocols === "object" && protocols !== null && Symbol.iterator in protocols;
  const list = (isList ? [...(protocols as Iterable<unknown>)] : [protocols]).map(String);
  const names = new Set(list.map((name) => name.toLowerCase()));
  if (names.size !== list.length || !list.every((name) => /^[!#$%&'*+\-.^_`|~\w]+$/.test(name)))
    throw new DOMException("Cannot open WebSocket: invalid protocol", "SyntaxError");
  return list;
}

/** Web IDL: [Clamp] unsigned short. */
function clamped(value: unknown): number {
  const number = Math.min(Math.max(Number(value), 0), 65_535);
  const floor = Math.floor(number);
  if (number - floor === 0.5) return floor + (floor % 2);
  return Math.round(number) || 0;
}

function checkClose(
  code: unknown,
  reason: unknown,
  { DOMException }: SocketHost["realm"],
): { code: number | null; reason: string } {
  const given = code === undefined ? null : clamped(code);
  const text = reason === undefined ? "" : String(reason).toWellFormed();
  if (given !== null && given !== 1000 && !(given >= 3000 && given <= 4999))
    throw new DOMException(`Cannot close WebSocket: invalid code ${given}`, "InvalidAccessError");
  if (new TextEncoder().encode(text).length > 123)
    throw new DOMException("Cannot close WebSocket: long reason", "SyntaxError");
  return { code: given ?? (text === "" ? null : 1000), reason: text };
}

/** Objects of any window or worker count. */
const isOf = (data: unknown, ...names: readonly string[]): boolean =>
  typeof data === "object" && names.includes(Object.prototype.toString.call(data).slice(8, -1));

/** A copy of the bytes; null where the data are no buffer. */
function bytesOf(data: unknown): Uint8Array<ArrayBuffer> | null {
  if (isOf(data, "ArrayBuffer")) return new Uint8Array((data as ArrayBuffer).slice(0));
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice();
  return null;
}

/** The side of a line that its page sees. */
interface LineFace {
  onOpen(protocol: string): void;
  /** The face tells the line how many bytes the page has got. */
  onMessage(kind: SocketPart["kind"], bytes: Uint8Array<ArrayBuffer>): void;
  /** Some of the page's data has left. */
  onSent(): void;
  /** @param close null where a policy has forbidden it. */
  onEnd(close: ClosedLine | null, wasOpen: boolean): void;
}

interface ClosedLine {
  readonly wasClean: boolean;
  readonly code: number;
  readonly reason: string;
}

/** A page's socket without its face: its state, and its port to the tunnel. */
class SocketLine {
  readonly url: URL;
  state = CONNECTING;
  bufferedAmount = 0;
  readonly #host: SocketHost;
  readonly #face: LineFace;
  readonly #port: MessagePort;
  #wasOpen = false;
  #shown = 0;
  /** Data that goes out waits until a Blob that was sent before it is read. */
  #reading: Promise<void> | null = null;

  constructor(host: SocketHost, face: LineFace, url: unknown, protocols: unknown) {
    this.#host = host;
    this.#face = face;
    const connect = host.policies();
    this.url = parseTarget(url, connect, host);
    const list = checkedProtocols(protocols, host.realm);
    const { port1, port2 } = new host.realm.MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }: MessageEvent<SocketToPage>) => this.#receive(data);
    // The tunnel is gone.
    port1.addEventListener("close", () => this.#fail("the app was closed"));
    host.open({ url: this.url.href, protocols: list, connect }, port2);
  }

  send(data: unknown): void {
    if (this.state === CONNECTING)
      throw new this.#host.realm.DOMException("Cannot send on WebSocket: connecting", "InvalidStateError");
    if (isOf(data, "Blob", "File")) {
      this.bufferedAmount += (data as Blob).size;
      const read = (data as Blob).arrayBuffer();
      read.catch(() => {});
      return this.#say(async () => ({ type: "message", kind: "binary", bytes: new Uint8Array(await read) }));
    }
    const binary = bytesOf(data);
    const bytes = binary ?? new TextEncoder().encode(String(data));
    this.bufferedAmount += bytes.length;
    this.#say(() => ({ type: "message", kind: binary === null ? "text" : "binary", bytes }));
  }

  close(code: unknown, reason: unknown): void {
    const close = checkClose(code, reason, this.#host.realm);
    const { state } = this;
    if (state >= CLOSING) return;
    this.state = CLOSING;
    if (state === OPEN) return this.#say(() => ({ type: "close", ...close }), CLOSING);
    this.#post({ type: "close", ...close });
    setTimeout(() => this.#fail("it was closed"));
  }

  /** In the order in which a script said it. */
  #say(message: () => PageToSocket | Promise<PageToSocket>, state = OPEN): void {
    if (this.state !== state) return;
    if (this.#reading === null) {
      const now = message();
      if (!(now instanceof Promise)) return this.#post(now);
      this.#reading = now.then((each) => this.#post(each));
    } else this.#reading = this.#reading.then(message).then((each) => this.#post(each));
    // A Blob that cannot be read is left out.
    const last = this.#reading.catch(() => {});
    this.#reading = last;
    void last.then(() => {
      if (this.#reading === last) this.#reading = null;
    });
  }

  #post(message: PageToSocket): void {
    this.#port.postMessage(message, message.type === "message" ? [message.bytes.buffer] : []);
  }

  #receive(message: SocketToPage): void {
    if (this.state === CLOSED) return;
    switch (message.type) {
      case "open":
        if (this.state !== CONNECTING) return;
        this.#host.onCookies(message.cookies);
        this.state = OPEN;
        this.#wasOpen = true;
        return this.#face.onOpen(message.protocol);
      case "taken":
        this.bufferedAmount -= message.bytes;
        return this.#face.onSent();
      case "message":
        if (this.state === OPEN) this.#face.onMessage(message.kind, message.bytes as Uint8Array<ArrayBuffer>);
        else this.shown(message.bytes.length);
        return;
      case "close":
        return this.#end({ wasClean: true, code: message.code ?? 1005, reason: message.reason });
      case "failed":
        this.#fail(message.message, message.violated);
    }
  }

  /** The page has got so many more bytes. */
  shown(bytes: number): void {
    this.#shown += bytes;
    if (this.#shown < SHOWN_STEP || this.state === CLOSED) return;
    this.#post({ type: "taken", bytes: this.#shown });
    this.#shown = 0;
  }

  /** Content Security Policy Level 3, section 5.5; as much of it as scripts compare. */
  #tellViolation(originalPolicy: string): void {
    const { document, SecurityPolicyViolationEvent } = this.#host.realm;
    (document ?? self).dispatchEvent(
      new SecurityPolicyViolationEvent("securitypolicyviolation", {
        bubbles: true,
        documentURI: document?.URL ?? this.#host.base(),
        blockedURI: this.url.href,
        violatedDirective: "connect-src",
        effectiveDirective: "connect-src",
        originalPolicy,
        disposition: "enforce",
      }),
    );
  }

  #fail(why: string, violated?: string): void {
    if (this.state === CLOSED) return;
    if (violated !== undefined) this.#tellViolation(violated);
    else if (this.state === CONNECTING) this.#host.onUnopened();
    console.warn(`WebSocket connection to '${this.url.href}' failed: ${why}`);
    this.#end(violated === undefined ? { wasClean: false, code: 1006, reason: "" } : null);
  }

  #end(close: ClosedLine | null): void {
    this.state = CLOSED;
    this.#port.close();
    this.#face.onEnd(close, this.#wasOpen);
  }
}

const textOf = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

interface Handler {
  readonly own: unknown;
  readonly listener: (event: Event) => void;
}

/** `on…` of a prototype (HTML section 8.1.8.1): a handler has its place among the listeners from when it was set first. */
function defineHandler(prototype: EventTarget, type: string): void {
  const handlers = new WeakMap<EventTarget, Handler>();
  Object.defineProperty(prototype, `on${type}`, {
    get(this: EventTarget) {
      return handlers.get(this)?.own ?? null;
    },
    set(this: EventTarget, own: unknown) {
      const former = handlers.get(this);
      const listener =
        former?.listener ??
        ((event: Event): void => {
          const current = handlers.get(this)?.own;
          if (typeof current === "function") current.call(this, event);
        });
      const isHandler = typeof own === "function" || (typeof own === "object" && own !== null);
      if (isHandler) {
        handlers.set(this, { own, listener });
        if (former === undefined) this.addEventListener(type, listener);
      } else if (former !== undefined) {
        this.removeEventListener(type, listener);
        handlers.delete(this);
      }
    },
    configurable: true,
  });
}

export function createSockets(host: SocketHost): SocketClasses {
  // The browser's own class of errors stays: it reaches no network.
  const { WebSocketError } = host.realm;
  return {
    WebSocket: createWebSocket(host),
    ...(WebSocketError && { WebSocketStream: createWebSocketStream(host, WebSocketError) }),
  };
}

/** The state of a `WebSocket`: WHATWG WebSockets, section 3. */
class EventFace implements LineFace {
  readonly line: SocketLine;
  protocol = "";
  binaryType: BinaryType = "blob";
  readonly #realm: SocketHost["realm"];
  readonly #target: EventTarget;

  /** @param target gets the events. */
  constructor(host: SocketHost, target: EventTarget, url: unknown, protocols: unknown) {
    this.#realm = host.realm;
    this.#target = target;
    this.line = new SocketLine(host, this, url, protocols);
  }

  onOpen(protocol: string): void {
    this.protocol = protocol;
    this.#target.dispatchEvent(new this.#realm.Event("open"));
  }

  onMessage(kind: SocketPart["kind"], bytes: Uint8Array<ArrayBuffer>): void {
    const binary = this.binaryType === "blob" ? new this.#realm.Blob([bytes]) : bytes.buffer;
    const data = kind === "text" ? textOf(bytes) : binary;
    this.#target.dispatchEvent(new this.#realm.MessageEvent("message", { data, origin: this.line.url.origin }));
    this.line.shown(bytes.length);
  }

  onSent(): void {}

  onEnd(close: ClosedLine | null, wasOpen: boolean): void {
    // Chromium has no such event where a connection that was open breaks, nor one of its end where a policy has forbidden
    // it.
    if (!close?.wasClean && !wasOpen) this.#target.dispatchEvent(new this.#realm.Event("error"));
    if (close) this.#target.dispatchEvent(new this.#realm.CloseEvent("close", { ...close }));
  }
}

function createWebSocket(host: SocketHost): typeof WebSocket {
  const { EventTarget, TypeError: Refusal } = host.realm;
  class PageWebSocket extends EventTarget {
    readonly #face: EventFace;

    constructor(url: string | URL, protocols: string | readonly string[] = []) {
      super();
      // biome-ignore lint/complexity/noArguments: rest parameters would change the function's length.
      if (arguments.length === 0) throw new Refusal("Cannot open WebSocket: no URL");
      this.#face = new EventFace(host, this, url, protocols);
    }

    get url(): string {
      return this.#face.line.url.href;
    }

    get readyState(): number {
      return this.#face.line.state;
    }

    get bufferedAmount(): number {
      return this.#face.line.bufferedAmount;
    }

    get extensions(): string {
      return this.#face && "";
    }

    get protocol(): string {
      return this.#face.protocol;
    }

    get binaryType(): BinaryType {
      return this.#face.binaryType;
    }

    set binaryType(type: BinaryType) {
      if (type === "blob" || type === "arraybuffer") this.#face.binaryType = type;
    }

    send(data: unknown): void {
      // biome-ignore lint/complexity/noArguments: as in the constructor.
      if (arguments.length === 0) throw new Refusal("Cannot send on WebSocket: no data");
      this.#face.line.send(data);
    }

    close(code?: unknown, reason?: unknown): void {
      this.#face.line.close(code, reason);
    }
  }
  const { prototype } = PageWebSocket;
  for (const type of ["open", "error", "close", "message"]) defineHandler(prototype, type);
  for (const [name, value] of Object.entries(STATES))
    for (const target of [PageWebSocket, prototype]) Object.defineProperty(target, name, { value, enumerable: true });
  return asInterface("WebSocket", PageWebSocket) as unknown as typeof WebSocket;
}

/** Web IDL section 3.7: members are enumerable. */
function asInterface<Made extends { readonly prototype: object }>(name: string, made: Made): Made {
  const { prototype } = made;
  for (const member of Object.getOwnPropertyNames(prototype))
    if (member !== "constructor") Object.defineProperty(prototype, member, { enumerable: true });
  Object.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true });
  Object.defineProperty(made, "name", { value: name });
  return made;
}

/** The state of a `WebSocketStream`: WHATWG WebSockets, section 4. */
class StreamFace implements LineFace {
  readonly line: SocketLine;
  readonly opened: PromiseWithResolvers<OpenInfo>;
  readonly closed: PromiseWithResolvers<CloseInfo>;
  readonly #host: SocketHost;
  readonly #WebSocketError: WebSocketErrorClass;
  #readable: ReadableStreamDefaultController | null = null;
  #writable: WritableStreamDefaultController | null = null;
  /** Messages that nobody has read. */
  readonly #unread: { readonly kind: SocketPart["kind"]; readonly bytes: Uint8Array<ArrayBuffer> }[] = [];
  #isWanted = false;
  /** Resolves a write that waits until more data may be sent. */
  #onLeft: (() => void) | null = null;
  /** Resolves the closing of the writable side, which waits for the end. */
  #onEnd: (() => void) | null = null;

  constructor(host: SocketHost, WebSocketError: WebSocketErrorClass, url: unknown, protocols: unknown) {
    this.#host = host;
    this.#WebSocketError = WebSocketError;
    this.opened = host.realm.Promise.withResolvers();
    this.closed = host.realm.Promise.withResolvers();
    // A script that looks at only one of the two gets no unhandled rejection.
    this.opened.promise.catch(() => {});
    this.closed.promise.catch(() => {});
    this.line = new SocketLine(host, this, url, protocols);
  }

  onOpen(protocol: string): void {
    const { ReadableStream, WritableStream } = this.#host.realm;
    const end = (reason: unknown) => this.#close(reason);
    const readable = new ReadableStream({
      start: (controller) => {
        this.#readable = controller;
      },
      pull: () => {
        this.#isWanted = true;
        this.#hand();
      },
      cancel: end,
    });
    const writable = new WritableStream({
      start: (controller) => {
        this.#writable = controller;
      },
      write: (chunk) => this.#write(chunk),
      close: () => {
        end(undefined);
        return new Promise<void>((resolve) => {
          this.#onEnd = resolve;
        });
      },
      abort: end,
    });
    this.opened.resolve({ readable, writable, extensions: "", protocol });
  }

  onMessage(kind: SocketPart["kind"], bytes: Uint8Array<ArrayBuffer>): void {
    this.#unread.push({ kind, bytes });
    if (this.#isWanted) this.#hand();
  }

  onSent(): void {
    if (this.line.bufferedAmount > UNSENT_BYTES) return;
    this.#onLeft?.();
    this.#onLeft = null;
  }

  onEnd(close: ClosedLine | null): void {
    this.#onLeft?.();
    if (!close?.wasClean) {
      const errorOf = () => new this.#WebSocketError("The socket failed");
      // The constructor takes no such code.
      return this.fail(Object.defineProperty(errorOf(), "closeCode", { value: 1006 }), errorOf());
    }
    while (this.#unread.length > 0) this.#hand();
    untilCancelled(() => this.#readable?.close());
    if (this.#onEnd) this.#onEnd();
    else this.#writable?.error(new this.#host.realm.DOMException("The socket is closed", "InvalidStateError"));
    this.closed.resolve({ closeCode: close.code, reason: close.reason });
  }

  /** @param unopened why it was not opened, where that is another. */
  fail(error: unknown, unopened = error): void {
    untilCancelled(() => this.#readable?.error(error));
    this.#writable?.error(error);
    this.opened.reject(unopened);
    this.closed.reject(error);
  }

  /** The page is done with reading, or writing. */
  #close(reason: unknown): void {
    const { closeCode, reason: text } = isOf(reason, "WebSocketError") ? (reason as CloseInfo) : {};
    this.line.close(closeCode ?? undefined, text || undefined);
  }

  #write(chunk: unknown): Promise<void> | undefined {
    this.line.send(bytesOf(chunk) ?? String(chunk).toWellFormed());
    if (this.line.bufferedAmount <= UNSENT_BYTES) return undefined;
    return new Promise((resolve) => {
      this.#onLeft = resolve;
    });
  }

  #hand(): void {
    const next = this.#unread.shift();
    if (next === undefined) return;
    this.#isWanted = false;
    untilCancelled(() => this.#readable?.enqueue(next.kind === "text" ? textOf(next.bytes) : next.bytes.buffer));
    this.line.shown(next.bytes.length);
  }
}

/** A readable stream that its page has cancelled takes nothing more. */
function untilCancelled(step: () => void): void {
  try {
    step();
  } catch {}
}

function createWebSocketStream(host: SocketHost, WebSocketError: WebSocketErrorClass): WebSocketStreamClass {
  const { DOMException, TypeError: Refusal } = host.realm;
  class PageWebSocketStream {
    readonly #face: StreamFace;

    constructor(url: string | URL, options: StreamOptions = {}) {
      // biome-ignore lint/complexity/noArguments: as in the constructor of a WebSocket.
      if (arguments.length === 0) throw new Refusal("Cannot open WebSocketStream: no URL");
      const { protocols = [], signal } = options ?? {};
      this.#face = new StreamFace(host, WebSocketError, url, protocols);
      const abort = (): void => {
        if (this.#face.line.state !== CONNECTING) return;
        // As Chromium, which does not look at the signal's reason.
        this.#face.fail(new DOMException("The socket was aborted", "AbortError"));
        this.#face.line.close(undefined, undefined);
      };
      if (signal?.aborted) abort();
      else signal?.addEventListener("abort", abort);
    }

    get url(): string {
      return this.#face.line.url.href;
    }

    get opened(): Promise<OpenInfo> {
      return this.#face.opened.promise;
    }

    get closed(): Promise<CloseInfo> {
      return this.#face.closed.promise;
    }

    close({ closeCode, reason }: CloseInfo = {}): void {
      this.#face.line.close(closeCode ?? undefined, reason);
    }
  }
  return asInterface("WebSocketStream", PageWebSocketStream);
}
