/**
 * All sockets of one phone, over WebSocket or the fetch road, and what is learnt from them of the networks they use. On
 * the fetch road WebSocket is tried again now and then, and the link moves over to it in a quiet moment.
 */

import type { PhoneSocket, SocketListener, SocketOffer } from "../../../shared/phone-socket.ts";
import type { Road } from "../../messages/link.ts";
import { SOCKET_OPEN_TIMEOUT } from "./attempt-time.ts";
import { patience, RoadMemory, type WebSocketFailure } from "./road.ts";
import { type RoadPlatform, RoadRace } from "./road-race.ts";
import { SocketContext, SocketKeeper } from "./socket-keeper.ts";

/** Where WebSocket worked before, one of so many attempts in a row finds out whether only WebSocket is blocked. */
const LONE_ATTEMPTS = 3;

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

  /** What is known of an earlier start: how long a socket took to open, in milliseconds. */
  expectOpening(time: number): void {
    this.#lastOpening ??= time;
  }

  /** @param isSpare another socket may go on, and this one be closed before it opens: that tells nothing of roads. */
  dial(offer: SocketOffer, listener: SocketListener, isSpare = false): PhoneSocket {
    const platform = this.#platform;
    const network = platform.network();
    const startedAt = platform.now();
    const choice = {
      first: this.#memory.first(network),
      patience: isSpare && network === this.#worksOn ? SOCKET_OPEN_TIMEOUT : this.#patience(network),
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
        if (road === "fetch") this.#tryWebSocket(socket, offer, network, failure);
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

  #tryWebSocket(socket: RoadRace, offer: SocketOffer, network: string, failure: WebSocketFailure | null): void {
    const platform = this.#platform;
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
      const at = this.#memory.retryAt(network);
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
