/**
 * `WebSocket` for pages: it checks its arguments and then fails as if the server could not be reached, which is what
 * sites have fallbacks for. Nothing of a real one would pass the service worker. WHATWG WebSockets, section 3.
 */
import { parseUrl } from "../../../shared/web/origin.ts";

type Handler = ((event: Event) => void) | null;

const CONNECTING = 0;
const OPEN = 1;
const CLOSING = 2;
const CLOSED = 3;

function parseTarget(url: string | URL, base: string): string {
  const parsed = parseUrl(String(url), base);
  if (parsed === null) throw new DOMException(`Cannot open WebSocket: invalid URL ${url}`, "SyntaxError");
  if (parsed.protocol === "http:") parsed.protocol = "ws:";
  else if (parsed.protocol === "https:") parsed.protocol = "wss:";
  if (!/^wss?:$/.test(parsed.protocol) || parsed.hash !== "" || parsed.href.endsWith("#"))
    throw new DOMException(`Cannot open WebSocket: scheme or fragment not allowed in ${url}`, "SyntaxError");
  return parsed.href;
}

function checkProtocols(protocols: string | readonly string[]): void {
  const list = (typeof protocols === "string" ? [protocols] : [...protocols]).map((name) => String(name).toLowerCase());
  if (new Set(list).size !== list.length || !list.every((name) => /^[!#$%&'*+\-.^_`|~\w]+$/.test(name)))
    throw new DOMException("Cannot open WebSocket: invalid or repeated subprotocol", "SyntaxError");
}

/** `base`: what relative URLs resolve against at the time. */
export function createFailingWebSocket(base: () => string): typeof WebSocket {
  class FailingWebSocket extends EventTarget {
    static readonly CONNECTING = CONNECTING;
    static readonly OPEN = OPEN;
    static readonly CLOSING = CLOSING;
    static readonly CLOSED = CLOSED;
    readonly CONNECTING = CONNECTING;
    readonly OPEN = OPEN;
    readonly CLOSING = CLOSING;
    readonly CLOSED = CLOSED;
    readonly url: string;
    readonly protocol = "";
    readonly extensions = "";
    readyState = CONNECTING;
    bufferedAmount = 0;
    binaryType: BinaryType = "blob";
    onopen: Handler = null;
    onmessage: Handler = null;
    onerror: Handler = null;
    onclose: Handler = null;

    constructor(url: string | URL, protocols: string | readonly string[] = []) {
      super();
      this.url = parseTarget(url, base());
      checkProtocols(protocols);
      setTimeout(() => {
        this.readyState = CLOSED;
        this.#fire(new Event("error"), this.onerror);
        this.#fire(new CloseEvent("close", { wasClean: false, code: 1006, reason: "" }), this.onclose);
      });
    }

    #fire(event: Event, handler: Handler): void {
      if (typeof handler === "function") this.addEventListener(event.type, handler, { once: true });
      this.dispatchEvent(event);
    }

    send(): void {
      if (this.readyState === CONNECTING)
        throw new DOMException("Cannot send on WebSocket: it is still connecting", "InvalidStateError");
    }

    close(code?: number, reason = ""): void {
      if (code !== undefined && code !== 1000 && !(code >= 3000 && code <= 4999))
        throw new DOMException(`Cannot close WebSocket: code ${code} is reserved`, "InvalidAccessError");
      if (new TextEncoder().encode(reason).length > 123)
        throw new DOMException("Cannot close WebSocket: reason over 123 bytes", "SyntaxError");
      if (this.readyState === CONNECTING) this.readyState = CLOSING;
    }
  }
  Object.defineProperty(FailingWebSocket, "name", { value: "WebSocket" });
  return FailingWebSocket as unknown as typeof WebSocket;
}
