/**
 * The socket of a session's first channel, which is there whenever it can be: dialled as soon as the last one is lost, with
 * backoff and jitter where that fails. The class knows nothing of sessions: it hands each socket to its owner as a transport
 * before the socket is dialled, so that the owner's first frames ride in the handshake.
 *
 * A socket that is silent while an answer is awaited may come back by itself, so a spare socket is dialled beside it, and the
 * socket that is there first goes on.
 */
import * as limits from "../../../shared/limits.ts";
import {
  CLOSED_ABNORMALLY,
  type PhoneSocket,
  type SocketListener,
  type SocketOffer,
} from "../../../shared/phone-socket.ts";
import { endsSession } from "../../../shared/subprotocol.ts";
import { PendingTransport, type Transport } from "../../../shared/transport.ts";
import type { LinkHint, LinkPhase } from "../../messages/tunnel-messages.ts";
import type { FurtherSocketsPlatform } from "./further-sockets.ts";
import {
  attemptTime,
  expectedHandshake,
  isOnTime,
  RECONNECT_DELAY_MAX,
  type SocketContext,
  type SocketEnd,
  SocketKeeper,
} from "./socket-keeper.ts";

export interface FirstSocketOwner {
  /**
   * A socket is about to be dialled. Frames sent on `transport` before this returns ride in its handshake, as far as
   * they fit; the rest follows once it is open.
   */
  onDialling(transport: Transport): void;
  onMessage(transport: Transport, message: Uint8Array): void;
  /** The socket is open. @param time milliseconds that its handshake took, or would have as a WebSocket. */
  onOpened(time: number): void;
  /**
   * `code` is the WebSocket close code. Frames that were sent may have arrived or not, also if the socket never opened.
   *
   * @param wasSilent it was given up since nothing came; else the network or the edge said that it is over.
   */
  onClose(transport: Transport, code: number, wasSilent: boolean): void;
  onPhase(phase: LinkPhase): void;
  /** A spare one is dialled while that one is stalled. */
  onSpare(): void;
  /** The edge knows the phone's token no more: nothing is tried until `start`. */
  onRefused(): void;
}

/** Platform seams, so that tests bring their own. */
export interface SocketPlatform extends FurtherSocketsPlatform {
  /** @param isSpare another is open, and may go on. */
  dial(offer: SocketOffer, listener: SocketListener, isSpare: boolean): PhoneSocket;
  /** 0 to 1. */
  random(): number;
  /** After a failed handshake: does the edge answer, and does it know the token? */
  probe(token: string): Promise<"reachable" | "refused" | "unreachable">;
}

/** After a loss all phones of an edge come back at once, but not in the same moment. */
const REOPEN_SPREAD = 100;
const FIRST_RETRY_DELAY = 300;
/** Between the first attempts: for a few minutes somebody may look at an error page. */
const RETRY_DELAY = 4_000;
const FREQUENT_ATTEMPTS = 100;
/** Milliseconds for which no spare socket is dialled after one that was not needed, since the stalled one went on. */
const SPARE_REST = 30_000;
/** A handshake that is younger goes on when the person comes back. */
const FRESH_ATTEMPT = 3_000;

export class FirstSocket {
  #owner: FirstSocketOwner;
  #platform: SocketPlatform;
  #context: SocketContext;
  #target: { readonly url: string; readonly token: string } | null = null;
  #main: SocketKeeper;
  /** The spare socket, which is no session's transport yet: nothing rides in its handshake. */
  #spare: SocketKeeper;
  /** Set while `#main` has a socket. `mayCarryOpening`: frames may have ridden in its handshake. */
  #attempt: { readonly transport: PendingTransport; readonly mayCarryOpening: boolean } | null = null;
  #spareRestsUntil = Number.NEGATIVE_INFINITY;
  /** Attempts since frames last came. */
  #attempts = 0;
  /** Handshakes in a row that ended in silence. */
  #timeouts = 0;
  /** Milliseconds that a handshake takes, null before the first. */
  #handshake: number | null = null;
  #lostAt: number;
  #online = true;
  #isProbing = false;
  /** Whether frames ride in the handshake; some proxies do not let a field that long pass. */
  #usesOpening = true;

  constructor(owner: FirstSocketOwner, platform: SocketPlatform, context: SocketContext) {
    this.#owner = owner;
    this.#platform = platform;
    this.#context = context;
    this.#lostAt = platform.now();
    this.#main = this.#keeper();
    this.#spare = this.#keeper();
  }

  get isOpen(): boolean {
    return this.#main.kind === "open";
  }

  /** Whether a handshake is under way. */
  get isDialling(): boolean {
    return this.#spare.kind === "dialling" || this.#main.kind === "dialling";
  }

  start(url: string, token: string): void {
    this.#target = { url, token };
    this.#attempts = 0;
    this.#lostAt = this.#platform.now();
    this.#abandon();
    this.#dial();
  }

  setOnline(online: boolean): void {
    this.#online = online;
    if (online) this.hint("network");
    else if (this.isOpen) this.#main.check();
    else if (this.#target !== null) this.#owner.onPhase({ kind: "offline", since: this.#lostAt });
  }

  /** Makes sure of an open socket, and tries at once to get one where there is none. */
  hint(hint: LinkHint): void {
    if (this.#target === null) return;
    // A network that has just come may not carry the first attempt.
    if (this.#attempts > 1) this.#attempts = 1;
    if (this.#attempt === null) return this.#dial();
    const now = this.#platform.now();
    if (this.isOpen) {
      if (hint !== "navigation") this.#main.check(hint === "network");
      if (hint === "network" && this.#spare.kind === "dialling" && this.#spare.dialledAt < now) {
        // As below.
        this.#spare.drop();
        this.#dialSpare();
      }
      return;
    }
    const age = now - this.#main.dialledAt;
    // Its packets may be on their way from an address that is no longer this phone's.
    if (age === 0 || (hint !== "network" && age < FRESH_ATTEMPT)) return;
    this.#abandon();
    this.#dial();
  }

  /** A request went out. */
  awaiting(): void {
    this.#main.awaiting();
    if (this.#main.isStalled) this.#dialSpare();
  }

  #keeper(): SocketKeeper {
    const keeper: SocketKeeper = new SocketKeeper(
      {
        onOpen: (transport, time) => this.#opened(keeper, transport, time),
        onMessage: (message) => {
          this.#attempts = 0;
          if (this.#attempt !== null) this.#owner.onMessage(this.#attempt.transport, message);
        },
        onStall: (since) => {
          this.#owner.onPhase(since === null ? { kind: "open" } : { kind: "stalled", since });
          if (since === null) this.#goesOn();
          else this.#dialSpare();
        },
        onEnd: (end) => {
          if (keeper === this.#main) this.#lost(end);
        },
      },
      this.#context,
    );
    return keeper;
  }

  #dial(): void {
    const target = this.#target;
    if (target === null) return;
    const transport = this.#announce(true);
    const opening = this.#usesOpening ? transport.takeOpening(limits.openingBytes) : null;
    const time = attemptTime(this.#handshake, this.#timeouts);
    this.#main.dial((listener) => this.#platform.dial({ ...target, opening }, listener, false), time);
  }

  /** @returns the transport of the socket to come. */
  #announce(mayCarryOpening: boolean): PendingTransport {
    this.#attempts += 1;
    this.#sayWaiting({ kind: "connecting", since: this.#lostAt, attempt: this.#attempts });
    const transport = new PendingTransport();
    this.#attempt = { transport, mayCarryOpening };
    this.#owner.onDialling(transport);
    return transport;
  }

  #opened(keeper: SocketKeeper, transport: Transport, time: number): void {
    // The spare one is there first, and takes its place.
    if (keeper !== this.#main) this.#main.giveUp();
    const attempt = this.#attempt;
    if (keeper !== this.#main || attempt === null) return;
    this.#timeouts = 0;
    this.#handshake = expectedHandshake(this.#handshake, time);
    this.#owner.onPhase({ kind: "open" });
    attempt.transport.open(transport);
    if (this.#context.demand.isAwaiting()) keeper.awaiting();
    this.#owner.onOpened(time);
  }

  #lost({ from, why, code, wasHeard, since }: SocketEnd): void {
    const attempt = this.#attempt;
    const wasSilent = why === "silent";
    const wasOpen = from === "open";
    if (wasOpen) this.#lostAt = since;
    else if (wasSilent) this.#timeouts += 1;
    this.#attempt = null;
    if (attempt === null) return;
    this.#owner.onClose(attempt.transport, code, wasSilent);
    if (this.#attempt !== null || this.#target === null) return;
    if (this.#isSparePromising()) return this.#useSpare();
    this.#spare.drop();
    // An edge that takes sockets, but no session.
    const isTurnedAway = !wasHeard && endsSession(code);
    const isPatient = isTurnedAway || this.#attempts >= FREQUENT_ATTEMPTS;
    const delayMax = isPatient ? RECONNECT_DELAY_MAX : RETRY_DELAY;
    this.#retryLater((wasOpen && !isTurnedAway) || wasSilent ? null : delayMax);
    if (!wasOpen && !wasSilent) void this.#askWhy(attempt.mayCarryOpening);
  }

  /** The main socket is stalled. */
  #dialSpare(): void {
    const target = this.#target;
    const isPointless =
      !this.#online || !this.#context.demand.isAwaiting() || this.#platform.now() < this.#spareRestsUntil;
    if (target === null || isPointless || this.#spare.kind !== "idle") return;
    this.#owner.onSpare();
    const time = attemptTime(this.#handshake, 0);
    this.#spare.dial((listener) => this.#platform.dial({ ...target, opening: null }, listener, true), time);
  }

  /**
   * A handshake whose first SYNs were lost sends the next SYN later than a new one would send its first, and brings no
   * frames with it.
   */
  #isSparePromising(): boolean {
    const { kind, dialledAt } = this.#spare;
    return kind === "open" || (kind === "dialling" && isOnTime(this.#handshake, this.#platform.now() - dialledAt));
  }

  /** The stalled one is gone: the spare one takes its place, open or not. */
  #useSpare(): void {
    [this.#main, this.#spare] = [this.#spare, this.#main];
    this.#announce(false);
  }

  /** The stalled socket goes on. */
  #goesOn(): void {
    if (this.#spare.kind === "idle") return;
    this.#spareRestsUntil = this.#platform.now() + SPARE_REST;
    this.#spare.drop();
  }

  /** @param delayMax attempts that fail fast become rarer, down to this; null: silence took its time already. */
  #retryLater(delayMax: number | null): void {
    const chance = this.#platform.random();
    const delay =
      delayMax === null
        ? REOPEN_SPREAD * chance
        : Math.min(delayMax, FIRST_RETRY_DELAY * 2 ** this.#attempts) * (0.5 + chance / 2);
    this.#sayWaiting({ kind: "waiting", since: this.#lostAt, retryAt: this.#platform.now() + delay });
    this.#main.wait(delay, () => this.#dial());
  }

  /** A browser does not say why a handshake failed. */
  async #askWhy(mayBlameOpening: boolean): Promise<void> {
    const target = this.#target;
    if (this.#isProbing || target === null) return;
    this.#isProbing = true;
    const result = await this.#platform.probe(target.token).catch(() => "unreachable" as const);
    this.#isProbing = false;
    if (target !== this.#target || this.isOpen) return;
    if (result === "reachable" && mayBlameOpening) this.#usesOpening = !this.#usesOpening;
    if (result !== "refused") return;
    this.#target = null;
    this.#abandon();
    this.#owner.onPhase({ kind: "refused" });
    this.#owner.onRefused();
  }

  #sayWaiting(phase: LinkPhase): void {
    this.#owner.onPhase(this.#online ? phase : { kind: "offline", since: this.#lostAt });
  }

  /** Gives the socket up, whatever it was about to become. */
  #abandon(): void {
    const attempt = this.#attempt;
    this.#attempt = null;
    this.#spare.drop();
    this.#main.drop();
    if (attempt !== null) this.#owner.onClose(attempt.transport, CLOSED_ABNORMALLY, false);
  }
}
