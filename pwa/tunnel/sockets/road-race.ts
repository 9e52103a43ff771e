/**
 * A socket to the edge that finds its road by itself: one is tried, the other beside it when the first is refused or
 * patience ends, and whichever opens first carries it. Only a WebSocket that is still being opened gets some time more,
 * unless the edge has its answer under way on the fetch road already: on a slow link it is just slower, as the fetch
 * road may have found a connection that was there.
 *
 * ```
 *            refused, or patience ends                either opens: the other is closed
 *  one road ──────────────────────────► both roads ────────────────────────────────────► carried ─► ended
 *     └──────────────────────────────────── opens ──────────────────────────────────────────▲
 * ```
 */
import type { Clock } from "../../../shared/clock.ts";
import type { PhoneSocket, SocketListener, SocketOffer } from "../../../shared/phone-socket.ts";
import type { Road } from "../../messages/link.ts";
import type { WebSocketFailure } from "./road.ts";

/** Platform seams, so that tests bring their own. */
export interface RoadPlatform extends Clock {
  dial(road: Road, offer: SocketOffer, listener: SocketListener): PhoneSocket;
  /** 0 to 1. */
  random(): number;
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

export interface RoadListener extends Omit<SocketListener, "onOpen"> {
  /** @param failure how WebSocket did not come to be, if the fetch road opened and it had its time. */
  onOpen(road: Road, failure: WebSocketFailure | null): void;
  /** It was open. @param heard whether any message came. */
  onEnded(road: Road, heard: boolean): void;
  /** @param wasAbandoned its user gave it up; else both roads are closed. */
  onNeverOpened(wasAbandoned: boolean): void;
}

type State =
  /** `takeFetchRoad`: the fetch road is open, and waits for what becomes of the WebSocket. */
  | { readonly kind: "racing"; readonly sockets: Map<Road, PhoneSocket>; takeFetchRoad: (() => void) | null }
  | { readonly kind: "carried"; readonly road: Road; readonly socket: PhoneSocket; heard: boolean; lastMessage: number }
  | { readonly kind: "ended" };

/** Registered for RFC 6455 section 7.4.1: come again. Below 4000, so the session goes on. */
const COME_AGAIN = 1012;
/** Without a message either way for so long, in milliseconds, nobody waits for one. */
const QUIET_TIME = 2_000;

/** Milliseconds that an open fetch road waits for a WebSocket, and the same in multiples of its own opening. */
const GRACE = 300;
const GRACE_FACTOR = 2;

export class RoadRace implements PhoneSocket {
  #offer: SocketOffer;
  #choice: RoadChoice;
  #platform: RoadPlatform;
  #listener: RoadListener;
  #tried = new Set<Road>();
  #state: State = { kind: "racing", sockets: new Map(), takeFetchRoad: null };
  #cancelTimer: () => void;

  constructor(offer: SocketOffer, choice: RoadChoice, platform: RoadPlatform, listener: RoadListener) {
    this.#offer = offer;
    this.#choice = choice;
    this.#platform = platform;
    this.#listener = listener;
    this.#cancelTimer = platform.setTimer(() => this.#tryOther(), choice.patience);
    this.#try(choice.first);
  }

  send(message: Uint8Array | string): boolean {
    const state = this.#state;
    if (state.kind !== "carried") return false;
    if (typeof message !== "string") state.lastMessage = this.#platform.now();
    return state.socket.send(message);
  }

  close(code?: number, reason?: string): void {
    const state = this.#state;
    this.#end();
    if (state.kind === "carried") state.socket.close(code, reason);
    else if (state.kind === "racing") this.#listener.onNeverOpened(true);
  }

  /** Ends it, for its user to open another, as soon as nothing is under way. */
  endWhenQuiet(): void {
    const state = this.#state;
    if (state.kind !== "carried") return;
    const left = state.lastMessage + QUIET_TIME - this.#platform.now();
    if (left > 0) {
      this.#cancelTimer = this.#platform.setTimer(() => this.endWhenQuiet(), left);
      return;
    }
    this.close();
    this.#listener.onClose(COME_AGAIN, true);
  }

  #tryOther(): void {
    this.#try(this.#choice.first === "fetch" ? "websocket" : "fetch");
  }

  #try(road: Road): void {
    const state = this.#state;
    if (state.kind !== "racing" || this.#tried.has(road)) return;
    this.#tried.add(road);
    const { opening } = this.#offer;
    // Frames ride on one road at a time: they say nothing that the edge would not know from the other.
    const isAlone = state.sockets.size === 0;
    const carriesOpening = opening !== null && isAlone && (road === "fetch" || this.#choice.webSocketTakesOpening);
    const triedAt = this.#platform.now();
    const take = (): void => {
      if (opening !== null && !carriesOpening) socket.send(opening);
      this.#take(road, socket);
    };
    const socket = this.#platform.dial(road, carriesOpening ? this.#offer : { ...this.#offer, opening: null }, {
      onOpen: () => {
        // The edge answers an opening at once: what follows is for its session, and nobody else would hear it.
        if (road === "websocket" || carriesOpening || !state.sockets.has("websocket")) return take();
        const took = this.#platform.now() - triedAt;
        this.#cancelTimer();
        state.takeFetchRoad = take;
        this.#cancelTimer = this.#platform.setTimer(take, GRACE + GRACE_FACTOR * took);
      },
      onMessage: (message) => this.#receive(message),
      onClose: (code, isClean) => this.#closed(road, code, isClean),
    });
    state.sockets.set(road, socket);
  }

  /** It has opened, and carries all from now on. */
  #take(road: Road, socket: PhoneSocket): void {
    const state = this.#state;
    if (state.kind !== "racing") return;
    state.sockets.delete(road);
    const wasConnecting = state.sockets.has("websocket");
    this.#end();
    this.#state = { kind: "carried", road, socket, heard: false, lastMessage: this.#platform.now() };
    // A WebSocket that was tried second may just have had less time.
    const slow = this.#choice.first === "fetch" ? null : "slow";
    const failure = road === "fetch" && this.#tried.has("websocket") ? (wasConnecting ? slow : "refused") : null;
    this.#listener.onOpen(road, failure);
  }

  #receive(message: Uint8Array | string): void {
    const state = this.#state;
    if (state.kind !== "carried") return;
    state.heard = true;
    if (typeof message !== "string") state.lastMessage = this.#platform.now();
    this.#listener.onMessage(message);
  }

  #closed(road: Road, code: number, isClean: boolean): void {
    const state = this.#state;
    if (state.kind === "racing") {
      state.sockets.delete(road);
      if (road === "fetch" && state.takeFetchRoad !== null) {
        this.#cancelTimer();
        state.takeFetchRoad = null;
      }
      this.#tryOther();
      if (state.takeFetchRoad !== null) return state.takeFetchRoad();
      if (state.sockets.size > 0) return;
      this.#listener.onNeverOpened(false);
    }
    this.#end();
    this.#listener.onClose(code, isClean);
  }

  /** Gives up what is still being opened. */
  #end(): void {
    const state = this.#state;
    this.#state = { kind: "ended" };
    this.#cancelTimer();
    if (state.kind === "carried") this.#listener.onEnded(state.road, state.heard);
    else if (state.kind === "racing") for (const socket of state.sockets.values()) socket.close();
  }
}
