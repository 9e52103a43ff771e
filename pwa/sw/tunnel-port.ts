/**
 * The service worker's end of its slot's port: requests out, responses in, each body paced by what the page reads.
 * Lost with the worker's memory; a restarted worker asks its pages for a new port.
 */
import { ErrorCode, RopewayError, toErrorCode } from "../../shared/errors.ts";
import type { ResponseHead } from "../../shared/http/heads.ts";
import { limits } from "../../shared/limits.ts";
import { MessageBatch } from "../messages/message-batch.ts";
import type { PortRequestHead, PortToTunnel, SilentDocument, TunnelToPort } from "../messages/port-messages.ts";
import type { SlotBinding } from "../messages/tunnel-messages.ts";

/** A response whose head is there. Exactly one of the methods decides what becomes of it. */
export interface TunnelResponse {
  readonly head: ResponseHead;
  /** Of a navigation that began ahead of the slot's request: what it was sent with. */
  readonly referrer?: string | undefined;
  /** The body as the page reads it. Cancelling it cancels at the origin. */
  body(): ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Keeps it for a request for its final URL that follows. */
  hold(): void;
  cancel(): void;
}

/** Milliseconds after a message in which the tunnel is taken to be there. */
const SURE_FOR = 100;
/** The answer comes from a worker on this device, which may be busy decoding. */
const ANSWER_TIMEOUT = 1_500;
/** More, for an answer that is there and not yet heard: after a standstill, as of a phone that slept, timers come first. */
const HEARING_TIME = 100;

interface PendingExchange {
  readonly url: string;
  readonly isNavigation: boolean;
  readonly resolve: (response: TunnelResponse) => void;
  readonly reject: (error: RopewayError) => void;
  readonly upload: ReadableStreamDefaultReader<Uint8Array> | null;
  body: ResponseBody | null;
}

export class TunnelPort {
  readonly binding: Promise<SlotBinding>;
  /** Names the tunnel at the other end: each window of the app has its own. Resolves with `binding`. */
  readonly tunnel: Promise<string>;

  #port: MessagePort;
  #exchanges = new Map<number, PendingExchange>();
  #nextId = 1;
  #outgoing: PortToTunnel[] = [];
  readonly #batch = new MessageBatch(
    () => this.#port.postMessage(this.#outgoing.splice(0)),
    limits.portBatchTime / 2,
    (task, delay) => setTimeout(task, delay),
  );
  #bound!: (message: TunnelToPort & { type: "bound" }) => void;
  #onBusy: (bodies: number) => void;
  #lastHeard = Date.now();
  #onHeard: (() => void) | null = null;
  #asking: Promise<void> | null = null;
  #isDead = false;

  /** @param onBusy told how many bodies are open, whenever that changes. */
  constructor(port: MessagePort, onBusy: (bodies: number) => void) {
    const bound = new Promise<TunnelToPort & { type: "bound" }>((resolve) => {
      this.#bound = resolve;
    });
    this.binding = bound.then(({ binding }) => binding);
    this.tunnel = bound.then(({ tunnel }) => tunnel);
    this.#onBusy = onBusy;
    this.#port = port;
    port.onmessage = (event: MessageEvent<readonly TunnelToPort[]>) => {
      this.#lastHeard = Date.now();
      this.#onHeard?.();
      for (const message of event.data) this.#receive(message);
    };
    // HTML section 9.4.3; where a browser does not have the event, isAlive finds out.
    port.addEventListener("close", () => this.#die());
  }

  /** Whether the tunnel still answers: it ends with its shell's page. */
  async isAlive(): Promise<boolean> {
    if (!this.#isDead && Date.now() - this.#lastHeard > SURE_FOR) {
      // Requests come in bursts: one question for all.
      this.#asking ??= this.#ask();
      await this.#asking;
    }
    return !this.#isDead;
  }

  async #ask(): Promise<void> {
    this.#post({ type: "ping" });
    const heard = await new Promise<boolean>((resolve) => {
      this.#onHeard = () => resolve(true);
      setTimeout(() => setTimeout(() => resolve(false), HEARING_TIME), ANSWER_TIMEOUT);
    });
    this.#onHeard = null;
    this.#asking = null;
    if (!heard) this.#die();
  }

  #die(): void {
    this.#isDead = true;
    this.#port.close();
    const error = new RopewayError(ErrorCode.LINK_LOST, "stream", "library", "Cannot go on: the app was closed");
    for (const exchange of this.#exchanges.values()) {
      exchange.reject(error);
      exchange.body?.fail(error);
    }
    this.#exchanges.clear();
    this.#reportBusy();
  }

  /**
   * Sends a request.
   *
   * @param body bytes, a stream, or null.
   * @returns when the response head is there. Rejects with a RopewayError.
   */
  fetch(
    head: PortRequestHead,
    body: ArrayBuffer | ReadableStream<Uint8Array> | null,
    signal: AbortSignal,
  ): Promise<TunnelResponse> {
    const id = this.#nextId++;
    const upload = body instanceof ReadableStream ? body.getReader() : null;
    this.#post({ type: "request", id, head, body: upload === null ? (body as ArrayBuffer | null) : "stream" });
    return new Promise((resolve, reject) => {
      const isNavigation = head.mode === "navigate";
      this.#exchanges.set(id, { url: head.url, isNavigation, resolve, reject, upload, body: null });
      if (this.#isDead) this.#die();
      else if (signal.aborted) this.#cancel(id);
      else signal.addEventListener("abort", () => this.#cancel(id));
    });
  }

  noDocument(): void {
    this.#post({ type: "no-document" });
  }

  silentDocument(document: Omit<SilentDocument, "type">): void {
    this.#post({ type: "silent-document", ...document });
  }

  setScriptCookie(documentUrl: string, cookieString: string): void {
    this.#post({ type: "script-cookie", documentUrl, cookieString });
  }

  #receive(message: TunnelToPort): void {
    if (message.type === "bound") return this.#bound(message);
    if (message.type === "pong") return;
    const exchange = this.#exchanges.get(message.id);
    if (exchange === undefined) return;
    switch (message.type) {
      case "response":
        exchange.body = new ResponseBody(
          (bytes) => this.#post({ type: "credit", id: message.id, bytes }),
          () => this.#cancel(message.id),
        );
        exchange.resolve({
          ...this.#response(message.id, exchange, exchange.body, message.head),
          referrer: message.referrer,
        });
        this.#reportBusy();
        return;
      case "data":
        exchange.body?.push(message.chunk as Uint8Array<ArrayBuffer>);
        return;
      case "end":
        exchange.body?.end();
        this.#forget(message.id);
        return;
      case "error": {
        const error = new RopewayError(toErrorCode(message.code), "stream", "origin", message.message);
        if (exchange.body === null) exchange.reject(error);
        else exchange.body.fail(error);
        this.#forget(message.id);
        return;
      }
      case "body-wanted":
        void this.#sendUpload(message.id, exchange);
    }
  }

  #response(id: number, exchange: PendingExchange, body: ResponseBody, head: ResponseHead): TunnelResponse {
    return {
      head,
      body: () => {
        const waits = exchange.isNavigation || head.url !== exchange.url;
        if (waits) this.#post({ type: "credit", id, bytes: limits.portCreditBytes });
        return body.readable;
      },
      hold: () => {
        this.#forget(id);
        this.#post({ type: "hold", id });
      },
      cancel: () => this.#cancel(id),
    };
  }

  async #sendUpload(id: number, exchange: PendingExchange): Promise<void> {
    if (exchange.upload === null) return;
    try {
      const { done, value } = await exchange.upload.read();
      if (done) this.#post({ type: "body-end", id });
      else this.#post({ type: "body", id, chunk: value });
    } catch {
      this.#cancel(id);
    }
  }

  #cancel(id: number): void {
    const exchange = this.#exchanges.get(id);
    if (exchange === undefined) return;
    this.#forget(id);
    this.#post({ type: "cancel", id });
    const error = new RopewayError(ErrorCode.CANCEL, "stream", "user", "Cannot go on: the page cancelled the request");
    exchange.reject(error);
    exchange.body?.fail(error);
    exchange.upload?.cancel().catch(() => {});
  }

  #forget(id: number): void {
    this.#exchanges.delete(id);
    this.#reportBusy();
  }

  #reportBusy(): void {
    let open = 0;
    for (const exchange of this.#exchanges.values()) if (exchange.body !== null) open += 1;
    this.#onBusy(open);
  }

  #post(message: PortToTunnel): void {
    this.#outgoing.push(message);
    this.#batch.want();
  }
}

/** A body between the port and the page: credit goes back when the page has read, in quarters of the window. */
class ResponseBody {
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  #chunks: Uint8Array<ArrayBuffer>[] = [];
  #outcome: "end" | RopewayError | null = null;
  #wake: (() => void) | null = null;
  #owed = 0;
  #giveCredit: (bytes: number) => void;

  constructor(giveCredit: (bytes: number) => void, cancel: () => void) {
    this.#giveCredit = giveCredit;
    this.readable = new ReadableStream<Uint8Array<ArrayBuffer>>(
      { pull: (controller) => this.#pull(controller), cancel },
      { highWaterMark: 0 },
    );
  }

  push(chunk: Uint8Array<ArrayBuffer>): void {
    this.#chunks.push(chunk);
    this.#wake?.();
  }

  end(): void {
    this.#outcome ??= "end";
    this.#wake?.();
  }

  fail(error: RopewayError): void {
    this.#outcome = error;
    this.#wake?.();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Promise<void> {
    while (this.#chunks.length === 0 && this.#outcome === null) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const chunk = this.#chunks.shift();
    if (this.#outcome !== null && this.#outcome !== "end") controller.error(this.#outcome);
    else if (chunk === undefined) controller.close();
    else {
      this.#owed += chunk.length;
      controller.enqueue(chunk);
      if (this.#owed < limits.portCreditBytes / 4) return;
      this.#giveCredit(this.#owed);
      this.#owed = 0;
    }
  }
}
