/**
 * Which road the link takes: WebSocket, unless this network is known not to let it through. Pure; time and chance are
 * passed in. `roads.ts` acts on it.
 */
import { BoundedMap } from "../../../shared/bounded-map.ts";
import * as limits from "../../../shared/limits.ts";
import type { Road } from "../../messages/link.ts";
import { HANDSHAKE_ROUND_TRIPS } from "./socket-keeper.ts";

/**
 * How a WebSocket did not come to be: turned down while the fetch road opened; not open yet when the fetch road was;
 * or open, and nothing ever came.
 */
export type WebSocketFailure = "refused" | "slow" | "mute";

interface NetworkRecord {
  /** When WebSocket is to be tried again. */
  readonly retryAt: number;
  readonly failures: number;
}

/** It may have been on its way, or the edge just not back yet. */
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

/** What was learnt of networks in this sitting, by whatever name the platform has for them. */
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

  /** Something about the network changed, though it may have the name that it had. */
  networkChanged(network: string, now: number): void {
    const record = this.#blocked.get(network);
    if (record !== undefined) this.#blocked.set(network, { retryAt: now, failures: 0 });
  }
}
