/**
 * The tunnel's end of one slot's port: stamps who asks on every request, and paces bodies by what the page has read.
 */
import { RopewayError } from "../../shared/errors.ts";
import type { ClientExchange, ResponseConsumer } from "../../shared/http/client-exchange.ts";
import type { RequestHead, ResponseHead } from "../../shared/http/heads.ts";
import { limits } from "../../shared/limits.ts";
import { EdgeRequest } from "../../shared/subprotocol.ts";
import { HeldResponse, type HeldResponses } from "./held-response.ts";
import type { PortRequestHead, PortToTunnel, TunnelToPort } from "./port-messages.ts";
import type { SlotBinding } from "./tunnel-messages.ts";

/** What a port needs of the tunnel and tells the shell. */
export interface SlotPortHost {
  request(head: RequestHead, body: ReadableStream<Uint8Array> | null, consumer: ResponseConsumer): ClientExchange;
  readonly held: HeldResponses;
  onNoDocument(url: string): void;
}

interface PortExchange {
  readonly url: string;
  readonly response: HeldResponse;
  /** Body bytes that may be posted before the page has read some. */
  credit: number;
  waiting: (() => void) | null;
  attached: boolean;
  headPosted: boolean;
  readonly upload: UploadQueue | null;
}

export class SlotPort {
  #port: MessagePort;
  #binding: SlotBinding;
  #host: SlotPortHost;
  #exchanges = new Map<number, PortExchange>();
  #outgoing: TunnelToPort[] = [];
  #transfers: Transferable[] = [];

  constructor(port: MessagePort, binding: SlotBinding, host: SlotPortHost) {
    this.#port = port;
    this.#binding = binding;
    this.#host = host;
    port.onmessage = (event: MessageEvent<readonly PortToTunnel[]>) => {
      for (const message of event.data) this.#receive(message);
    };
    this.#post({ type: "bound", binding });
  }

  #receive(message: PortToTunnel): void {
    if (message.type === "request") return this.#startRequest(message);
    if (message.type === "script-cookie") return this.#setScriptCookie(message);
    if (message.type === "no-document") {
      if (this.#binding.topLevel) this.#host.onNoDocument(message.url);
      return;
    }
    const exchange = this.#exchanges.get(message.id);
    if (exchange === undefined) return;
    switch (message.type) {
      case "body":
        exchange.upload?.push(message.chunk);
        return;
      case "body-end":
        exchange.upload?.end();
        return;
      case "credit":
        exchange.credit += message.bytes;
        if (!exchange.attached && exchange.headPosted) this.#attach(message.id, exchange);
        exchange.waiting?.();
        exchange.waiting = null;
        return;
      case "cancel":
        this.#exchanges.delete(message.id);
        exchange.response.cancel();
        return;
      case "hold": {
        this.#exchanges.delete(message.id);
        const url = exchange.response.head?.url ?? exchange.url;
        // A top-level document that moved to another origin is claimed by that origin's own top-level slot.
        const { topLevel, topLevelOrigin } = this.#binding;
        this.#host.held.hold(topLevel ? new URL(url).origin : topLevelOrigin, url, exchange.response);
      }
    }
  }

  #startRequest(message: PortToTunnel & { type: "request" }): void {
    const { id, head } = message;
    const claimed = head.method === "GET" ? this.#host.held.claim(this.#binding.topLevelOrigin, head.url) : null;
    const response = claimed ?? new HeldResponse();
    const upload = message.body === "stream" ? new UploadQueue(() => this.#post({ type: "body-wanted", id })) : null;
    this.#exchanges.set(id, {
      url: head.url,
      response,
      credit: limits.portCreditBytes,
      waiting: null,
      attached: false,
      headPosted: false,
      upload,
    });
    void response.settled.then((outcome) => this.#settled(id, head, outcome));
    if (claimed !== null) return;
    const body = message.body instanceof ArrayBuffer ? singleChunk(message.body) : (upload?.readable ?? null);
    response.setExchange(this.#host.request(this.#stamp(head), body, response));
  }

  /** The head is there. A redirected response waits until the service worker says what becomes of it. */
  #settled(id: number, head: PortRequestHead, outcome: ResponseHead | RopewayError): void {
    const exchange = this.#exchanges.get(id);
    if (exchange === undefined) return;
    if (outcome instanceof RopewayError) {
      this.#attach(id, exchange);
    } else if (outcome.url === head.url) {
      this.#attach(id, exchange);
    } else {
      exchange.credit = 0;
      exchange.headPosted = true;
      this.#post({ type: "response", id, head: outcome });
    }
  }

  #attach(id: number, exchange: PortExchange): void {
    exchange.attached = true;
    exchange.response.attach({
      onHead: (head) => {
        if (!exchange.headPosted) this.#post({ type: "response", id, head });
      },
      onBody: (chunk) => {
        exchange.credit -= chunk.length;
        // A view of a whole WebSocket message: only its own bytes may be transferred.
        const copy = chunk.slice();
        this.#post({ type: "data", id, chunk: copy }, copy.buffer);
        if (exchange.credit > 0) return undefined;
        return new Promise((resolve) => {
          exchange.waiting = resolve;
        });
      },
      onEnd: () => {
        this.#exchanges.delete(id);
        this.#post({ type: "end", id });
      },
      onError: (error) => {
        this.#exchanges.delete(id);
        this.#post({ type: "error", id, code: error.code, message: error.message });
      },
    });
  }

  #stamp(head: PortRequestHead): RequestHead {
    const { origin, topLevelOrigin } = this.#binding;
    // A navigation without referrer and body is the person's own: typed, reloaded, or from history.
    const byPerson = head.mode === "navigate" && head.referrer === "" && head.method === "GET";
    return { ...head, origin: byPerson ? null : origin, topLevelOrigin };
  }

  #setScriptCookie(message: PortToTunnel & { type: "script-cookie" }): void {
    const { origin, topLevelOrigin } = this.#binding;
    if (!URL.canParse(message.documentUrl) || new URL(message.documentUrl).origin !== origin) return;
    const head: RequestHead = {
      method: "PUT",
      url: EdgeRequest.SCRIPT_COOKIE,
      headers: [
        ["document-url", message.documentUrl],
        ["cookie-string", encodeURIComponent(message.cookieString)],
      ],
      destination: "",
      mode: "same-origin",
      credentials: "omit",
      redirect: "error",
      referrer: "",
      origin,
      topLevelOrigin,
    };
    this.#host.request(head, null, DEAF);
  }

  #post(message: TunnelToPort, transfer?: Transferable): void {
    if (transfer !== undefined) this.#transfers.push(transfer);
    this.#outgoing.push(message);
    if (this.#outgoing.length > 1) return;
    queueMicrotask(() => {
      const messages = this.#outgoing;
      const transfers = this.#transfers;
      this.#outgoing = [];
      this.#transfers = [];
      this.#port.postMessage(messages, transfers);
    });
  }
}

/** For requests whose outcome changes nothing on this side. */
const DEAF: ResponseConsumer = { onHead() {}, onBody: () => undefined, onEnd() {}, onError() {} };

/** An upload between the service worker, which sends a chunk when asked, and the stream that takes it. */
class UploadQueue {
  readonly readable: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;

  constructor(wantMore: () => void) {
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: wantMore,
        cancel: () => {
          this.#controller = null;
        },
      },
      { highWaterMark: 0 },
    );
  }

  push(chunk: Uint8Array): void {
    this.#controller?.enqueue(chunk);
  }

  end(): void {
    this.#controller?.close();
    this.#controller = null;
  }
}

function singleChunk(body: ArrayBuffer): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(body));
      controller.close();
    },
  });
}
