import { BoundedMap } from "../../../shared/bounded-map.ts";
import type { Clock } from "../../../shared/clock.ts";
import * as limits from "../../../shared/limits.ts";
import type { PhoneSocket, SocketListener, SocketOffer } from "../../../shared/phone-socket.ts";
import type { Road } from "../../messages/tunnel-messages.ts";
import { HANDSHAKE_ROUND_TRIPS, SOCKET_OPEN_TIMEOUT, SocketContext, SocketKeeper } from "./socket-keeper.ts";

// Chooses the link's road: WebSocket, unless this network is known not to let it through. Pure; time and chance are
// passed in. `roads.ts` acts on it.

/**
 * How a WebSocket did not come to be: turned down while the fetch road opened; not open yet when the fetch road was;
 * or open, and nothing ever came.
 */
type WebSocketFailure = "refused" | "slow" | "mute";

interface NetworkRecord {
  /** When WebSocket is to be tried again. */
  readonly retryAt: number;
  readonly failures: number;
}

/** The WebSocket may have been on its way, or the edge just not back yet. */
const FIRST_RETRY_TIME = 30_000;
/** Edges restart too, so one alone says little. */
const MUTE_BEFORE_FAILED = 2;
/** Beyond this a slow link is a dead one, and the fetch road needs time too. */
const PATIENCE_MAX = 10_000;
const NETWORKS = 16;

/**
 * How long one road is tried alone, in milliseconds: a link whose handshake takes long is slow, not blocked.
 *
 * @param roundTrip of this network, or null.
 * @param opening how long it took the last time, or null.
 */
export function patience(roundTrip: number | null, opening: number | null): number {
  const expected = Math.max((roundTrip ?? 0) * HANDSHAKE_ROUND_TRIPS, (opening ?? 0) * 1.5);
  return Math.min(PATIENCE_MAX, Math.max(limits.webSocketPatience, expected));
}

/** The roads' record of networks in this sitting, by the platform's names for them. */
export class RoadMemory {
  #blocked = new BoundedMap<string, NetworkRecord>(NETWORKS);
  #mute = 0;

  /** The road to try first. The other is tried beside it once patience ends. */
  first(network: string): Road {
    return this.#blocked.has(network) ? "fetch" : "websocket";
  }

  /** When to try WebSocket beside a fetch road that works, or null where nothing speaks against WebSocket. */
  retryAt(network: string): number | null {
    return this.#blocked.get(network)?.retryAt ?? null;
  }

  webSocketWorked(network: string): void {
    this.#blocked.delete(network);
  }

  webSocketHeard(): void {
    this.#mute = 0;
  }

  /** @param random 0 to 1: phones behind one proxy do not come back all at once. */
  webSocketFailed(network: string, failure: WebSocketFailure, now: number, random: number): void {
    if (failure === "mute") {
      this.#mute += 1;
      if (this.#mute < MUTE_BEFORE_FAILED) return;
      this.#mute = 0;
    }
    const failures = (this.#blocked.get(network)?.failures ?? 0) + 1;
    const time = failure !== "mute" && failures === 1 ? FIRST_RETRY_TIME : limits.webSocketRetryTime;
    this.#blocked.set(network, { retryAt: now + time * (1 + random / 5), failures });
  }

  /** The road that was chosen for want of WebSocket leads nowhere either: WebSocket has the first turn again. */
  fetchFailed(network: string): void {
    this.#blocked.delete(network);
  }

  /** The network changed, though its name may be the former. */
  networkChanged(network: string, now: number): void {
    const record = this.#blocked.get(network);
    if (record !== undefined) this.#blocked.set(network, { retryAt: now, failures: 0 });
  }
}

/** Platform seams, so that tests bring their own. */
interface RoadPlatform extends Clock {
  dial(road: Road, offer: SocketOffer, listener: SocketListener): PhoneSocket;
  /** 0 to 1. */
  random(): number;
  /** The platform's name for its network; "" where there is none. */
  network(): string;
  /** Milliseconds, or null where it is not known. */
  roundTrip(): number | null;
}

interface RoadChoice {
  readonly first: Road;
  /** Milliseconds before the other road is tried beside it. */
  readonly patience: number;
  /** Whether frames may ride in a WebSocket's handshake. */
  readonly webSocketTakesOpening: boolean;
}

interface RoadListener extends Omit<SocketListener, "onOpen"> {
  /** @param failure how WebSocket did not come to be, if the fetch road opened and it had its time. */
  onOpen(road: Road, failure: WebSocketFailure | null): void;
  /** An open socket has ended. @param heard whether any message came. */
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

/** Until a fetch is answered: with QUIC and TLS in one, or on a connection that was about to be there. */
const FETCH_ROUND_TRIPS = 2;

/** Milliseconds that an open fetch road waits for a WebSocket, and the same in multiples of its own opening. */
const GRACE = 300;
const GRACE_FACTOR = 2;

/**
 * A socket to the edge that finds its road by itself: one is tried, the other beside it when the first is refused or
 * patience ends, and the road that opens first carries it. Only a WebSocket that is still being opened gets some time more,
 * unless the edge has its answer under way on the fetch road already: on a slow link it is just slower, as the fetch
 * road may have found a connection that was there.
 *
 * ```
 *            refused, or patience ends                either opens: the other is closed
 *  one road ──────────────────────────► both roads ────────────────────────────────────► carried ─► ended
 *     └──────────────────────────────────── opens ──────────────────────────────────────────▲
 * ```
 */
class RoadRace implements PhoneSocket {
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

  get roundTrips(): number {
    return this.#state.kind === "carried" && this.#state.road === "fetch" ? FETCH_ROUND_TRIPS : HANDSHAKE_ROUND_TRIPS;
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
        // The edge answers an opening at once: its frames are for that session, and no other socket would hear them.
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

  /** The road has opened, and carries all from now on. */
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

/**
 * Milliseconds for which a link stays on the fetch road that was only the quicker one to open: the first page has loaded
 * by then, mostly. Its requests go over the WebSockets of further channels meanwhile, where there are some.
 */
const FLIGHT_TIME = 5_000;

/** Where WebSocket worked before, one of so many attempts in a row finds out whether only WebSocket is blocked. */
const LONE_ATTEMPTS = 3;

/**
 * All sockets of one phone, over WebSocket or the fetch road, and what is learnt from them of the networks they use. On
 * the fetch road WebSocket is tried again now and then, and the link moves over to it in a quiet moment.
 */
export class Roads {
  /** Road of the socket that opened last; null before the first. */
  current: Road | null = null;

  #platform: RoadPlatform;
  #memory = new RoadMemory();
  /** Milliseconds. */
  #lastOpening: number | null = null;
  /** Attempts in a row that were given up before either road opened. */
  #abandoned = 0;
  /** Where WebSocket opened last, and nothing was heard of a change since. */
  #worksOn: string | null = null;
  /** The next socket begins on the fetch road, with a WebSocket beside it. */
  #fliesFirst = false;
  /** Some proxies refuse a handshake only for the length of its fields. */
  #webSocketTakesOpening = true;
  /** Tries WebSocket beside `#carrier`, with a socket that says nothing: the edge hears of no session by it. */
  #trial: SocketKeeper | null = null;
  #scheduleTrial = (): void => {};
  /** The socket that opened last, while it lasts. */
  #carrier: PhoneSocket | null = null;

  constructor(platform: RoadPlatform) {
    this.#platform = platform;
  }

  /** @param time milliseconds that a socket took to open at an earlier start. */
  expectOpening(time: number): void {
    this.#lastOpening ??= time;
  }

  /**
   * The edge's host speaks HTTP/2 or 3, as far as is known: the next socket's first frames go by a fetch, which has a
   * round trip less before it than a WebSocket, or two. A WebSocket is opened beside it, and is there where the fetch is not.
   */
  flyFirst(): void {
    this.#fliesFirst = true;
  }

  /** Whether further WebSockets are of use. */
  get takesWebSockets(): boolean {
    return this.current === "websocket" || this.#memory.first(this.#platform.network()) === "websocket";
  }

  /** @param isSpare another socket may go on, and this one be closed before it opens: that tells nothing of roads. */
  dial(offer: SocketOffer, listener: SocketListener, isSpare = false): PhoneSocket {
    const platform = this.#platform;
    const network = platform.network();
    const startedAt = platform.now();
    const flies = this.#fliesFirst && offer.opening !== null && this.#memory.first(network) === "websocket";
    this.#fliesFirst = false;
    const choice = {
      first: flies ? "fetch" : this.#memory.first(network),
      patience: flies ? 0 : isSpare && network === this.#worksOn ? SOCKET_OPEN_TIMEOUT : this.#patience(network),
      webSocketTakesOpening: this.#webSocketTakesOpening,
    };
    const socket = new RoadRace(offer, choice, platform, {
      ...listener,
      onOpen: (road, failure) => {
        this.#endTrial();
        this.#carrier = socket;
        this.current = road;
        this.#lastOpening = platform.now() - startedAt;
        this.#abandoned = 0;
        this.#worksOn = road === "websocket" ? network : null;
        if (road === "websocket") this.#memory.webSocketWorked(network);
        else if (failure !== null) this.#webSocketFailed(network, failure);
        if (road === "fetch") this.#tryWebSocket(socket, offer, network, failure, flies);
        listener.onOpen();
      },
      onEnded: (road, heard) => {
        if (this.#carrier === socket) {
          this.#endTrial();
          this.#carrier = null;
        }
        if (road === "websocket" && heard) this.#memory.webSocketHeard();
        else if (road === "websocket") this.#webSocketFailed(network, "mute");
      },
      onNeverOpened: (wasAbandoned) => {
        if (isSpare && wasAbandoned) return;
        this.#abandoned = wasAbandoned ? this.#abandoned + 1 : 0;
        if (!wasAbandoned) this.#memory.fetchFailed(network);
      },
    });
    return socket;
  }

  /** Another network, or the same in another place: WebSocket may work by now. */
  networkChanged(): void {
    this.#webSocketTakesOpening = true;
    this.#worksOn = null;
    this.#memory.networkChanged(this.#platform.network(), this.#platform.now());
    this.#scheduleTrial();
  }

  /**
   * Where WebSocket worked, silence means that there is no link, and the other road's handshakes would only take the
   * uplink from the first one that gets through: one attempt of a few tries both, and both at once, since no attempt may
   * last as long as the last opening took. Elsewhere whoever gave up may do so again: both at once this time.
   */
  #patience(network: string): number {
    const usual = patience(this.#platform.roundTrip(), this.#lastOpening);
    if (this.#abandoned === 0) return usual;
    if (network !== this.#worksOn) return 0;
    return this.#abandoned % LONE_ATTEMPTS === 0 ? 0 : SOCKET_OPEN_TIMEOUT;
  }

  /** @param hasFlown nothing speaks against WebSocket. */
  #tryWebSocket(
    socket: RoadRace,
    offer: SocketOffer,
    network: string,
    failure: WebSocketFailure | null,
    hasFlown: boolean,
  ): void {
    const platform = this.#platform;
    const landing = hasFlown ? platform.now() + FLIGHT_TIME : null;
    const wasRefusedWithOpening = failure === "refused" && offer.opening !== null && this.#webSocketTakesOpening;
    const trial = new SocketKeeper(
      {
        onOpen: () => {
          trial.drop();
          this.#memory.webSocketWorked(network);
          if (wasRefusedWithOpening) this.#webSocketTakesOpening = false;
          socket.endWhenQuiet();
        },
        onMessage() {},
        onStall() {},
        onEnd: ({ why }) => {
          this.#webSocketFailed(network, why === "silent" ? "slow" : "refused");
          this.#scheduleTrial();
        },
      },
      new SocketContext(platform, { isAwaiting: () => false, uploadDelay: () => 0 }),
    );
    const dial = (listener: SocketListener): PhoneSocket =>
      platform.dial("websocket", { ...offer, opening: null }, listener);
    this.#trial = trial;
    this.#scheduleTrial = () => {
      if (trial.kind === "dialling") return;
      const at = this.#memory.retryAt(network) ?? landing;
      if (at === null) trial.drop();
      else trial.wait(at - platform.now(), () => trial.dial(dial, SOCKET_OPEN_TIMEOUT));
    };
    this.#scheduleTrial();
  }

  #webSocketFailed(network: string, failure: WebSocketFailure): void {
    this.#memory.webSocketFailed(network, failure, this.#platform.now(), this.#platform.random());
  }

  #endTrial(): void {
    this.#trial?.drop();
    this.#scheduleTrial = () => {};
  }
}
