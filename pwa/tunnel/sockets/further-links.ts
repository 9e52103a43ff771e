/**
 * The WebSockets of a session's channels beyond the first (PROTOCOL.md section 4.5): opens those that are wanted, closes
 * in an orderly way those that are not, opens those of lost channels again. Which are wanted, its owner says, again and
 * again; the first channel's is `Link`'s. A browser has one handshake at a time with one address: theirs wait for its.
 *
 * ```
 *          update            opens              update, idle                the edge closes
 *  none ──────────► opening ───────► open ─────────────────────► closing ────────────────► none
 *    ▲                 └─ timeout, refused ─┴─ lost ─┐              │ lost, timeout
 *    └───────────────── back-off ◄───────────────────┴──────────────┘
 * ```
 *
 * The edge closes, since a browser drops what arrives after it was told to close a socket itself.
 */
import type { LinkSocket } from "../../../shared/fetch-road/fetch-socket.ts";
import { limits } from "../../../shared/limits.ts";
import { CLOSED_NORMALLY, END_OF_LINK, offeredProtocols } from "../../../shared/subprotocol.ts";
import type { Transport } from "../../../shared/transport.ts";
import { attemptTime, expectedHandshake } from "../requests/attempt-time.ts";
import { LinkWatch } from "./link-watch.ts";
import { CLOSED_ABNORMALLY, HANDSHAKE_ROUND_TRIPS, sendProbe, socketTransport } from "./open-socket.ts";
import type { RttEstimator } from "./rtt-estimator.ts";

export interface FurtherLinksHandler {
  /** The channel's transport, open. */
  onTransport(index: number, transport: Transport): void;
  onMessage(transport: Transport, message: Uint8Array): void;
  /**
   * The transport is gone, if there was one. `code` is the WebSocket close code.
   *
   * @param isConfirmed its end was asked for here, and both sides have got all that was sent before.
   */
  onClose(index: number, transport: Transport, code: number, isConfirmed: boolean): void;
  /** Something could be tried again. */
  onRetry(): void;
  /**
   * Whether a stream is on the channel, or the edge was not heard on it yet: it may have put pieces there that are lost if
   * the channel is begun anew.
   */
  isBusy(index: number): boolean;
  /** Whether requests wait for the edge: what answers them may come on any channel. */
  isAwaiting(): boolean;
  /** As LinkHandler.uploadDelay. */
  uploadDelay(): number;
}

export interface FurtherLinksPlatform {
  /** @returns null where it is of no use: a road that is no WebSocket has all sockets in one connection. */
  openFurtherSocket(url: string, protocols: string[]): LinkSocket | null;
  now(): number;
  setTimer(task: () => void, delay: number): () => void;
}

/** Milliseconds before a socket that worked is opened again. */
const REOPEN_DELAY = 100;
/** Milliseconds before the first retry of one that did not; doubled by each failure in a row. */
const FIRST_RETRY_DELAY = 500;
/** A handshake that is younger, in milliseconds, goes on when the first channel's socket opens. */
const FRESH_HANDSHAKE = 1_000;
/** How long the edge has at least to close a socket, in milliseconds. */
const CLOSING_TIME = 5_000;

interface FurtherLink {
  readonly index: number;
  readonly socket: LinkSocket;
  /** Null until it is open. */
  transport: Transport | null;
  readonly startedAt: number;
  isClosing: boolean;
  /** Whether anything came on it. */
  wasHeard: boolean;
  watch: LinkWatch | null;
  cancelTimer: () => void;
}

export class FurtherLinks {
  readonly traffic = { opened: 0, keepAliveBytesUp: 0, keepAliveBytesDown: 0 };

  #handler: FurtherLinksHandler;
  #platform: FurtherLinksPlatform;
  #rtt: RttEstimator;
  #target: { readonly url: string; readonly token: string } | null = null;
  /** Milliseconds that one takes, null before the first. */
  #handshake: number | null = null;
  #links = new Map<number, FurtherLink>();
  /** Channels whose sockets failed in a row, how often, and whether it is too early for the next. */
  #failures = new Map<number, { readonly count: number; isWaiting: boolean; readonly cancel: () => void }>();

  constructor(handler: FurtherLinksHandler, platform: FurtherLinksPlatform, rtt: RttEstimator) {
    this.#handler = handler;
    this.#platform = platform;
    this.#rtt = rtt;
  }

  /** Sockets that are open. */
  get openCount(): number {
    return [...this.#links.values()].filter(({ watch }) => watch !== null).length;
  }

  start(url: string, token: string): void {
    this.#target = { url, token };
    this.drop();
  }

  /**
   * @param count channels that pay, the first included.
   * @param lost channels whose sockets were lost: wanted or not, they cannot be retired without.
   * @param isReachable whether any may be opened: the first channel's socket is open.
   * @param onClosing a channel's socket is about to be closed in an orderly way.
   */
  update(count: number, lost: ReadonlySet<number>, isReachable: boolean, onClosing: (index: number) => void): void {
    for (let index = 1; index < limits.channels; index += 1) {
      const link = this.#links.get(index);
      if (link === undefined) {
        if (isReachable && (index < count || lost.has(index))) this.#open(index);
      } else if (index >= count && link.watch !== null && !link.isClosing && !this.#handler.isBusy(index)) {
        onClosing(index);
        this.#closeOrderly(link);
      }
    }
  }

  /** A request went out. */
  awaiting(): void {
    for (const { watch, isClosing } of this.#links.values()) if (!isClosing) watch?.awaiting();
  }

  /** The network may have changed: asks at once which of them live. */
  check(): void {
    for (const { watch, isClosing } of this.#links.values()) if (!isClosing) watch?.check();
  }

  /**
   * The edge can be reached: what failed before may be tried now, and handshakes that began long before are given up for
   * others.
   *
   * @param time milliseconds that one took just now.
   */
  reachable(time: number): void {
    this.#forgetFailures();
    const patience = Math.max(FRESH_HANDSHAKE, 2 * time);
    for (const link of [...this.#links.values()]) {
      const isOld = link.watch === null && this.#platform.now() - link.startedAt > patience;
      if (isOld) this.#end(link, CLOSED_ABNORMALLY, false);
    }
  }

  /** The first channel's socket is lost: handshakes that are under way would keep the browser's one from it. */
  giveWay(): void {
    for (const link of [...this.#links.values()]) if (link.watch === null) this.#end(link, CLOSED_ABNORMALLY, false);
  }

  /** All are given up. */
  drop(): void {
    this.#forgetFailures();
    for (const link of [...this.#links.values()]) this.#end(link, CLOSED_ABNORMALLY, false);
  }

  #forgetFailures(): void {
    for (const { cancel } of this.#failures.values()) cancel();
    this.#failures.clear();
  }

  #open(index: number): void {
    const target = this.#target;
    if (target === null || this.#failures.get(index)?.isWaiting) return;
    const socket = this.#platform.openFurtherSocket(target.url, offeredProtocols(target.token, null));
    if (socket === null) return;
    socket.binaryType = "arraybuffer";
    const link: FurtherLink = {
      index,
      socket,
      transport: null,
      startedAt: this.#platform.now(),
      isClosing: false,
      wasHeard: false,
      watch: null,
      cancelTimer: this.#platform.setTimer(
        () => this.#fail(link, CLOSED_ABNORMALLY),
        attemptTime(this.#expectedHandshake, this.#failures.get(index)?.count ?? 0),
      ),
    };
    this.#links.set(index, link);
    socket.onopen = () => this.#opened(link);
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      const isAnswer = typeof event.data === "string";
      link.wasHeard = true;
      if (!link.isClosing) link.watch?.heard(isAnswer);
      if (isAnswer) this.traffic.keepAliveBytesDown += (event.data as string).length;
      else if (link.transport !== null)
        this.#handler.onMessage(link.transport, new Uint8Array(event.data as ArrayBuffer));
    };
    socket.onclose = ({ code, wasClean }) => {
      if (link.isClosing && wasClean && code === CLOSED_NORMALLY) this.#end(link, code, true);
      else this.#fail(link, code);
    };
  }

  get #expectedHandshake(): number | null {
    const { smoothed } = this.#rtt;
    return this.#handshake ?? (smoothed === null ? null : HANDSHAKE_ROUND_TRIPS * smoothed);
  }

  #opened(link: FurtherLink): void {
    const { index, socket } = link;
    link.cancelTimer();
    this.traffic.opened += 1;
    const platform = this.#platform;
    this.#handshake = expectedHandshake(this.#handshake, platform.now() - link.startedAt);
    link.watch = new LinkWatch(
      {
        sendProbe: () => sendProbe(socket, this.traffic),
        onStall: () => {},
        onDead: () => this.#fail(link, CLOSED_ABNORMALLY),
        isAwaiting: () => this.#handler.isAwaiting(),
        uploadDelay: () => this.#handler.uploadDelay(),
      },
      platform,
      this.#rtt,
    );
    link.transport = socketTransport(socket, (code) => this.#end(link, code, false));
    this.#handler.onTransport(index, link.transport);
  }

  #closeOrderly(link: FurtherLink): void {
    link.isClosing = true;
    link.watch?.stop();
    link.socket.send(END_OF_LINK);
    link.cancelTimer = this.#platform.setTimer(
      () => this.#fail(link, CLOSED_ABNORMALLY),
      this.#rtt.timeout(CLOSING_TIME, limits.probeTimeoutMax),
    );
  }

  /** Nobody asked for its end: the next is opened, but less and less often. */
  #fail(link: FurtherLink, code: number): void {
    if (this.#links.get(link.index) !== link) return;
    this.#retryLater(link.index, link.wasHeard && !link.isClosing);
    this.#end(link, code, false);
  }

  /** @param worked whether the last one did. */
  #retryLater(index: number, worked: boolean): void {
    const known = this.#failures.get(index);
    known?.cancel();
    const count = worked ? 0 : (known?.count ?? 0) + 1;
    const delay = worked ? REOPEN_DELAY : Math.min(limits.reconnectDelayMax, FIRST_RETRY_DELAY * 2 ** (count - 1));
    const cancel = this.#platform.setTimer(() => {
      failure.isWaiting = false;
      this.#handler.onRetry();
    }, delay);
    const failure = { count, isWaiting: true, cancel };
    this.#failures.set(index, failure);
  }

  #end(link: FurtherLink, code: number, isConfirmed: boolean): void {
    const { index, socket, transport, watch } = link;
    if (this.#links.get(index) !== link) return;
    this.#links.delete(index);
    link.cancelTimer();
    watch?.stop();
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    if (transport !== null) this.#handler.onClose(index, transport, code, isConfirmed);
  }
}
