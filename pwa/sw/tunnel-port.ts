import { setTimer } from "../../shared/clock.ts";
import { ErrorCode, RopewayError, toErrorCode } from "../../shared/errors.ts";
import { isIdempotent, type ResponseHead } from "../../shared/http/heads.ts";
import type { ImageNote } from "../../shared/http/phone-fields.ts";
import { unmarkedBody } from "../../shared/web/read-marks.ts";
import {
  MessageBatch,
  PORT_BATCH_TIME,
  PORT_CREDIT_BYTES,
  type PortRequestHead,
  type PortToTunnel,
  type SilentDocument,
  type SlotBinding,
  type TunnelToPort,
} from "../messages/port-messages.ts";
import type { SocketRequest } from "../messages/socket-messages.ts";
import { PortLost } from "./port-lost.ts";

/** A response whose head is there. Its body waits until one of the methods takes it. */
export interface TunnelResponse {
  readonly head: ResponseHead;
  /** Set for a navigation that began before the slot asked: the referrer that it was sent with. */
  readonly referrer?: string | undefined;
  /** Set for a picture that is not as its origin sent it. */
  readonly picture?: ImageNote | undefined;
  /** The body as the page reads it. Cancelling it cancels at the origin. */
  body(): ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Whether the body has no bytes. It is to be read then, or cancelled. */
  isEmpty(): Promise<boolean>;
  /** Tells `observer` of the body as it is read. */
  watch(observer: BodyObserver): void;
  /** Keeps it for a request for its final URL that follows. */
  hold(): void;
  /** Has the app write it into a file; null where that cannot be. `name`: as the page calls it, may be "". */
  readonly save: ((name: string) => void) | null;
  cancel(): void;
}

/** For so many milliseconds after a message the tunnel is taken to be there. */
const SURE_FOR = 100;
/** Milliseconds: the tunnel, which may be busy decoding, takes what was posted within this time, or never. */
const TAKEN_WITHIN = 1_500;
/** Milliseconds more for an answer that has come and is not heard yet: when a phone wakes up, its timers run first. */
const HEARING_TIME = 100;
/** Milliseconds of silence after which what the tunnel has taken is given up. It may be as busy as that on a slow phone. */
const GONE_AFTER = 15_000;

interface PendingExchange {
  readonly url: string;
  /** Its response is offered: a document's, or a file's. */
  readonly isOffered: boolean;
  readonly resolve: (response: TunnelResponse) => void;
  readonly reject: (error: RopewayError) => void;
  readonly upload: Upload | null;
  body: ResponseBody | null;
}

interface Upload {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly onTaken: (bytes: number) => void;
  /** Bytes. */
  sent: number;
}

/** A message that must reach the tunnel. */
interface Delivery {
  readonly message: PortToTunnel;
  /** Whether it does no harm if the tunnel does it, and another one too. */
  readonly isRepeatable: boolean;
  /** Called once. @param isTaken the tunnel has it, or may have it and it must not go twice. */
  settle(isTaken: boolean): void;
}

/**
 * The service worker's end of its slot's port: requests out, responses in, each body paced by what the page reads.
 * Lost with the worker's memory; a restarted worker asks its pages for a new port.
 */
export class TunnelPort {
  readonly binding: Promise<SlotBinding>;
  /** Names the tunnel at the other end: each window of the app has its own. Resolves with `binding`. */
  readonly tunnel: Promise<string>;
  /** Whether the tunnel knows pages' sockets, once `binding` has resolved. */
  opensSockets = false;

  #port: MessagePort;
  #savesFiles = false;
  #exchanges = new Map<number, PendingExchange>();
  #nextId = 1;
  #outgoing: (PortToTunnel | Delivery)[] = [];
  /** Messages posted with each unanswered ping, oldest first. */
  #untaken: (readonly Delivery[])[] = [];
  readonly #batch = new MessageBatch(() => this.#flush(), PORT_BATCH_TIME / 2, setTimer);
  #bound!: (message: TunnelToPort & { type: "bound" }) => void;
  #onBusy: (bodies: number) => void;
  #onSavesData: (isOn: boolean) => void;
  #lastHeard = Date.now();
  /** The tunnel drops messages whose `until` is over; an older one acts on them however late. */
  #heedsUntil = false;
  /** A silent tunnel gets nothing new; if it is heard again, it goes on with what it has. */
  #state: "open" | "silent" | "dead" = "open";
  #goneTimer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param onBusy told how many bodies are open, whenever that changes.
   * @param onSavesData told whether origins get `Save-Data: on`, before `binding` resolves and whenever that changes.
   */
  constructor(port: MessagePort, onBusy: (bodies: number) => void, onSavesData: (isOn: boolean) => void = () => {}) {
    const bound = new Promise<TunnelToPort & { type: "bound" }>((resolve) => {
      this.#bound = resolve;
    });
    this.binding = bound.then(({ binding }) => binding);
    this.tunnel = bound.then(({ tunnel }) => tunnel);
    this.#onBusy = onBusy;
    this.#onSavesData = onSavesData;
    this.#port = port;
    port.onmessage = (event: MessageEvent<readonly TunnelToPort[]>) => {
      this.#lastHeard = Date.now();
      if (this.#state === "silent") this.#state = "open";
      clearTimeout(this.#goneTimer);
      for (const message of event.data) this.#receive(message);
    };
    // HTML section 9.4.3; where a browser does not have the event, silence tells.
    port.addEventListener("close", () => this.#die());
  }

  /** Whether the tunnel answers, as far as is known: it ends with its shell's page. */
  get isOpen(): boolean {
    return this.#state === "open";
  }

  /**
   * Sends a request.
   *
   * @param body bytes, a stream, or null.
   * @param onTaken told how many bytes of a stream have left for the edge, whenever more have.
   * @returns when the response head is there. Rejects with a RopewayError; with PortLost only where the tunnel has not got
   *   the request and will not, and the body is as it was.
   */
  fetch(
    head: PortRequestHead,
    body: ArrayBuffer | ReadableStream<Uint8Array> | null,
    signal: AbortSignal,
    onTaken: (bytes: number) => void = () => {},
  ): Promise<TunnelResponse> {
    if (!this.isOpen) return Promise.reject(new PortLost());
    const id = this.#nextId++;
    const reader = body instanceof ReadableStream ? body.getReader() : null;
    const upload = reader && { reader, onTaken, sent: 0 };
    const { promise, resolve, reject } = Promise.withResolvers<TunnelResponse>();
    const isOffered = head.mode === "navigate" || head.isFile === true;
    const exchange: PendingExchange = {
      url: head.url,
      isOffered,
      resolve,
      reject,
      upload,
      body: null,
    };
    this.#exchanges.set(id, exchange);
    this.#post({
      message: { type: "request", id, head, body: upload === null ? (body as ArrayBuffer | null) : "stream" },
      isRepeatable: isIdempotent(head.method),
      settle: (isTaken) => {
        if (isTaken) return;
        this.#forget(id);
        reader?.releaseLock();
        reject(new PortLost());
      },
    });
    if (signal.aborted) this.#cancel(id);
    else signal.addEventListener("abort", () => this.#cancel(id));
    return promise;
  }

  readsPixels(): void {
    this.#post({ type: "reads-pixels" });
  }

  /** The ports are as of the message, and gone from here. */
  openSocket(request: SocketRequest, port: MessagePort, life: MessagePort): void {
    this.#post({ type: "socket", port, life, ...request });
  }

  /** @param url real, that was asked for. */
  noDocument(url: string, leadsTo?: string): void {
    this.#post({ type: "no-document", url, ...(leadsTo !== undefined && { leadsTo }) });
  }

  silentDocument(document: Omit<SilentDocument, "type">): void {
    this.#post({ type: "silent-document", ...document });
  }

  /** @returns whether the tunnel has it. */
  setScriptCookie(documentUrl: string, cookieString: string): Promise<boolean> {
    if (!this.isOpen) return Promise.resolve(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#post({
      message: { type: "script-cookie", documentUrl, cookieString },
      isRepeatable: true,
      settle: resolve,
    });
    return promise;
  }

  #receive(message: TunnelToPort): void {
    if (message.type === "bound") {
      this.#heedsUntil = message.heedsUntil === true;
      this.opensSockets = message.opensSockets === true;
      this.#savesFiles = message.savesFiles === true;
      this.#onSavesData(message.savesData === true);
      return this.#bound(message);
    }
    if (message.type === "pong") {
      for (const delivery of this.#untaken.shift() ?? []) delivery.settle(message.isLate !== true);
      return;
    }
    const exchange = this.#exchanges.get(message.id);
    if (exchange === undefined) return;
    switch (message.type) {
      case "response":
        exchange.body = new ResponseBody(
          (bytes) => this.#post({ type: "credit", id: message.id, bytes }),
          () => this.#cancel(message.id),
        );
        exchange.resolve({
          ...this.#response(message.id, exchange, exchange.body, message),
          referrer: message.referrer,
          picture: message.picture,
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
        if (exchange.upload !== null) void this.#sendUpload(message.id, exchange.upload, message.taken);
    }
  }

  #response(
    id: number,
    exchange: PendingExchange,
    body: ResponseBody,
    { head, hasMarks }: TunnelToPort & { type: "response" },
  ): TunnelResponse {
    // The tunnel sends none of its body before it has credit: the page may not want it.
    let waits = exchange.isOffered || head.url !== exchange.url;
    const take = (): ResponseBody => {
      if (waits) this.#post({ type: "credit", id, bytes: PORT_CREDIT_BYTES });
      waits = false;
      return body;
    };
    return {
      head,
      body: () => (hasMarks === true ? unmarkedBody(take().readable) : take().readable),
      isEmpty: () => take().isEmpty(),
      watch: (observer) => body.watch(observer),
      hold: () => {
        this.#forget(id);
        this.#post({ type: "hold", id });
      },
      save:
        exchange.isOffered && this.#savesFiles
          ? (name) => {
              this.#forget(id);
              this.#post({ type: "hold", id, file: name });
            }
          : null,
      cancel: () => this.#cancel(id),
    };
  }

  async #sendUpload(id: number, upload: Upload, taken = upload.sent): Promise<void> {
    upload.onTaken(taken);
    try {
      const { done, value } = await upload.reader.read();
      if (done) return this.#post({ type: "body-end", id });
      upload.sent += value.length;
      this.#post({ type: "body", id, chunk: value });
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
    exchange.upload?.reader.cancel().catch(() => {});
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

  #post(message: PortToTunnel | Delivery): void {
    this.#outgoing.push(message);
    this.#batch.want();
  }

  /** A tunnel that was silent is asked with the same message whether it is there. */
  #flush(): void {
    const outgoing = this.#outgoing.splice(0);
    const messages = outgoing.map((each) => ("settle" in each ? each.message : each));
    const deliveries = outgoing.filter((each) => "settle" in each);
    if (Date.now() - this.#lastHeard <= SURE_FOR) {
      for (const delivery of deliveries) delivery.settle(true);
    } else if (deliveries.length > 0) {
      messages.unshift({ type: "ping", until: Date.now() + TAKEN_WITHIN });
      this.#untaken.push(deliveries);
      setTimeout(() => setTimeout(() => this.#fallSilentUnlessTaken(deliveries), HEARING_TIME), TAKEN_WITHIN);
    }
    const ports = messages.flatMap((message) => (message.type === "socket" ? [message.port, message.life] : []));
    this.#port.postMessage(messages, ports);
  }

  #fallSilentUnlessTaken(deliveries: readonly Delivery[]): void {
    if (this.#state !== "open" || !this.#untaken.includes(deliveries)) return;
    this.#state = "silent";
    this.#settleUntaken(!this.#heedsUntil);
    this.#goneTimer = setTimeout(() => this.#die(), GONE_AFTER);
  }

  /** @param mayActYet whether the tunnel may be slow, and do all yet that it was sent. */
  #settleUntaken(mayActYet = false): void {
    // Their answers may still come, each in its turn.
    const untaken = this.#untaken.splice(0, Infinity, ...this.#untaken.map(() => []));
    for (const each of untaken.flat()) each.settle(mayActYet && !each.isRepeatable);
    for (const each of this.#outgoing.splice(0)) if ("settle" in each) each.settle(false);
  }

  #die(): void {
    if (this.#state === "dead") return;
    this.#state = "dead";
    clearTimeout(this.#goneTimer);
    this.#port.close();
    this.#settleUntaken();
    const error = new RopewayError(ErrorCode.LINK_LOST, "stream", "library", "Cannot go on: the app was closed");
    for (const { reject, body } of this.#exchanges.values()) {
      reject(error);
      body?.fail(error);
    }
    this.#exchanges.clear();
    this.#reportBusy();
  }
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Is told of a body as it is read. */
export interface BodyObserver {
  onChunk?(chunk: Bytes): void;
  /** Nothing more is read: all was, or it failed or was given up with this error. */
  onEnd(outcome: "end" | RopewayError): void;
}

/** A body between the port and the page: credit goes back when the page has read, in quarters of the window. */
export class ResponseBody {
  readonly readable: ReadableStream<Bytes>;
  #chunks: Bytes[] = [];
  #outcome: "end" | RopewayError | null = null;
  #wake: (() => void) | null = null;
  #owed = 0;
  #giveCredit: (bytes: number) => void;
  #observers: BodyObserver[] = [];

  /** @param cancel ends it with an error. */
  constructor(giveCredit: (bytes: number) => void, cancel: () => void) {
    this.#giveCredit = giveCredit;
    this.readable = new ReadableStream<Bytes>(
      {
        pull: (controller) => this.#pull(controller),
        cancel: () => {
          cancel();
          this.#tellEnd(this.#outcome ?? "end");
        },
      },
      { highWaterMark: 0 },
    );
  }

  watch(observer: BodyObserver): void {
    this.#observers.push(observer);
  }

  /** Resolves when its first bytes are there, or none will come. */
  async isEmpty(): Promise<boolean> {
    await this.#arrival();
    return this.#chunks.length === 0 && this.#outcome === "end";
  }

  push(chunk: Bytes): void {
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

  async #pull(controller: ReadableStreamDefaultController<Bytes>): Promise<void> {
    await this.#arrival();
    const outcome = this.#outcome;
    const chunk = outcome === null || outcome === "end" ? this.#chunks.shift() : undefined;
    if (chunk !== undefined) return this.#handOn(chunk, controller);
    if (outcome === "end") controller.close();
    else controller.error(outcome);
    this.#tellEnd(outcome ?? "end");
  }

  async #arrival(): Promise<void> {
    while (this.#chunks.length === 0 && this.#outcome === null) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #handOn(chunk: Bytes, controller: ReadableStreamDefaultController<Bytes>): void {
    for (const observer of this.#observers) observer.onChunk?.(chunk);
    this.#owed += chunk.length;
    controller.enqueue(chunk);
    if (this.#owed < PORT_CREDIT_BYTES / 4) return;
    this.#giveCredit(this.#owed);
    this.#owed = 0;
  }

  #tellEnd(outcome: "end" | RopewayError): void {
    for (const observer of this.#observers.splice(0)) observer.onEnd(outcome);
  }
}
