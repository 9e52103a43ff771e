import type { Attachment } from "../../shared/mux/pipe/channel.ts";
import type { Transport } from "../../shared/transport.ts";
import type { ArrivalProof } from "./arrival-proof.ts";
import type { RestedConnection } from "./rested-connection.ts";

/** A socket, and how the channel sees it. */
export interface ServedLink {
  readonly transport: Transport;
  readonly observed: Transport;
  readonly rested: RestedConnection;
  /** Null where it goes over the first channel's socket. */
  readonly proof: ArrivalProof | null;
  /** The number of its HELLO where it goes over the first channel's socket, else null. */
  readonly carriedAs: number | null;
  /** What it is to the session; null until it has been attached. */
  attachment: Attachment | null;
  /** Whether its first message has come. */
  isHeard: boolean;
  /** Whether the last that `onSnapshot` was told of it is a snapshot. */
  hasSnapshot: boolean;
}

/** One socket of a session, from its HELLO to its close. A socket that was replaced may still deliver: that is ignored. */
export interface ServedConnection {
  receive(message: Uint8Array): void;
  /** A keep-alive came that the runtime has not answered by itself. */
  keptAlive(): void;
  /** The phone asked for the end of the link. */
  finish(): void;
  /** @param isOrderly the peer confirmed the close. */
  closed(isOrderly: boolean): void;
}

type ChannelState =
  | { readonly kind: "idle" }
  | { readonly kind: "linked"; readonly link: ServedLink }
  | { readonly kind: "lost" }
  | { readonly kind: "finishing"; readonly link: ServedLink; readonly isAwaited: boolean };

/**
 * One channel of a session at the edge. `take` leads from any state to `linked`:
 *
 *     idle ◂── unlink ── linked ── finish ──▸ finishing   the phone asked for its end; the socket is being closed
 *       │                                        │
 *       └──── expect ──▸ lost ◂── unlink ────────┘        without a socket, the phone is waited for
 *       ┌──── giveUp ─────┘
 *       ▾
 *     idle
 *
 * While it is `finishing` the phone is waited for too, until it confirms the end or is given up.
 */
export class ServedChannel {
  readonly index: number;
  #state: ChannelState = { kind: "idle" };
  /** Number of the newest link, also of a retired channel; -1 before the first. What comes later of an older one is of no use. */
  #newest: number;
  /**
   * Number of the newest link on which more than its first message came, or -1: what the phone says first may be under way
   * on two roads, and it says more only on the one that it has chosen.
   */
  #chosen = -1;

  constructor(index: number, newest = -1) {
    this.index = index;
    this.#newest = newest;
  }

  get newest(): number {
    return this.#newest;
  }

  get link(): ServedLink | null {
    return "link" in this.#state ? this.#state.link : null;
  }

  get isFinishing(): boolean {
    return this.#state.kind === "finishing";
  }

  /** Whether it has no socket that works, and the phone is waited for. */
  get isAwaited(): boolean {
    return this.#state.kind === "lost" || (this.#state.kind === "finishing" && this.#state.isAwaited);
  }

  isOvertaken(linkNumber: number): boolean {
    return linkNumber < this.#newest || linkNumber <= this.#chosen;
  }

  take(link: ServedLink, linkNumber: number): void {
    this.#newest = linkNumber;
    this.#state = { kind: "linked", link };
  }

  /** A message came on its link. */
  heard(): void {
    if (this.link === null) throw new Error("Cannot take a message: the channel has no link");
    if (this.link.isHeard) this.#chosen = this.#newest;
    this.link.isHeard = true;
  }

  /** The phone asked for its end. */
  finish(): void {
    if (this.#state.kind !== "linked") throw new Error("Cannot finish a channel: it has no link");
    this.#state = { kind: "finishing", link: this.#state.link, isAwaited: false };
  }

  /** Its socket has closed. */
  unlink(): void {
    this.#state = { kind: this.#state.kind === "finishing" && this.#state.isAwaited ? "lost" : "idle" };
  }

  /** The session's channel was on the socket that is gone, or is going. */
  expect(): void {
    this.#state = this.#state.kind === "finishing" ? { ...this.#state, isAwaited: true } : { kind: "lost" };
  }

  /** The phone is waited for no more. */
  giveUp(): void {
    if (this.#state.kind === "lost") this.#state = { kind: "idle" };
    else if (this.#state.kind === "finishing") this.#state = { ...this.#state, isAwaited: false };
  }
}
