/**
 * Entry of the script for pages' sockets, which the tunnel loads with the first: between a page's port and a stream of the
 * session. Nothing is tried again: a socket ends with its session.
 */
import { type Clock, pause } from "../../shared/clock.ts";
import type { ClientExchange, ResponseConsumer } from "../../shared/http/exchange.ts";
import { headerValue } from "../../shared/http/head-fields.ts";
import type { RequestHead } from "../../shared/http/heads.ts";
import {
  encodeSocketClose,
  encodeSocketPart,
  GOING_AWAY,
  type SocketEvent,
  SocketRecordReader,
} from "../../shared/http/socket-records.ts";
import * as limits from "../../shared/limits.ts";
import { GatheredBytes } from "../../shared/wire/frame.ts";
import type { PortToTunnel, SlotBinding } from "../messages/port-messages.ts";
import type { PageToSocket, SocketRequest, SocketToPage } from "../messages/socket-messages.ts";

/** Open sockets of a page's origin in one window... */
const SOCKETS_PER_ORIGIN = 64;
/** ...of pages of an origin, with all that is in their frames... */
const SOCKETS_PER_PAGES = 128;
/** ...and of the window: the rest of a session's streams is for what pages load. */
const SOCKETS_PER_WINDOW = 192;
/** Milliseconds: after so long without a link, or an answer, there is no socket. Chromium's wait as long for a server. */
const OPENING_TIME = 240_000;
/** Milliseconds without a link. */
const LINK_TIME = 30_000;
/** Bytes that the page has not been shown, before no more is taken off the link. */
const UNSHOWN_BYTES = 256 * 1024;

/** As of `PortToTunnel`. */
type PagePorts = Pick<PortToTunnel & { type: "socket" }, "port" | "life">;

/** As of `SlotBinding`. */
type Asker = Pick<SlotBinding, "origin" | "topLevelOrigin">;

export interface PageSocketHost extends Pick<Clock, "setTimer"> {
  /** In the session of the moment. Rejects with why there is none. */
  open(head: RequestHead, body: ReadableStream<Uint8Array>, consumer: ResponseConsumer): Promise<ClientExchange>;
  readonly hasLink: () => boolean;
}

export class PageSockets {
  readonly #host: PageSocketHost;
  /** How many are open, by whose they are. */
  readonly #open = new Map<string, number>();

  constructor(host: PageSocketHost) {
    this.#host = host;
  }

  /**
   * @param asked by a page, which may ask for anything.
   * @param asker whose page it is, as the shell knows it.
   */
  connect(asked: PortToTunnel & { type: "socket" }, asker: Asker): void {
    const { origin, topLevelOrigin } = asker;
    const counted = [`${origin} ${topLevelOrigin}`, topLevelOrigin, ""] as const;
    const most = [SOCKETS_PER_ORIGIN, SOCKETS_PER_PAGES, SOCKETS_PER_WINDOW];
    const head = socketHead(asked, asker);
    const isTooMany = counted.some((who, at) => this.#openOf(who) >= (most[at] ?? 0));
    if (head === null || isTooMany) {
      const message = `Cannot open a socket: ${isTooMany ? "too many are open" : "its address is none"}`;
      return asked.port.postMessage({ type: "failed", message } satisfies SocketToPage);
    }
    new PageSocket(this.#host, head, asked, () => {
      for (const who of counted) this.#count(who, -1);
    });
    for (const who of counted) this.#count(who, 1);
  }

  #openOf(who: string): number {
    return this.#open.get(who) ?? 0;
  }

  #count(who: string, change: 1 | -1): void {
    const open = this.#openOf(who) + change;
    if (open === 0) this.#open.delete(who);
    else this.#open.set(who, open);
  }
}

class PageSocket {
  readonly #port: MessagePort;
  readonly #onOver: () => void;
  readonly #reader = new SocketRecordReader();
  /** Of a message of the server that is not whole. */
  #parts = new GatheredBytes();
  /** Parts of the page's messages, each with its number of the page's bytes. The last part is the page's close. */
  #leaving: { readonly part: Uint8Array; readonly bytes: number }[] = [];
  #isEnding = false;
  #wake: (() => void) | null = null;
  /** Of the part that was taken last: it has left when the next is wanted. */
  #underWay = 0;
  #unshown = 0;
  /** All chunks that came while too much is not shown wait for the same. */
  #shownMore: PromiseWithResolvers<void> | null = null;
  #exchange: ClientExchange | null = null;
  #isOpen = false;
  #isOver = false;

  constructor(host: PageSocketHost, head: RequestHead, { port, life }: PagePorts, onOver: () => void) {
    this.#port = port;
    this.#onOver = onOver;
    port.onmessage = ({ data }: MessageEvent<PageToSocket>) => this.#receive(data);
    life.onmessage = () => this.#leave();
    // Its worker is gone (HTML section 9.4.3), where a browser says so.
    port.addEventListener("close", () => this.#leave());
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => this.#pull(controller) }, { highWaterMark: 0 });
    host.open(head, body, this.#consumer()).then(
      (exchange) => {
        this.#exchange = exchange;
        if (this.#isOver) exchange.cancel();
      },
      (error: Error) => this.#fail(error.message),
    );
    void pause(host.setTimer, LINK_TIME).then(() => {
      if (!this.#isOpen && !host.hasLink()) this.#fail("Cannot open a socket: there is no link");
    });
    void pause(host.setTimer, OPENING_TIME).then(() => {
      if (!this.#isOpen) this.#fail("Cannot open a socket: nothing answers");
    });
  }

  #consumer(): ResponseConsumer {
    return {
      onHead: (head) => {
        if (head.status !== 200) return this.#fail("Cannot open a socket: the edge does not know them");
        this.#isOpen = true;
        const protocol = headerValue(head.headers, "sec-websocket-protocol") ?? "";
        this.#post({ type: "open", protocol, cookies: head.scriptCookies });
      },
      onBody: (chunk) => {
        for (const event of this.#reader.read(chunk)) this.#show(event);
        if (this.#unshown < UNSHOWN_BYTES || this.#isOver) return undefined;
        this.#shownMore ??= Promise.withResolvers();
        return this.#shownMore.promise;
      },
      onEnd: () => this.#fail("Cannot go on: the server's connection ended without a close"),
      onError: (error) => this.#fail(error.message),
    };
  }

  #show(event: SocketEvent): void {
    if (event.kind === "close") {
      this.#post({ type: "close", code: event.code, reason: event.reason });
      this.#end();
      return this.#over();
    }
    this.#parts.add(event.bytes);
    if (!event.isLast) return;
    const bytes = this.#parts.take();
    this.#unshown += bytes.length;
    this.#post({ type: "message", kind: event.kind, bytes }, [bytes.buffer]);
  }

  #receive(message: PageToSocket): void {
    if (this.#isOver || this.#isEnding) {
      if (message.type === "taken") this.#shown(message.bytes);
      return;
    }
    switch (message.type) {
      case "taken":
        return this.#shown(message.bytes);
      case "close":
        if (!this.#isOpen) return this.#leave();
        return this.#end({ code: message.code, reason: message.reason });
      case "message": {
        let left = message.bytes.length;
        for (const part of encodeSocketPart({ ...message, isLast: true })) {
          const bytes = Math.min(left, limits.socketRecordBytes);
          left -= bytes;
          this.#leaving.push({ part, bytes });
        }
        this.#wake?.();
      }
    }
  }

  #shown(bytes: number): void {
    this.#unshown -= bytes;
    if (this.#unshown >= UNSHOWN_BYTES) return;
    this.#shownMore?.resolve();
    this.#shownMore = null;
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    if (this.#underWay > 0) this.#post({ type: "taken", bytes: this.#underWay });
    this.#underWay = 0;
    while (this.#leaving.length === 0 && !this.#isEnding) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const next = this.#leaving.shift();
    if (next === undefined) return controller.close();
    this.#underWay = next.bytes;
    controller.enqueue(next.part);
  }

  /** The page's messages leave, and a close behind them. */
  #end(close?: { readonly code: number | null; readonly reason: string }): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (close !== undefined) this.#leaving.push({ part: encodeSocketClose(close), bytes: 0 });
    this.#wake?.();
  }

  #leave(): void {
    if (this.#isOver) return;
    if (!this.#isOpen) this.#exchange?.cancel();
    else this.#end({ code: GOING_AWAY, reason: "" });
    this.#over();
  }

  #fail(message: string): void {
    if (this.#isOver) return;
    this.#post({ type: "failed", message });
    this.#exchange?.cancel();
    this.#end();
    this.#over();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#shownMore?.resolve();
    this.#onOver();
  }

  #post(message: SocketToPage, transfer: Transferable[] = []): void {
    if (!this.#isOver) this.#port.postMessage(message, transfer);
  }
}

/** @returns null where it cannot be asked for. */
function socketHead({ url, protocols }: SocketRequest, { origin, topLevelOrigin }: Asker): RequestHead | null {
  // An array of holes is as long as it says.
  if (!Array.isArray(protocols) || protocols.length > limits.headFields) return null;
  if (![url, ...protocols].every((text) => typeof text === "string")) return null;
  const address = /^wss?:/i.test(url) ? URL.parse(url.replace(/^ws/i, "http")) : null;
  if (address === null || !protocols.every((name) => /^[!#$%&'*+\-.^_`|~\w]+$/.test(name))) return null;
  address.hash = "";
  return {
    method: "CONNECT",
    protocol: "websocket",
    url: address.href,
    headers: protocols.length === 0 ? [] : [["sec-websocket-protocol", protocols.join(", ")]],
    destination: "",
    mode: "cors",
    credentials: "include",
    redirect: "error",
    referrer: "",
    origin,
    topLevelOrigin,
  };
}
