/**
 * All sockets of one phone, over WebSocket or the fetch road, and what is learnt from them of the networks they use. On
 * the fetch road WebSocket is tried again now and then, and the link moves over to it in a quiet moment.
 */
import type { LinkSocket } from "../../shared/fetch-road/fetch-socket.ts";
import { offeredProtocols, parseOffer } from "../../shared/subprotocol.ts";
import { patience, type Road, RoadMemory, type WebSocketFailure } from "./road.ts";
import { type RoadPlatform, RoadSocket } from "./road-socket.ts";
import { WebSocketTrial } from "./web-socket-trial.ts";

export class Roads {
  /** Of the socket that opened last; null before the first. */
  current: Road | null = null;

  #platform: RoadPlatform;
  #memory = new RoadMemory();
  /** Milliseconds. */
  #lastOpening: number | null = null;
  #wasAbandoned = false;
  /** Some proxies refuse a handshake only for the length of its fields. */
  #webSocketTakesOpening = true;
  #trial: WebSocketTrial | null = null;

  constructor(platform: RoadPlatform) {
    this.#platform = platform;
  }

  /** As the constructor of WebSocket. */
  openSocket(url: string, protocols: readonly string[]): LinkSocket {
    const platform = this.#platform;
    const network = platform.network();
    const startedAt = platform.now();
    this.#endTrial();
    const choice = {
      first: this.#memory.first(network),
      // Whoever gave up before either opened may do so again: both at once this time.
      patience: this.#wasAbandoned ? 0 : patience(platform.roundTrip(), this.#lastOpening),
      webSocketTakesOpening: this.#webSocketTakesOpening,
    };
    const socket = new RoadSocket(url, protocols, choice, platform, {
      onOpened: (road, failure) => {
        this.current = road;
        this.#lastOpening = platform.now() - startedAt;
        this.#wasAbandoned = false;
        if (road === "websocket") this.#memory.webSocketWorked(network);
        else if (failure !== null) this.#webSocketFailed(network, failure);
        if (road === "fetch") this.#tryWebSocket(socket, url, protocols, network, failure);
      },
      onEnded: (road, heard) => {
        this.#endTrial();
        if (road === "websocket" && heard) this.#memory.webSocketHeard();
        else if (road === "websocket") this.#webSocketFailed(network, "mute");
      },
      onNeverOpened: (wasAbandoned) => {
        this.#wasAbandoned = wasAbandoned;
        if (!wasAbandoned) this.#memory.fetchFailed(network);
      },
    });
    return socket;
  }

  /** Another network, or the same in another place: WebSocket may work by now. */
  networkChanged(): void {
    this.#webSocketTakesOpening = true;
    this.#memory.networkChanged(this.#platform.network(), this.#platform.now());
    this.#trial?.schedule();
  }

  #tryWebSocket(
    socket: RoadSocket,
    url: string,
    protocols: readonly string[],
    network: string,
    failure: WebSocketFailure | null,
  ): void {
    const { token, opening } = parseOffer(protocols.join(","));
    const wasRefusedWithOpening = failure === "refused" && opening !== null && this.#webSocketTakesOpening;
    this.#trial = new WebSocketTrial(
      {
        open: () => this.#platform.open("websocket", url, offeredProtocols(token, null)),
        retryAt: () => this.#memory.retryAt(network),
        onFailed: (again) => this.#webSocketFailed(network, again),
        onOpened: () => {
          this.#memory.webSocketWorked(network);
          if (wasRefusedWithOpening) this.#webSocketTakesOpening = false;
          socket.endWhenQuiet();
        },
      },
      this.#platform,
    );
  }

  #webSocketFailed(network: string, failure: WebSocketFailure): void {
    this.#memory.webSocketFailed(network, failure, this.#platform.now(), this.#platform.random());
  }

  #endTrial(): void {
    this.#trial?.end();
    this.#trial = null;
  }
}
