/**
 * All sessions of one phone at the edge: finds or opens the session that a socket speaks for, serves its streams, and
 * keeps a session without a socket for a while, so that a phone that lost its link goes on where it was. Runtime
 * neutral; `tunnel-object.ts` and `entry-deno.ts` bring the sockets.
 */
import { toHex } from "../../shared/base-encodings.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import * as limits from "../../shared/limits.ts";
import { CLOSE_CODE_BASE, END_OF_LINK, KEEP_ALIVE } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import { type ChannelFrame, decodeMessage, encodeFrame } from "../../shared/wire/frame.ts";
import {
  type ConnectionSnapshot,
  type FirstSnapshot,
  PhoneProofs,
  type ServedConnection,
  ServedSession,
  type ServedSessionOptions,
} from "./served-session.ts";

/** A socket that outlived the memory of its session, with the last snapshot that `onSnapshot` was given for it. */
export type SurvivingSocket = readonly [transport: Transport, snapshot: unknown];

/** A socket as a session sees it, from its first message to its close. */
export interface Connection {
  receive(message: Uint8Array): void;
  /** A keep-alive was answered. */
  keptAlive(): void;
  /** The phone asked for the end of the link: it sends nothing more, and what is left for it goes before the close. */
  finish(): void;
  /** @param isOrderly the peer confirmed the close: all that it was sent has arrived. */
  closed(isOrderly?: boolean): void;
}

/**
 * ```
 *  fresh ──a HELLO that is taken──► served
 *    └──any other message──► refused
 * ```
 */
type ConnectionState =
  | { readonly kind: "fresh" }
  | { readonly kind: "served"; readonly served: ServedConnection }
  /** `stop`: what to do when the socket has closed. */
  | { readonly kind: "refused"; readonly stop: () => void };

export interface TunnelServerOptions extends ServedSessionOptions {
  /** Whether any exchange is under way, or a channel's end to be made sure of: the runtime must not hibernate then. */
  readonly onActive?: (active: boolean) => void;
  /** Bytes of messages that came or went, of all sessions. */
  readonly onUsed?: (bytes: number) => void;
  /** More is sent than limits.unprovedBytesPerPhone of which the phone does not prove that it reads it. */
  readonly onUnread?: () => void;
}

export class TunnelServer {
  #options: TunnelServerOptions;
  #sessions = new Map<string, ServedSession>();
  #proofs = new PhoneProofs();
  /** Transports of all connections that are not closed. */
  #transports = new Set<Transport>();
  #active = false;

  constructor(options: TunnelServerOptions) {
    this.#options = options;
  }

  get sessionCount(): number {
    return this.#sessions.size;
  }

  /** Whether the phone leaves so much unread that it gets no more sockets. */
  get isUnread(): boolean {
    return this.#proofs.unproved > limits.unprovedBytesPerPhone;
  }

  get isConnected(): boolean {
    return this.#transports.size > 0;
  }

  /** Ends all sessions and closes all sockets; the phone hears why. */
  close(error: RopewayError): void {
    for (const { session } of [...this.#sessions.values()]) session.end(error);
    for (const transport of [...this.#transports]) transport.close(CLOSE_CODE_BASE + error.code, "");
  }

  /** A socket that was just accepted; its first frame says which session it carries. */
  connect(transport: Transport): Connection {
    return this.#connection(transport, { kind: "fresh" });
  }

  /**
   * All sockets that outlived the object's memory. One of whose session nothing is known is closed.
   *
   * @returns the connection of each.
   */
  restore(surviving: readonly SurvivingSocket[]): Connection[] {
    const sockets = surviving.map(
      ([transport, snapshot]) => [transport, snapshot as ConnectionSnapshot | null] as const,
    );
    const restored = new Map<string, ServedSession>();
    for (const [, first] of sockets) {
      if (first === null || !("session" in first)) continue;
      const key = toHex(first.sessionId);
      const more = sockets.flatMap(([, other]) =>
        other !== null && "further" in other && toHex(other.sessionId) === key ? [other.further] : [],
      );
      const snapshot = { ...first, session: { ...first.session, more } };
      restored.set(key, this.#serve(first.sessionId, snapshot, first.isRepeat));
    }
    return sockets.map(([transport, snapshot]) => {
      const served = snapshot === null ? undefined : restored.get(toHex(snapshot.sessionId));
      if (snapshot === null || served === undefined) {
        transport.close(CLOSE_CODE_BASE + ErrorCode.LINK_LOST, "the session was lost, open a new one");
        return this.#connection(transport, { kind: "refused", stop: () => {} });
      }
      this.#proofs.adopt(transport, snapshot.unproved ?? 0);
      const index = "further" in snapshot ? snapshot.further.index : 0;
      return this.#connection(transport, { kind: "served", served: served.adopt(transport, index) });
    });
  }

  #connection(transport: Transport, state: ConnectionState): Connection {
    const open = (message: Uint8Array): ConnectionState => {
      try {
        return { kind: "served", served: this.#open(transport, message) };
      } catch (error) {
        return { kind: "refused", stop: this.#refuse(transport, error) };
      }
    };
    this.#transports.add(transport);
    return {
      receive: (message) => {
        this.#options.onUsed?.(message.length);
        if (state.kind === "fresh") state = open(message);
        if (state.kind === "served") state.served.receive(message);
      },
      keptAlive: () => {
        if (state.kind === "served") state.served.keptAlive();
      },
      finish: () => {
        if (state.kind === "served") state.served.finish();
      },
      closed: (isOrderly = false) => {
        if (state.kind === "refused") state.stop();
        if (state.kind === "served") state.served.closed(isOrderly);
        this.#forget(transport);
      },
    };
  }

  /**
   * A phone whose session is gone is told so, and closes the socket: if the edge closed it while the phone still sends
   * what it had kept, the connection would be reset and the phone would never hear why.
   *
   * @returns what to do when the socket has closed.
   */
  #refuse(transport: Transport, error: unknown): () => void {
    const code = error instanceof RopewayError ? error.code : ErrorCode.INTERNAL_ERROR;
    const reason = error instanceof Error ? error.message : "";
    const close = (): void => transport.close(CLOSE_CODE_BASE + code, reason.slice(0, 120));
    if (code !== ErrorCode.LINK_LOST) {
      close();
      return () => {};
    }
    transport.send(encodeFrame({ type: "go-away", lastStreamId: 0, code, message: reason }));
    return this.#options.setTimer(close, limits.refusalTime);
  }

  #open(transport: Transport, message: Uint8Array): ServedConnection {
    const hello = firstFrame(message);
    const known = this.#sessions.get(toHex(hello.sessionId));
    const isBeginning = hello.received === 0 && hello.next === 0 && (hello.channel ?? 0) === 0 && !hello.isGreeted;
    if (known === undefined && !isBeginning) {
      throw new RopewayError(ErrorCode.LINK_LOST, "session", "library", "Cannot resume: the session was lost");
    }
    if (known === undefined && this.#sessions.size >= limits.sessionsPerPhone) this.#dropOne();
    const served = known ?? this.#serve(hello.sessionId, null, hello.resume);
    return served.attach(transport, hello);
  }

  /** @param isRepeat the phone sent it on an earlier link, and no memory of that is left: all of it may have run. */
  #serve(sessionId: Uint8Array, snapshot: FirstSnapshot | null, isRepeat: boolean): ServedSession {
    const key = toHex(sessionId);
    const served = new ServedSession({ sessionId, snapshot, isRepeat }, this.#options, {
      ended: () => {
        this.#sessions.delete(key);
        this.#updateActive();
      },
      changed: () => this.#updateActive(),
      sent: (bytes) => {
        this.#options.onUsed?.(bytes);
        if (this.isUnread) this.#options.onUnread?.();
      },
      proofs: this.#proofs,
    });
    this.#sessions.set(key, served);
    return served;
  }

  /** Ends the oldest session without a socket, or one that is silent: nobody says that its phone is gone. */
  #dropOne(): void {
    const sessions = [...this.#sessions.values()];
    const now = this.#options.now();
    const [silent] = sessions
      .filter(({ session, heardAt }) => {
        // A session with streams is waited for as long as if its socket were gone.
        const patience = session.streams.count === 0 ? limits.silentSessionTime : limits.sessionLinger;
        return heardAt <= now - patience;
      })
      .sort((a, b) => a.heardAt - b.heardAt);
    const dropped = sessions.find(({ session }) => session.channels.attachedCount === 0) ?? silent;
    if (dropped !== undefined) return dropped.end();
    throw new RopewayError(
      ErrorCode.ENHANCE_YOUR_CALM,
      "session",
      "peer",
      `Cannot open more than ${limits.sessionsPerPhone} sessions: close a window of the app`,
    );
  }

  /** The socket has ended, and with it what was queued there. */
  #forget(transport: Transport): void {
    this.#proofs.delete(transport);
    this.#transports.delete(transport);
    this.#updateActive();
  }

  #updateActive(): void {
    // After hibernation nothing is known of sockets that were given up with much queued on them.
    const isOwed = this.#proofs.unproved > limits.unprovedBytes;
    const active = isOwed || [...this.#sessions.values()].some((served) => served.isBusy);
    if (active === this.#active) return;
    this.#active = active;
    this.#options.onActive?.(active);
  }
}

function firstFrame(message: Uint8Array): ChannelFrame & { type: "hello" } {
  for (const frame of decodeMessage(message)) {
    if (frame.type === "hello") return frame;
    break;
  }
  throw new RopewayError(
    ErrorCode.PROTOCOL_ERROR,
    "session",
    "peer",
    "Cannot open a session: it must begin with HELLO",
  );
}

/** A phone's socket at the edge, whatever carries it. */
export interface EdgeSocket extends Transport {
  send(message: Uint8Array | string): boolean;
}

/**
 * Acts on a message of a phone: frames, or one of the texts of PROTOCOL.md section 1.2.
 *
 * @returns false for a text that no phone sends; then the socket is closed.
 */
export function hear(connection: Connection, socket: EdgeSocket, message: Uint8Array | string): boolean {
  if (typeof message !== "string") connection.receive(message);
  else if (message === END_OF_LINK) connection.finish();
  else if (message === KEEP_ALIVE) {
    if (socket.send(KEEP_ALIVE)) connection.keptAlive();
  } else {
    socket.close(CLOSE_CODE_BASE + ErrorCode.PROTOCOL_ERROR, "neither a message nor a keep-alive");
    return false;
  }
  return true;
}

type QueuingSocket = Pick<WebSocket, "readyState" | "bufferedAmount" | "send" | "close">;

/** A short message takes Deno a thousand bytes to queue. More texts than an honest phone asks for in hours. */
const QUEUED_TEXTS = 10_000;

/**
 * A WebSocket of the edge as a transport that queues no more than limits.fetchQueueBytes for a phone that does not read.
 * Credit and acknowledgements are no bound: a hostile phone can give both for what it never took from its connection.
 */
export class BoundedSocket implements EdgeSocket {
  #socket: QueuingSocket;
  #onOverflow: () => void;
  /** Texts sent since the queue was empty. */
  #texts = 0;

  /** @param onOverflow too much is queued; the socket is being closed, which its phone may keep from ever ending. */
  constructor(socket: QueuingSocket, onOverflow: () => void) {
    this.#socket = socket;
    this.#onOverflow = onOverflow;
  }

  send(message: Uint8Array | string): boolean {
    if (this.#socket.readyState !== WebSocket.OPEN) return false;
    const queued = this.#socket.bufferedAmount;
    if (queued === 0) this.#texts = 0;
    else if (typeof message === "string") this.#texts += 1;
    if (queued > limits.fetchQueueBytes || this.#texts > QUEUED_TEXTS) {
      this.#socket.close();
      this.#onOverflow();
      return false;
    }
    this.#socket.send(message as string | Uint8Array<ArrayBuffer>);
    return true;
  }

  close(code: number, reason: string): void {
    if (this.#socket.readyState <= WebSocket.OPEN) this.#socket.close(code, reason);
  }
}
