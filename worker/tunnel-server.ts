/**
 * All sessions of one phone at the edge: finds or opens the session that a socket speaks for, serves its streams, and
 * keeps a session without a socket for a while, so that a phone that lost its link goes on where it was. Runtime
 * neutral; `tunnel-object.ts` and `entry-deno.ts` bring the sockets.
 */
import { ErrorCode, RopewayError } from "../shared/errors.ts";
import { ACCEPT_PUSH, parseAcceptPush, type SlotScheme } from "../shared/http/push.ts";
import { type RequestHandler, type ServerRequest, serveExchange } from "../shared/http/server-exchange.ts";
import { limits } from "../shared/limits.ts";
import { Session, type SessionSnapshot } from "../shared/mux/session.ts";
import { CLOSE_CODE_BASE } from "../shared/subprotocol.ts";
import type { Transport } from "../shared/transport.ts";
import { type ChannelFrame, decodeMessage, encodeFrame } from "../shared/wire/frame.ts";
import type { DeliveredSnapshot } from "./optimizer/delivered-resources.ts";
import { SessionPushes } from "./optimizer/session-pushes.ts";

/** What is constant for a session; sent once by the phone. */
export interface SessionConstants {
  readonly userAgent: string;
  readonly acceptLanguage: string;
  /** Where the phone takes pushes: scheme of the hosts that its pages are on. */
  readonly slotScheme?: SlotScheme;
}

/** Where a hibernated socket's session goes on. Plain data; fits limits.attachmentBytes. */
export interface ConnectionSnapshot {
  readonly sessionId: Uint8Array;
  readonly constants: SessionConstants;
  readonly isRepeat: boolean;
  readonly session: SessionSnapshot;
  readonly delivered: DeliveredSnapshot;
}

/** One socket, from its first message to its close. */
export interface Connection {
  receive(message: Uint8Array): void;
  closed(): void;
}

export interface TunnelServerOptions {
  /** Answers a request of the phone. */
  readonly handle: (request: ServerRequest, constants: SessionConstants) => ReturnType<RequestHandler>;
  /**
   * What a session restored on this socket goes on from; null once an exchange is under way, since those are not
   * restored. Whoever keeps snapshots must forget the former one at once: it no longer is what the phone has.
   */
  readonly onSnapshot?: (transport: Transport, snapshot: ConnectionSnapshot | null) => void;
  /** Whether any exchange is under way: the runtime must not hibernate then. */
  readonly onActive?: (active: boolean) => void;
  readonly setTimer: (task: () => void, delay: number) => () => void;
}

const DEFAULT_CONSTANTS: SessionConstants = { userAgent: "", acceptLanguage: "" };

export class TunnelServer {
  #options: TunnelServerOptions;
  #sessions = new Map<string, ServedSession>();
  #active = false;

  constructor(options: TunnelServerOptions) {
    this.#options = options;
  }

  get sessionCount(): number {
    return this.#sessions.size;
  }

  /** A socket that was just accepted; its first frame says which session it carries. */
  connect(transport: Transport): Connection {
    let served: ServedSession | null = null;
    let refused: { readonly stop: () => void } | null = null;
    return {
      receive: (message) => {
        if (refused !== null) return;
        try {
          served ??= this.#open(transport, message);
        } catch (error) {
          refused = { stop: this.#refuse(transport, error) };
          return;
        }
        served.receive(transport, message);
      },
      closed: () => {
        refused?.stop();
        served?.detach(transport);
      },
    };
  }

  /** A socket that outlived the object's memory. Without a snapshot nothing is known, and it is closed. */
  restore(transport: Transport, snapshot: ConnectionSnapshot | null): Connection {
    if (snapshot === null) {
      transport.close(CLOSE_CODE_BASE + ErrorCode.LINK_LOST, "the session was lost, open a new one");
      return { receive: () => {}, closed: () => {} };
    }
    const served = this.#serve(snapshot.sessionId, snapshot, snapshot.isRepeat);
    served.adopt(transport);
    return {
      receive: (message) => served.receive(transport, message),
      closed: () => served.detach(transport),
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

  #open(transport: Transport, message: Uint8Array): ServedSession {
    const hello = firstFrame(message);
    const known = this.#sessions.get(toKey(hello.sessionId));
    const isBeginning = hello.received === 0 && hello.next === 0 && (hello.channel ?? 0) === 0;
    if (known === undefined && !isBeginning) {
      throw new RopewayError(ErrorCode.LINK_LOST, "session", "library", "Cannot resume: the session was lost");
    }
    if (known === undefined && this.#sessions.size >= limits.sessionsPerPhone) this.#dropOldestDetached();
    const served = known ?? this.#serve(hello.sessionId, null, hello.resume);
    served.attach(transport, hello);
    return served;
  }

  /** @param isRepeat the phone sent it on an earlier link, and no memory of that is left: all of it may have run. */
  #serve(sessionId: Uint8Array, snapshot: ConnectionSnapshot | null, isRepeat: boolean): ServedSession {
    const key = toKey(sessionId);
    const served = new ServedSession({ sessionId, snapshot, isRepeat }, this.#options, {
      ended: () => {
        this.#sessions.delete(key);
        this.#updateActive();
      },
      changed: () => this.#updateActive(),
    });
    this.#sessions.set(key, served);
    return served;
  }

  #dropOldestDetached(): void {
    for (const served of this.#sessions.values()) {
      if (served.session.channel.attached) continue;
      served.end();
      return;
    }
    throw new RopewayError(
      ErrorCode.ENHANCE_YOUR_CALM,
      "session",
      "peer",
      `Cannot open more than ${limits.sessionsPerPhone} sessions: close a window of the app`,
    );
  }

  #updateActive(): void {
    const active = [...this.#sessions.values()].some((served) => served.session.openStreams > 0);
    if (active === this.#active) return;
    this.#active = active;
    this.#options.onActive?.(active);
  }
}

class ServedSession {
  readonly session: Session;
  #options: TunnelServerOptions;
  #constants: SessionConstants;
  #isRepeat: boolean;
  #pushes: SessionPushes;
  #link: Link | null = null;
  /** Whether the last that `onSnapshot` was told of this link is a snapshot. */
  #hasSnapshot = false;
  #saveScheduled = false;
  #cancelLinger: (() => void) | null = null;

  constructor(
    {
      sessionId,
      snapshot,
      isRepeat,
    }: {
      readonly sessionId: Uint8Array;
      readonly snapshot: ConnectionSnapshot | null;
      readonly isRepeat: boolean;
    },
    options: TunnelServerOptions,
    parent: { ended: () => void; changed: () => void },
  ) {
    this.#options = options;
    this.#constants = snapshot?.constants ?? DEFAULT_CONSTANTS;
    this.#isRepeat = isRepeat;
    this.#pushes = new SessionPushes({
      openPush: (priority) => this.session.openPush(priority),
      handle: (request) => this.#handle(request),
      slotScheme: () => this.#constants.slotScheme ?? null,
      now: () => Date.now(),
      setTimer: options.setTimer,
      snapshot: snapshot?.delivered,
    });
    this.session = new Session({
      role: "edge",
      sessionId,
      ...(snapshot ? { snapshot: snapshot.session } : {}),
      handler: {
        onStream: (stream) => serveExchange(stream, (request) => this.#pushes.answer(request, stream)),
        onSessionHead: (fields) => {
          const field = (name: string): string => fields.find((line) => line[0] === name)?.[1].slice(0, 1024) ?? "";
          const slotScheme = parseAcceptPush(field(ACCEPT_PUSH));
          this.#constants = {
            userAgent: field("user-agent"),
            acceptLanguage: field("accept-language"),
            ...(slotScheme === null ? {} : { slotScheme }),
          };
        },
        onStreamsChanged: () => {
          parent.changed();
          this.#pushes.streamsChanged();
          this.#scheduleSave();
        },
        onEnd: () => {
          this.#cancelLinger?.();
          parent.ended();
        },
      },
    });
  }

  /** @throws RopewayError LINK_LOST when the phone cannot go on where it was; the session has ended then. */
  attach(transport: Transport, hello: ChannelFrame & { type: "hello" }): void {
    const link = this.#observe(transport);
    try {
      this.session.channel.resume(link.observed, hello);
    } catch (error) {
      this.end();
      throw error;
    }
    this.#take(link, false);
  }

  /** A socket that outlived the memory of the session it carries. */
  adopt(transport: Transport): void {
    const link = this.#observe(transport);
    this.session.channel.adopt(link.observed);
    this.#take(link, true);
  }

  receive(transport: Transport, message: Uint8Array): void {
    // A socket that was replaced may still deliver.
    if (this.#link?.transport !== transport) return;
    this.session.channel.receive(message, this.#link.observed);
    this.#save();
  }

  detach(transport: Transport): void {
    const link = this.#link;
    if (link?.transport !== transport || !this.session.channel.detach(link.observed)) return;
    this.#link = null;
    this.#cancelLinger = this.#options.setTimer(() => this.end(), limits.sessionLinger);
  }

  end(): void {
    this.session.end(new RopewayError(ErrorCode.LINK_LOST, "session", "peer", "The phone did not come back"));
  }

  #handle(request: ServerRequest): ReturnType<RequestHandler> {
    const { head } = request;
    if (!this.#isRepeat) return this.#options.handle(request, this.#constants);
    const delivery = { id: null, continuation: null, ...head.delivery, isRepeat: true };
    return this.#options.handle({ ...request, head: { ...head, delivery } }, this.#constants);
  }

  #take(link: Link, hasSnapshot: boolean): void {
    this.#cancelLinger?.();
    this.#cancelLinger = null;
    const replaced = this.#link;
    this.#link = link;
    if (replaced !== null && this.#hasSnapshot) this.#options.onSnapshot?.(replaced.transport, null);
    this.#hasSnapshot = hasSnapshot;
  }

  /** All that a snapshot holds changes with a message received or sent, so both lead to a save. */
  #observe(transport: Transport): Link {
    const observed: Transport = {
      send: (message) => {
        this.#scheduleSave();
        return transport.send(message);
      },
      close: (code, reason) => transport.close(code, reason),
    };
    return { transport, observed };
  }

  /** Later, since a stream is closed before its last frame is handed to the channel. */
  #scheduleSave(): void {
    if (this.#saveScheduled) return;
    this.#saveScheduled = true;
    queueMicrotask(() => this.#save());
  }

  #save(): void {
    const { onSnapshot } = this.#options;
    const { session } = this;
    const isIdle = session.openStreams === 0 && session.ended === null;
    // Frames that are still queued count as sent in the snapshot, so they must be on the socket first.
    if (isIdle && onSnapshot !== undefined) session.channel.flush();
    this.#saveScheduled = false;
    if (onSnapshot === undefined || this.#link === null || !(isIdle || this.#hasSnapshot)) return;
    this.#hasSnapshot = isIdle;
    onSnapshot(
      this.#link.transport,
      isIdle
        ? {
            sessionId: session.channel.sessionId,
            constants: this.#constants,
            isRepeat: this.#isRepeat,
            session: session.snapshot(),
            delivered: this.#pushes.snapshot(),
          }
        : null,
    );
  }
}

/** A socket, and how the channel sees it. */
interface Link {
  readonly transport: Transport;
  readonly observed: Transport;
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

function toKey(sessionId: Uint8Array): string {
  return Array.from(sessionId, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
