/**
 * A socket to the edge that finds its road by itself: one is tried, the other beside it when the first is refused or
 * patience ends, and whichever opens first carries the link. Only a WebSocket that is still being opened gets some time
 * more, unless the edge has its answer under way on the fetch road already: on a slow link it is just slower, as the
 * fetch road may have found a connection that was there.
 *
 * ```
 *            refused, or patience ends                either opens: the other is closed
 *  one road ──────────────────────────► both roads ────────────────────────────────────► carried ─► ended
 *     └──────────────────────────────────── opens ──────────────────────────────────────────▲
 * ```
 */
import type { LinkSocket } from "../../../shared/fetch-road/fetch-socket.ts";
import { offeredProtocols, parseOffer } from "../../../shared/subprotocol.ts";
import type { Road } from "../../messages/link.ts";
import type { WebSocketFailure } from "./road.ts";

/** Platform seams, so that tests bring their own. */
export interface RoadPlatform {
  open(road: Road, url: string, protocols: string[]): LinkSocket;
  now(): number;
  /** 0 to 1. */
  random(): number;
  setTimer(task: () => void, delay: number): () => void;
  /** What the platform calls the network it is on; "" where it has no name. */
  network(): string;
  /** Milliseconds, or null where it is not known. */
  roundTrip(): number | null;
}

export interface RoadChoice {
  readonly first: Road;
  /** Milliseconds before the other road is tried beside it. */
  readonly patience: number;
  /** Whether frames may ride in a WebSocket's handshake. */
  readonly webSocketTakesOpening: boolean;
}

export interface RoadObserver {
  /** @param failure how WebSocket did not come to be, if the fetch road opened and it had its time. */
  onOpened(road: Road, failure: WebSocketFailure | null): void;
  /** It was open. @param heard whether any message came. */
  onEnded(road: Road, heard: boolean): void;
  /** @param wasAbandoned its user gave it up; else both roads are closed. */
  onNeverOpened(wasAbandoned: boolean): void;
}

/** Registered for RFC 6455 section 7.4.1: come again. Below 4000, so the session goes on. */
const COME_AGAIN = 1012;
/** RFC 6455 section 7.4.1: never sent, only reported. */
const CLOSED_ABNORMALLY = 1006;
/** Without a message either way for so long, in milliseconds, nobody waits for one. */
const QUIET_TIME = 2_000;

/** Milliseconds that an open fetch road waits for a WebSocket, and the same in multiples of its own opening. */
const GRACE = 300;
const GRACE_FACTOR = 2;

const CONNECTING = 0;
const CLOSED = 3;

export class RoadSocket implements LinkSocket {
  binaryType: BinaryType = "arraybuffer";
  onopen: LinkSocket["onopen"] = null;
  onmessage: LinkSocket["onmessage"] = null;
  onerror: LinkSocket["onerror"] = null;
  onclose: LinkSocket["onclose"] = null;

  #url: string;
  #protocols: { readonly whole: string[]; readonly bare: string[]; readonly opening: Uint8Array | null };
  #choice: RoadChoice;
  #platform: RoadPlatform;
  #observer: RoadObserver;
  #tried = new Set<Road>();
  #opening = new Map<Road, LinkSocket>();
  #carrier: { readonly road: Road; readonly socket: LinkSocket } | null = null;
  /** The fetch road is open, and waits for what becomes of the WebSocket. */
  #takeFetchRoad: (() => void) | null = null;
  #hasEnded = false;
  #heard = false;
  #lastMessage = 0;
  #cancelTimer: () => void;

  constructor(
    url: string,
    protocols: readonly string[],
    choice: RoadChoice,
    platform: RoadPlatform,
    observer: RoadObserver,
  ) {
    const { token, opening } = parseOffer(protocols.join(","));
    this.#url = url;
    this.#protocols = { whole: [...protocols], bare: offeredProtocols(token, null), opening };
    this.#choice = choice;
    this.#platform = platform;
    this.#observer = observer;
    this.#cancelTimer = platform.setTimer(() => this.#tryOther(), choice.patience);
    this.#try(choice.first);
  }

  get readyState(): LinkSocket["readyState"] {
    return this.#hasEnded ? CLOSED : (this.#carrier?.socket.readyState ?? CONNECTING);
  }

  send(data: string | Blob | BufferSource): void {
    if (this.#carrier === null) throw new DOMException("Cannot send: the socket is not open", "InvalidStateError");
    if (typeof data !== "string") this.#lastMessage = this.#platform.now();
    this.#carrier.socket.send(data);
  }

  close(code?: number, reason?: string): void {
    if (this.#carrier !== null) {
      this.#finish();
      this.#carrier.socket.close(code, reason);
      return;
    }
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#cancelTimer();
    this.#closeOpening();
    this.#observer.onNeverOpened(true);
    // As a WebSocket does: no event comes while its user calls it.
    queueMicrotask(() => this.#dispatchClose(new CloseEvent("close", { code: CLOSED_ABNORMALLY })));
  }

  /** Ends it, for its user to open another, as soon as nothing is under way. */
  endWhenQuiet(): void {
    if (this.#hasEnded || this.#carrier === null) return;
    const left = this.#lastMessage + QUIET_TIME - this.#platform.now();
    if (left > 0) {
      this.#cancelTimer = this.#platform.setTimer(() => this.endWhenQuiet(), left);
      return;
    }
    const { socket } = this.#carrier;
    socket.onmessage = socket.onclose = null;
    socket.close();
    this.#finish();
    this.#dispatchClose(new CloseEvent("close", { code: COME_AGAIN, wasClean: true }));
  }

  #tryOther(): void {
    this.#try(this.#choice.first === "fetch" ? "websocket" : "fetch");
  }

  #try(road: Road): void {
    if (this.#tried.has(road)) return;
    this.#tried.add(road);
    // Frames ride on one road at a time: they say nothing that the edge would not know from the other.
    const isAlone = this.#opening.size === 0;
    const { whole, bare, opening } = this.#protocols;
    const carriesOpening = opening !== null && isAlone && (road === "fetch" || this.#choice.webSocketTakesOpening);
    const socket = this.#platform.open(road, this.#url, carriesOpening ? whole : bare);
    socket.binaryType = "arraybuffer";
    this.#opening.set(road, socket);
    const triedAt = this.#platform.now();
    const open = (event: Event): void => {
      if (opening !== null && !carriesOpening) socket.send(opening as Uint8Array<ArrayBuffer>);
      this.#opened(road, socket, event);
    };
    socket.onopen = (event) => {
      // The edge answers an opening at once: what follows is for its session, and nobody else would hear it.
      if (road === "websocket" || carriesOpening || !this.#opening.has("websocket")) return open(event);
      const took = this.#platform.now() - triedAt;
      this.#cancelTimer();
      this.#takeFetchRoad = () => open(event);
      this.#cancelTimer = this.#platform.setTimer(this.#takeFetchRoad, GRACE + GRACE_FACTOR * took);
    };
    socket.onclose = (event) => this.#closed(road, event);
  }

  #opened(road: Road, socket: LinkSocket, event: Event): void {
    this.#cancelTimer();
    this.#takeFetchRoad = null;
    const wasConnecting = this.#opening.has("websocket");
    this.#opening.delete(road);
    this.#closeOpening();
    this.#carrier = { road, socket };
    this.#lastMessage = this.#platform.now();
    socket.onmessage = (message) => {
      this.#heard = true;
      if (typeof message.data !== "string") this.#lastMessage = this.#platform.now();
      this.onmessage?.call(this as unknown as WebSocket, message);
    };
    // A WebSocket that was tried second may just have had less time.
    const slow = this.#choice.first === "fetch" ? null : "slow";
    const failure = road === "fetch" && this.#tried.has("websocket") ? (wasConnecting ? slow : "refused") : null;
    this.#observer.onOpened(road, failure);
    this.onopen?.call(this as unknown as WebSocket, event);
  }

  #closed(road: Road, event: CloseEvent): void {
    if (this.#carrier !== null) {
      this.#finish();
      this.#dispatchClose(event);
      return;
    }
    this.#opening.delete(road);
    if (road === "fetch" && this.#takeFetchRoad !== null) {
      this.#cancelTimer();
      this.#takeFetchRoad = null;
    }
    this.#tryOther();
    if (this.#takeFetchRoad !== null) return this.#takeFetchRoad();
    if (this.#opening.size > 0) return;
    this.#hasEnded = true;
    this.#cancelTimer();
    this.#observer.onNeverOpened(false);
    this.#dispatchClose(event);
  }

  #closeOpening(): void {
    for (const socket of this.#opening.values()) {
      socket.onopen = socket.onclose = null;
      socket.close();
    }
    this.#opening.clear();
  }

  #finish(): void {
    if (this.#hasEnded || this.#carrier === null) return;
    this.#hasEnded = true;
    this.#cancelTimer();
    this.#observer.onEnded(this.#carrier.road, this.#heard);
  }

  #dispatchClose(event: CloseEvent): void {
    this.onclose?.call(this as unknown as WebSocket, event);
  }
}
