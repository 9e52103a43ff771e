import type { Clock } from "../../../shared/clock.ts";
import { ErrorCode, type RopewayError } from "../../../shared/errors.ts";
import { documentName } from "../../../shared/http/exchange.ts";
import { EDGE_SCHEME, headerValue } from "../../../shared/http/head-fields.ts";
import type { Destination, ResponseHead } from "../../../shared/http/heads.ts";
import { SHARED_CACHE } from "../../../shared/http/phone-fields.ts";
import type { Session } from "../../../shared/mux/session/session.ts";
import type { MuxStream } from "../../../shared/mux/stream/stream.ts";
import type { Priority } from "../../../shared/wire/frame.ts";
import {
  DEFAULT_WAIT_TIME,
  type PushStats,
  type StoreStats,
  type TunnelStats,
  type WarmedStats,
} from "../../messages/tunnel-messages.ts";
import type { Ask, Outcome, Tap } from "../exchange/exchange.ts";
import { FROZEN_AFTER, type SocketContext } from "../sockets/socket-keeper.ts";
import { LastingRequest, type OpenedStream, RepeatableBody } from "./lasting-request.ts";

/** The tunnel, as its requests need it. */
interface NetworkHost {
  /**
   * In the session of the moment: at once if there is room. Rejects with the session's error if that ends.
   *
   * @param asker whose pages share what there is of streams; "" for the app itself.
   */
  openStream(priority: Priority, asker: string): OpenedStream | Promise<OpenedStream>;
  /** Why none can be made, or null. */
  refusal(): RopewayError | null;
  /** Why one that has waited too long fails; null while the link is open. */
  absence(): RopewayError | null;
  onAsked(): void;
  onOver(request: LastingRequest, error: RopewayError | null): void;
  /** A document will not come whole. `name` is that of its stream (`documentName`). */
  onDocumentLost(name: string): void;
}

/**
 * Requests that the edge answers. While there is no link they wait, for as long as the person has patience. Each has
 * its own wait, which begins when it was made, or when the link was lost.
 */
export class NetworkRequests {
  #host: NetworkHost;
  #clock: Clock;
  #counters: TunnelCounters;
  /** Requests under way, and what `#patience` showed when their wait could begin. */
  #pending = new Map<LastingRequest, number>();
  #patience: LinkPatience;
  #waitTime: number = DEFAULT_WAIT_TIME;
  #lostAt = 0;
  #keptBodies = { total: 0 };

  constructor(host: NetworkHost, clock: Clock, counters: TunnelCounters) {
    this.#host = host;
    this.#clock = clock;
    this.#counters = counters;
    this.#patience = new LinkPatience(clock, () => this.#endWaits());
    this.#patience.start();
  }

  get areUnderWay(): boolean {
    return this.#pending.size > 0;
  }

  readonly ask: Ask = ({ head, body, push, taps = [], file }, consumer) => {
    let documentStream: MuxStream | null = null;
    const isToEdge = head.url.startsWith(EDGE_SCHEME);
    // No page waits for the edge's own answers.
    const isAhead = isToEdge && head.method === "GET";
    const opened = (one: OpenedStream): OpenedStream => {
      documentStream = head.mode === "navigate" ? one.stream : null;
      // A cookie that a script sets goes with what is asked after it.
      one.stream.leads = isToEdge && !isAhead;
      return one;
    };
    const request: LastingRequest = new LastingRequest({
      head,
      body: body === null ? null : new RepeatableBody(body, this.#keptBodies),
      push,
      file,
      consumer,
      taps: [this.#counters.tap, ...taps],
      openStream: () => {
        const priority = file === undefined ? priorityOf(head.destination) : BULK;
        const one = this.#host.openStream(isAhead ? LAST : priority, isToEdge ? "" : head.topLevelOrigin);
        return one instanceof Promise ? one.then(opened) : opened(one);
      },
      clock: this.#clock,
      onOver: (outcome, error) => {
        if (outcome !== "done" && documentStream !== null) this.#host.onDocumentLost(documentName(documentStream));
        this.#over(request, outcome, error);
      },
    });
    this.#counters.counts.requests += 1;
    this.#pending.set(request, this.#patience.waited);
    const refusal = this.#host.refusal();
    if (refusal !== null) queueMicrotask(() => request.fail(refusal));
    else request.start();
    this.#host.onAsked();
    return { cancel: () => request.cancel() };
  };

  /** @param waitTime milliseconds that a request waits without a link. */
  setWaitTime(waitTime: number): void {
    this.#waitTime = waitTime;
    this.#endWaits();
  }

  showLink(isThere: boolean): void {
    if (!isThere) return this.#patience.start();
    this.#patience.stop();
    this.#lostAt = this.#patience.waited;
  }

  /** Fails all requests under way. */
  fail(error: RopewayError): void {
    for (const request of [...this.#pending.keys()]) request.fail(error);
  }

  #over(request: LastingRequest, outcome: Outcome, error: RopewayError | null): void {
    this.#pending.delete(request);
    this.#counters.over(outcome);
    if (error?.code === ErrorCode.BLOCKED) this.#counters.counts.trackersBlocked += 1;
    this.#host.onOver(request, error);
  }

  /**
   * Fails the requests that have waited long enough. A request's wait begins when it was made, or when the link was
   * lost.
   */
  #endWaits(): void {
    const error = this.#host.absence();
    if (error === null) return;
    const { waited } = this.#patience;
    for (const [request, since] of [...this.#pending]) {
      if (waited - Math.max(since, this.#lostAt) >= this.#waitTime) request.fail(error);
    }
  }
}

const FIRST: Priority = { urgency: 0, incremental: true };

const RENDER_BLOCKING: Priority = { urgency: 1, incremental: false };

const SCRIPT: Priority = { urgency: 2, incremental: false };

const DEFAULT: Priority = { urgency: 3, incremental: false };

/** For what nobody has asked for. */
const LAST: Priority = { urgency: 7, incremental: false };

const BULK: Priority = { urgency: 5, incremental: true };

/** RFC 9218 priorities by destination, in Chromium's order by resource type. Urgency 3, the default, costs no byte. */
export function priorityOf(destination: Destination): Priority {
  switch (destination) {
    case "document":
    case "frame":
    case "iframe":
      return FIRST;
    case "style":
    case "font":
      return RENDER_BLOCKING;
    case "script":
    case "worker":
    case "json":
    case "xslt":
      return SCRIPT;
    case "audio":
    case "video":
    case "track":
      return BULK;
    default:
      return DEFAULT;
  }
}

/** A tunnel's counts, over all of its sessions. */
export class TunnelCounters {
  readonly counts = {
    requests: 0,
    requestsDone: 0,
    requestsFailed: 0,
    trackersBlocked: 0,
    messagesDown: 0,
    originBytes: 0,
    sharedCacheHits: 0,
    sessions: 0,
    resumes: 0,
  };
  /** Body bytes that heads have announced. */
  expectedBytes = 0;
  /** Counts of sessions that ended, so that counters never go back. */
  #past = { up: 0, down: 0, messagesUp: 0, headBytesUp: 0, headBytesDown: 0 };

  over(outcome: Outcome): void {
    this.counts[outcome === "failed" ? "requestsFailed" : "requestsDone"] += 1;
  }

  /** Counts what the network answers. */
  readonly tap: Tap = {
    onHead: (head) => {
      this.expectedBytes += announcedLength(head);
      if (headerValue(head.headers, SHARED_CACHE) !== null) this.counts.sharedCacheHits += 1;
    },
    onChunk: (chunk) => {
      this.counts.originBytes += chunk.length;
    },
  };

  /** The session is over. */
  archive({ channels: { traffic }, streams: { headBytes } }: Session): void {
    this.#past.up += traffic.bytesUp;
    this.#past.down += traffic.bytesDown;
    this.#past.messagesUp += traffic.messagesUp;
    this.#past.headBytesUp += headBytes.sent;
    this.#past.headBytesDown += headBytes.received;
  }

  stats(
    session: Session | undefined,
    sockets: SocketContext["traffic"],
  ): Omit<TunnelStats, "road" | "sockets" | keyof (PushStats & StoreStats & WarmedStats)> {
    const traffic = session?.channels.traffic ?? { bytesUp: 0, bytesDown: 0, messagesUp: 0 };
    const heads = session?.streams.headBytes ?? { sent: 0, received: 0 };
    return {
      ...this.counts,
      socketsOpened: sockets.opened,
      channels: session?.channels.attachedCount ?? 0,
      channelsWanted: session?.wantedChannels ?? 1,
      linkBytesUp: this.#past.up + traffic.bytesUp + sockets.keepAliveBytesUp,
      linkBytesDown: this.#past.down + traffic.bytesDown + sockets.keepAliveBytesDown,
      messagesUp: this.#past.messagesUp + traffic.messagesUp,
      requestHeadBytes: this.#past.headBytesUp + heads.sent,
      responseHeadBytes: this.#past.headBytesDown + heads.received,
    };
  }
}

function announcedLength(head: ResponseHead): number {
  const length = Number(headerValue(head.headers, "content-length") ?? "0");
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}

const TICK = 1_000;

/**
 * For how long requests have waited without a link. Counts only while the app runs: what a phone slept through is no
 * time that anybody waited.
 */
class LinkPatience {
  #clock: Clock;
  #onTick: () => void;
  #waited = 0;
  #lastTick = 0;
  #cancelTimer: (() => void) | null = null;

  /** @param onTick called every second while there is no link. */
  constructor(clock: Clock, onTick: () => void) {
    this.#clock = clock;
    this.#onTick = onTick;
  }

  /** Milliseconds without a link so far, of all times together. */
  get waited(): number {
    return this.#waited;
  }

  /** The link is gone: time counts until `stop`. */
  start(): void {
    if (this.#cancelTimer !== null) return;
    this.#lastTick = this.#clock.now();
    this.#schedule();
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #schedule(): void {
    this.#cancelTimer = this.#clock.setTimer(() => {
      const now = this.#clock.now();
      const passed = now - this.#lastTick;
      this.#lastTick = now;
      this.#waited += passed > TICK + FROZEN_AFTER ? TICK : passed;
      this.#schedule();
      this.#onTick();
    }, TICK);
  }
}
