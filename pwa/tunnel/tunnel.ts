/**
 * The client end of a session: one session after the other over one link, and every request of the phone on it. A
 * request that is safe to repeat, and of which nothing came back yet, is sent again when the edge lost its session.
 */
import { ErrorCode, RopewayError, toErrorCode } from "../../shared/errors.ts";
import { type ClientExchange, type ResponseConsumer, startExchange } from "../../shared/http/client-exchange.ts";
import { headerValue } from "../../shared/http/head-fields.ts";
import type { RequestHead, ResponseHead } from "../../shared/http/heads.ts";
import { limits } from "../../shared/limits.ts";
import { Session } from "../../shared/mux/session.ts";
import { CLOSE_CODE_BASE } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import { type Priority, SESSION_ID_BYTES } from "../../shared/wire/frame.ts";
import type { LinkPhase } from "../shell/browser-state.ts";
import { Link, type LinkPlatform } from "./link.ts";
import { priorityOf } from "./priority.ts";
import type { TunnelStats } from "./tunnel-messages.ts";

export interface TunnelHandler {
  onPhase(phase: LinkPhase): void;
  /** Counters changed; called often, so the callee samples. */
  onTraffic(): void;
}

export interface TunnelConstants {
  readonly userAgent: string;
  readonly acceptLanguage: string;
}

/** A request that is under way, through as many sessions as it takes. */
interface PendingRequest {
  readonly head: RequestHead;
  readonly body: ReadableStream<Uint8Array> | null;
  readonly consumer: ResponseConsumer;
  readonly priority: Priority;
  exchange: ClientExchange | null;
  attempts: number;
  answered: boolean;
  over: boolean;
}

const REPEATABLE = new Set(["GET", "HEAD", "OPTIONS"]);

export class Tunnel {
  readonly counters = { requests: 0, requestsDone: 0, requestsFailed: 0, originBytes: 0, expectedBytes: 0 };

  #link: Link;
  #handler: TunnelHandler;
  #constants: TunnelConstants = { userAgent: "", acceptLanguage: "" };
  #session: Session | null = null;
  #online = true;
  /** The edge knows the phone's token no more. */
  #isRefused = false;
  #pending = new Set<PendingRequest>();
  /** Of sessions that ended, so that counters never go back. */
  #past = { up: 0, down: 0, messagesUp: 0, headBytesUp: 0, headBytesDown: 0 };
  #messagesDown = 0;
  #sessions = 0;
  #resumes = 0;

  constructor(handler: TunnelHandler, platform: LinkPlatform) {
    this.#handler = handler;
    this.#link = new Link(
      {
        onOpen: (transport) => this.#attach(transport),
        onMessage: (transport, message) => {
          this.#messagesDown += 1;
          this.#session?.channel.receive(message, transport);
          handler.onTraffic();
        },
        onClose: (transport, code) => this.#detach(transport, code),
        onPhase: (phase) => {
          this.#isRefused = phase.kind === "refused";
          handler.onPhase(phase);
        },
        onUnreachable: () => this.giveUp(),
      },
      platform,
    );
  }

  start(url: string, token: string, constants: TunnelConstants): void {
    this.#constants = constants;
    this.#link.start(url, token);
  }

  setOnline(online: boolean): void {
    this.#online = online;
    this.#link.setOnline(online);
  }

  retryNow(): void {
    this.#link.retryNow();
  }

  /** Sends a request. The consumer hears of failures only through `onError`. */
  request(head: RequestHead, body: ReadableStream<Uint8Array> | null, consumer: ResponseConsumer): ClientExchange {
    const pending: PendingRequest = {
      head,
      body,
      consumer,
      priority: priorityOf(head.destination),
      exchange: null,
      attempts: 0,
      answered: false,
      over: false,
    };
    this.counters.requests += 1;
    this.#pending.add(pending);
    if (this.#isRefused || (!this.#online && !this.#link.open)) {
      queueMicrotask(() => this.#fail(pending, this.#whyNot()));
    } else {
      this.#send(pending);
    }
    return {
      cancel: () => {
        if (this.#settle(pending)) this.counters.requestsDone += 1;
        // Of use after the end too: bytes that wait for the consumer count as taken.
        pending.exchange?.cancel();
      },
    };
  }

  stats(): TunnelStats {
    const channel = this.#session?.channel.traffic ?? { bytesUp: 0, bytesDown: 0, messagesUp: 0 };
    const heads = this.#session?.headBytes ?? { sent: 0, received: 0 };
    return {
      sockets: this.#link.open ? 1 : 0,
      socketsOpened: this.#link.traffic.opened,
      requests: this.counters.requests,
      requestsDone: this.counters.requestsDone,
      requestsFailed: this.counters.requestsFailed,
      linkBytesUp: this.#past.up + channel.bytesUp + this.#link.traffic.keepAliveBytesUp,
      linkBytesDown: this.#past.down + channel.bytesDown + this.#link.traffic.keepAliveBytesDown,
      messagesUp: this.#past.messagesUp + channel.messagesUp,
      messagesDown: this.#messagesDown,
      originBytes: this.counters.originBytes,
      requestHeadBytes: this.#past.headBytesUp + heads.sent,
      responseHeadBytes: this.#past.headBytesDown + heads.received,
      sessions: this.#sessions,
      resumes: this.#resumes,
    };
  }

  #send(pending: PendingRequest): void {
    const session = this.#currentSession();
    pending.attempts += 1;
    session.openStream(pending.priority).then(
      (stream) => {
        if (pending.over) stream.reset(ErrorCode.CANCEL);
        else pending.exchange = startExchange(stream, pending.head, pending.body, this.#consumer(pending));
      },
      (error: unknown) => this.#failedAttempt(pending, error as RopewayError),
    );
  }

  #consumer(pending: PendingRequest): ResponseConsumer {
    return {
      onHead: (head) => {
        pending.answered = true;
        this.counters.expectedBytes += announcedLength(head);
        pending.consumer.onHead(head);
      },
      onBody: (chunk) => {
        this.counters.originBytes += chunk.length;
        return pending.consumer.onBody(chunk);
      },
      onEnd: () => {
        if (!this.#settle(pending)) return;
        this.counters.requestsDone += 1;
        this.#handler.onTraffic();
        pending.consumer.onEnd();
      },
      onError: (error) => this.#failedAttempt(pending, error),
    };
  }

  #failedAttempt(pending: PendingRequest, error: RopewayError): void {
    const lost = error.code === ErrorCode.LINK_LOST || error.code === ErrorCode.REFUSED_STREAM;
    const repeatable = REPEATABLE.has(pending.head.method) && pending.body === null && !pending.answered;
    if (lost && repeatable && pending.attempts < limits.exchangeAttempts && !pending.over) this.#send(pending);
    else this.#fail(pending, error);
  }

  #fail(pending: PendingRequest, error: RopewayError): void {
    if (!this.#settle(pending)) return;
    this.counters.requestsFailed += 1;
    this.#handler.onTraffic();
    pending.consumer.onError(error);
  }

  #settle(pending: PendingRequest): boolean {
    if (pending.over) return false;
    pending.over = true;
    this.#pending.delete(pending);
    return true;
  }

  #currentSession(): Session {
    const current = this.#session;
    if (current !== null && current.ended === null) return current;
    const session = new Session({
      role: "phone",
      sessionId: crypto.getRandomValues(new Uint8Array(SESSION_ID_BYTES)),
      handler: {
        onEnd: () => this.#archive(session),
        onResumed: () => {
          this.#resumes += 1;
        },
      },
    });
    session.sendSessionHead([
      ["user-agent", this.#constants.userAgent],
      ["accept-language", this.#constants.acceptLanguage],
    ]);
    this.#session = session;
    this.#sessions += 1;
    if (this.#transport !== null) session.channel.attach(this.#transport);
    return session;
  }

  #transport: Transport | null = null;

  #attach(transport: Transport): void {
    this.#transport = transport;
    const session = this.#session;
    if (session === null || session.ended !== null) this.#currentSession();
    else session.channel.attach(transport);
  }

  #detach(transport: Transport, code: number): void {
    if (this.#transport === transport) this.#transport = null;
    const session = this.#session;
    if (session === null) return;
    session.channel.detach(transport);
    // A code of ours: the edge said why, and the session is over. Anything else is the network's doing: resume.
    if (code >= CLOSE_CODE_BASE && code < 5000) {
      session.end(
        new RopewayError(
          toErrorCode(code - CLOSE_CODE_BASE),
          "session",
          "peer",
          "Cannot go on: the edge ended the session",
        ),
      );
    }
  }

  #archive(session: Session): void {
    const { bytesUp, bytesDown, messagesUp } = session.channel.traffic;
    this.#past.up += bytesUp;
    this.#past.down += bytesDown;
    this.#past.messagesUp += messagesUp;
    this.#past.headBytesUp += session.headBytes.sent;
    this.#past.headBytesDown += session.headBytes.received;
    if (this.#session === session) this.#session = null;
  }

  #whyNot(): RopewayError {
    if (this.#isRefused) return refused();
    return this.#online ? unreachable() : offline();
  }

  /** Nobody waits for ever: whatever is under way fails, and the next request starts a session of its own. */
  giveUp(): void {
    const error = this.#whyNot();
    for (const pending of [...this.#pending]) {
      pending.exchange?.cancel();
      this.#fail(pending, error);
    }
    this.#session?.end(error);
  }
}

function refused(): RopewayError {
  return new RopewayError(
    ErrorCode.KEY_NOT_ACCEPTED,
    "session",
    "peer",
    "Cannot reach the edge: it does not accept this phone any more; pair it again",
  );
}

function announcedLength(head: ResponseHead): number {
  const length = Number(headerValue(head.headers, "content-length") ?? "0");
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}

function unreachable(): RopewayError {
  return new RopewayError(
    ErrorCode.LINK_LOST,
    "session",
    "library",
    "Cannot reach the edge: check the network, then try again",
  );
}

function offline(): RopewayError {
  return new RopewayError(ErrorCode.OFFLINE, "session", "library", "Cannot reach the edge: this device is offline");
}
