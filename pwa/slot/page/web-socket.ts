/**
 * `WebSocket` for pages and their workers: none of the browser's own would pass the service worker, so it is a port to the
 * tunnel. WHATWG WebSockets, section 3.
 */
import type { ScriptCookie } from "../../../shared/http/heads.ts";
import { isMixedContent, parseUrl } from "../../../shared/web/origin.ts";
import type { GovernedSocketRequest, PageToSocket, SocketToPage } from "../../messages/socket-messages.ts";

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
    | "SecurityPolicyViolationEvent"
    | "TypeError"
  > & { readonly document?: Document };
  /** Real URL that relative ones resolve on at the time. */
  readonly base: () => string;
  /** Serialized real origin of who asks. */
  readonly origin: string;
  /** Those that govern what a script connects to at the time. */
  readonly policies: () => readonly string[];
  /** Leads the port to the tunnel. */
  readonly open: (request: GovernedSocketRequest, port: MessagePort) => void;
  /** The server has set cookies that scripts may see. */
  readonly onCookies: (cookies: readonly ScriptCookie[]) => void;
}

export type CreateWebSocket = (host: SocketHost) => typeof WebSocket;

const [CONNECTING, OPEN, CLOSING, CLOSED] = [0, 1, 2, 3];
const STATES = { CONNECTING, OPEN, CLOSING, CLOSED };
/** Bytes that were shown before the tunnel is told. */
const SHOWN_STEP = 32 * 1024;

function parseTarget(
  url: unknown,
  policies: readonly string[],
  { base, origin, realm: { DOMException } }: SocketHost,
): URL {
  const parsed = parseUrl(String(url), base());
  if (parsed === null) throw new DOMException(`Cannot open WebSocket: invalid URL ${url}`, "SyntaxError");
  if (parsed.protocol === "http:") parsed.protocol = "ws:";
  else if (parsed.protocol === "https:") parsed.protocol = "wss:";
  if (!/^wss?:$/.test(parsed.protocol) || parsed.href.includes("#"))
    throw new DOMException(`Cannot open WebSocket: invalid URL ${url}`, "SyntaxError");
  if (policies.some((policy) => /(^|;)\s*upgrade-i/i.test(policy))) parsed.protocol = "wss:";
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

/** Of whatever window or worker it is. */
const isOf = (data: unknown, ...names: readonly string[]): boolean =>
  typeof data === "object" && names.includes(Object.prototype.toString.call(data).slice(8, -1));

/** Bytes as they are now; null for what is none. */
function bytesOf(data: unknown): Uint8Array<ArrayBuffer> | null {
  if (isOf(data, "ArrayBuffer")) return new Uint8Array((data as ArrayBuffer).slice(0));
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice();
  return null;
}

/** What is behind a `WebSocket`: its state, and its port to the tunnel. */
class SocketLine {
  readonly url: URL;
  state = CONNECTING;
  protocol = "";
  bufferedAmount = 0;
  binaryType: BinaryType = "blob";
  readonly #host: SocketHost;
  readonly #target: EventTarget;
  readonly #port: MessagePort;
  #wasOpen = false;
  #shown = 0;
  /** What goes out waits for a Blob that was sent before it to be read. */
  #reading: Promise<void> | null = null;

  /** @param target gets the events. */
  constructor(host: SocketHost, target: EventTarget, url: unknown, protocols: unknown) {
    this.#host = host;
    this.#target = target;
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
        this.protocol = message.protocol;
        this.state = OPEN;
        this.#wasOpen = true;
        this.#target.dispatchEvent(new this.#host.realm.Event("open"));
        return;
      case "sent":
        this.bufferedAmount -= message.bytes;
        return;
      case "message":
        return this.#show(message);
      case "closed":
        return this.#end({ wasClean: true, code: message.code ?? 1005, reason: message.reason }, false);
      case "failed":
        this.#fail(message.message, message.violated);
    }
  }

  #show({ kind, bytes }: SocketToPage & { type: "message" }): void {
    const { Blob, MessageEvent } = this.#host.realm;
    this.#shown += bytes.length;
    if (this.state === OPEN) {
      const binary = this.binaryType === "blob" ? new Blob([bytes]) : bytes.buffer;
      const data = kind === "text" ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) : binary;
      this.#target.dispatchEvent(new MessageEvent("message", { data, origin: this.url.origin }));
    }
    if (this.#shown < SHOWN_STEP) return;
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
    console.warn(`WebSocket connection to '${this.url.href}' failed: ${why}`);
    // Chromium has no such event where a connection that was open breaks.
    // Nor one of its end where a policy has forbidden it.
    this.#end(violated === undefined && { wasClean: false, code: 1006, reason: "" }, !this.#wasOpen);
  }

  #end(close: CloseEventInit | false, isError: boolean): void {
    const { CloseEvent, Event } = this.#host.realm;
    this.state = CLOSED;
    this.#port.close();
    if (isError) this.#target.dispatchEvent(new Event("error"));
    if (close) this.#target.dispatchEvent(new CloseEvent("close", close));
  }
}

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

export function createWebSocket(host: SocketHost): typeof WebSocket {
  const { EventTarget, TypeError: Refusal } = host.realm;
  class PageWebSocket extends EventTarget {
    readonly #line: SocketLine;

    constructor(url: string | URL, protocols: string | readonly string[] = []) {
      super();
      // biome-ignore lint/complexity/noArguments: rest parameters would change the function's length.
      if (arguments.length === 0) throw new Refusal("Cannot open WebSocket: no URL");
      this.#line = new SocketLine(host, this, url, protocols);
    }

    get url(): string {
      return this.#line.url.href;
    }

    get readyState(): number {
      return this.#line.state;
    }

    get bufferedAmount(): number {
      return this.#line.bufferedAmount;
    }

    get extensions(): string {
      return this.#line && "";
    }

    get protocol(): string {
      return this.#line.protocol;
    }

    get binaryType(): BinaryType {
      return this.#line.binaryType;
    }

    set binaryType(type: BinaryType) {
      if (type === "blob" || type === "arraybuffer") this.#line.binaryType = type;
    }

    send(data: unknown): void {
      // biome-ignore lint/complexity/noArguments: as in the constructor.
      if (arguments.length === 0) throw new Refusal("Cannot send on WebSocket: no data");
      this.#line.send(data);
    }

    close(code?: unknown, reason?: unknown): void {
      this.#line.close(code, reason);
    }
  }
  return asInterface(PageWebSocket);
}

/** Web IDL section 3.7: members are enumerable, and constants are what they are. */
function asInterface(made: { readonly prototype: EventTarget }): typeof WebSocket {
  const { prototype } = made;
  for (const type of ["open", "error", "close", "message"]) defineHandler(prototype, type);
  for (const name of Object.getOwnPropertyNames(prototype))
    if (name !== "constructor") Object.defineProperty(prototype, name, { enumerable: true });
  for (const [name, value] of Object.entries(STATES))
    for (const target of [made, prototype]) Object.defineProperty(target, name, { value, enumerable: true });
  Object.defineProperty(prototype, Symbol.toStringTag, { value: "WebSocket", configurable: true });
  Object.defineProperty(made, "name", { value: "WebSocket" });
  return made as unknown as typeof WebSocket;
}
