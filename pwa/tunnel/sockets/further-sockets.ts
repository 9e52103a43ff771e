import type { Clock } from "../../../shared/clock.ts";
import * as limits from "../../../shared/limits.ts";
import type { Attachment } from "../../../shared/mux/pipe/channel.ts";
import {
  CLOSED_ABNORMALLY,
  type PhoneSocket,
  type SocketListener,
  type SocketOffer,
} from "../../../shared/phone-socket.ts";
import type { Transport } from "../../../shared/transport.ts";
import {
  attemptTime,
  expectedHandshake,
  HANDSHAKE_ROUND_TRIPS,
  PROBE_TIMEOUT_MAX,
  RECONNECT_DELAY_MAX,
  type SocketContext,
  type SocketEnd,
  SocketKeeper,
} from "./socket-keeper.ts";

/**
 * Milliseconds: a session's sockets beyond the first are closed when nothing was asked for so long: about one page's
 * reading.
 */
export const FURTHER_LINK_IDLE_TIME = 120_000;

/** Milliseconds between two looks at what was measured. */
const LOOK_INTERVAL = 100;

/** When it is worth having a session's further channels open: while the person goes somewhere, and for a while after. */
export class ChannelActivity {
  #clock: Clock;
  #onChanged: () => void;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isTimed = false;
  #isLookTimed = false;

  /** @param onChanged nothing was asked for FURTHER_LINK_IDLE_TIME, or more may have been measured. */
  constructor(clock: Clock, onChanged: () => void) {
    this.#clock = clock;
    this.#onChanged = onChanged;
  }

  get isRecent(): boolean {
    return this.#clock.now() - this.#renewedAt < FURTHER_LINK_IDLE_TIME;
  }

  renew(): void {
    this.#renewedAt = this.#clock.now();
    if (!this.#isTimed) this.#watch(FURTHER_LINK_IDLE_TIME);
  }

  /** A value was measured: `onChanged` is called, now or soon, not more often than is of use. */
  measured(): void {
    if (this.#isLookTimed) return;
    const left = this.#lookedAt + LOOK_INTERVAL - this.#clock.now();
    if (left <= 0) return this.#look();
    this.#isLookTimed = true;
    this.#clock.setTimer(() => {
      this.#isLookTimed = false;
      this.#look();
    }, left);
  }

  #look(): void {
    this.#lookedAt = this.#clock.now();
    this.#onChanged();
  }

  #watch(delay: number): void {
    this.#isTimed = true;
    this.#clock.setTimer(() => {
      this.#isTimed = false;
      const left = this.#renewedAt + FURTHER_LINK_IDLE_TIME - this.#clock.now();
      if (left > 0) this.#watch(left);
      else this.#onChanged();
    }, delay);
  }
}

interface FurtherSocketsOwner {
  /** The channel's transport, open. @returns what is told of it. */
  onTransport(index: number, transport: Transport): Attachment;
  onMessage(attachment: Attachment, message: Uint8Array): void;
  /**
   * The transport is gone, if there was one. `code` is the WebSocket close code.
   *
   * @param isConfirmed its end was asked for here, and both sides have got all that was sent before.
   */
  onClose(index: number, attachment: Attachment, code: number, isConfirmed: boolean): void;
  /** A socket could be tried again. */
  onRetry(): void;
  /**
   * Whether a stream is on the channel, or the edge was not heard on it yet: it may have put pieces there that are lost if
   * the channel is begun anew.
   */
  isBusy(index: number): boolean;
}

export interface FurtherSocketsPlatform extends Clock {
  /** @returns null where it is of no use: a road that is no WebSocket has all sockets in one connection. */
  dialFurther(offer: SocketOffer, listener: SocketListener): PhoneSocket | null;
}

/** Milliseconds before a socket that worked is dialled again. */
const REDIAL_DELAY = 100;
/** Milliseconds before the first retry of one that did not; doubled by each failure in a row. */
const FIRST_RETRY_DELAY = 500;
/** A handshake that is younger, in milliseconds, goes on when the first channel's socket opens. */
const FRESH_HANDSHAKE = 1_000;
/** How long the edge has at least to close a socket, in milliseconds. */
const CLOSING_TIME = 5_000;

interface FurtherSocket {
  readonly index: number;
  readonly keeper: SocketKeeper;
  /** From when it is open. */
  attachment: Attachment | null;
  /** Failures in a row. */
  failures: number;
}

/**
 * The sockets of a session's channels beyond the first (PROTOCOL.md section 4.5): dials those that are wanted, has the edge
 * close those that are not, dials those of lost channels again. Which are wanted, its owner says, again and again. A
 * browser has one handshake at a time with one address: theirs wait for the first channel's.
 */
export class FurtherSockets {
  #owner: FurtherSocketsOwner;
  #platform: FurtherSocketsPlatform;
  #context: SocketContext;
  #target: { readonly url: string; readonly token: string } | null = null;
  /** Milliseconds that a handshake takes, null before the first. */
  #handshake: number | null = null;
  /** Sockets of channels 1 and on. */
  #sockets: readonly FurtherSocket[];

  constructor(owner: FurtherSocketsOwner, platform: FurtherSocketsPlatform, context: SocketContext) {
    this.#owner = owner;
    this.#platform = platform;
    this.#context = context;
    this.#sockets = Array.from({ length: limits.channels - 1 }, (_, index) => this.#create(index + 1));
  }

  /** Sockets that are open. */
  get openCount(): number {
    return this.#sockets.filter(({ attachment }) => attachment !== null).length;
  }

  start(url: string, token: string): void {
    this.#target = { url, token };
    this.drop();
  }

  /**
   * @param count channels that pay, the first included.
   * @param lost channels whose sockets were lost: wanted or not, they cannot be retired without.
   * @param isReachable whether any may be dialled: the first channel's socket is open.
   * @param onRetiring a channel's socket is about to be closed in an orderly way.
   */
  update(count: number, lost: ReadonlySet<number>, isReachable: boolean, onRetiring: (index: number) => void): void {
    for (const socket of this.#sockets) {
      const { index, keeper } = socket;
      if (keeper.kind === "idle") {
        if (isReachable && (index < count || lost.has(index))) this.#dial(socket);
      } else if (keeper.kind === "open" && index >= count && !this.#owner.isBusy(index)) {
        onRetiring(index);
        keeper.retire(this.#context.rtt.timeout(CLOSING_TIME, PROBE_TIMEOUT_MAX));
      }
    }
  }

  /** A request went out. */
  awaiting(): void {
    for (const { keeper } of this.#sockets) keeper.awaiting();
  }

  /** The network may have changed: asks at once which of them live. */
  check(): void {
    for (const { keeper } of this.#sockets) keeper.check();
  }

  /**
   * The edge can be reached: sockets that failed may be tried now, and handshakes that began long before are given up for
   * others.
   *
   * @param time milliseconds that one took just now.
   */
  reachable(time: number): void {
    const dialledBefore = this.#platform.now() - Math.max(FRESH_HANDSHAKE, 2 * time);
    for (const socket of this.#sockets) {
      const { kind, dialledAt } = socket.keeper;
      socket.failures = 0;
      if (kind === "waiting" || (kind === "dialling" && dialledAt < dialledBefore)) socket.keeper.drop();
    }
  }

  /** The first channel's socket is lost: handshakes that are under way would keep the browser's one from it. */
  giveWay(): void {
    for (const { keeper } of this.#sockets) if (keeper.kind === "dialling") keeper.drop();
  }

  /** All sockets are given up. */
  drop(): void {
    const open = this.#sockets.map(({ index, attachment }) => ({ index, attachment }));
    for (const socket of this.#sockets) {
      socket.failures = 0;
      socket.attachment = null;
      socket.keeper.drop();
    }
    for (const { index, attachment } of open) {
      if (attachment !== null) this.#owner.onClose(index, attachment, CLOSED_ABNORMALLY, false);
    }
  }

  #create(index: number): FurtherSocket {
    const owner = this.#owner;
    const keeper = new SocketKeeper(
      {
        onOpen: (transport, handshake) => {
          this.#handshake = expectedHandshake(this.#handshake, handshake);
          socket.attachment = owner.onTransport(index, transport);
        },
        onMessage: (message) => {
          if (socket.attachment !== null) owner.onMessage(socket.attachment, message);
        },
        onStall() {},
        onEnd: (end) => this.#ended(socket, end),
      },
      this.#context,
    );
    const socket: FurtherSocket = { index, keeper, attachment: null, failures: 0 };
    return socket;
  }

  #dial({ keeper, failures }: FurtherSocket): void {
    const target = this.#target;
    if (target === null) return;
    const { smoothed } = this.#context.rtt;
    const expected = this.#handshake ?? (smoothed === null ? null : HANDSHAKE_ROUND_TRIPS * smoothed);
    const offer = { ...target, opening: null };
    keeper.dial((listener) => this.#platform.dialFurther(offer, listener), attemptTime(expected, failures));
  }

  #ended(socket: FurtherSocket, { from, why, code, wasHeard }: SocketEnd): void {
    const { index, attachment } = socket;
    socket.attachment = null;
    // Nobody asked for its end: it is dialled again, but less and less often.
    if (why === "lost" || why === "silent") this.#retryLater(socket, from === "open" && wasHeard);
    if (attachment !== null) this.#owner.onClose(index, attachment, code, why === "retired");
  }

  /** @param worked whether the last one did. */
  #retryLater(socket: FurtherSocket, worked: boolean): void {
    socket.failures = worked ? 0 : socket.failures + 1;
    const backOff = Math.min(RECONNECT_DELAY_MAX, FIRST_RETRY_DELAY * 2 ** (socket.failures - 1));
    socket.keeper.wait(worked ? REDIAL_DELAY : backOff, () => this.#owner.onRetry());
  }
}
