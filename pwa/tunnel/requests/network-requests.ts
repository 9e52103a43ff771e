/**
 * Requests that the edge answers. While there is no link they wait, for as long as the person has patience. Each has
 * its own wait, which begins when it was made, or when the link was lost.
 */
import type { Clock } from "../../../shared/clock.ts";
import { ErrorCode, type RopewayError } from "../../../shared/errors.ts";
import { documentName } from "../../../shared/http/exchange.ts";
import { EDGE_SCHEME } from "../../../shared/http/head-fields.ts";
import type { MuxStream } from "../../../shared/mux/stream/stream.ts";
import type { Priority } from "../../../shared/wire/frame.ts";
import { DEFAULT_WAIT_TIME } from "../../messages/tunnel-messages.ts";
import { LinkPatience } from "../sockets/socket-keeper.ts";
import type { TunnelCounters } from "../tunnel-counters.ts";
import { LastingRequest, type OpenedStream, type RequestOutcome } from "./lasting-request.ts";
import { LAST, priorityOf } from "./priority.ts";
import { RepeatableBody } from "./repeatable-body.ts";
import type { Ask } from "./response-source.ts";

/** What they need of their tunnel. */
export interface NetworkHost {
  /** In the session of the moment: at once if there is room. Rejects with the session's error if that ends. */
  openStream(priority: Priority): OpenedStream | Promise<OpenedStream>;
  /** Why none can be made, or null. */
  refusal(): RopewayError | null;
  /** Why one that has waited too long fails; null while the link is open. */
  absence(): RopewayError | null;
  onAsked(): void;
  onOver(request: LastingRequest, error: RopewayError | null): void;
  /** A document will not come whole. `name` is that of its stream (`documentName`). */
  onDocumentLost(name: string): void;
}

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

  readonly ask: Ask = ({ head, body, push }, consumer) => {
    let documentStream: MuxStream | null = null;
    const isToEdge = head.url.startsWith(EDGE_SCHEME);
    // Nobody waits for what the edge is asked for itself.
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
      consumer: this.#counters.counting(consumer),
      openStream: () => {
        const one = this.#host.openStream(isAhead ? LAST : priorityOf(head.destination));
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

  /** All that are under way. */
  fail(error: RopewayError): void {
    for (const request of [...this.#pending.keys()]) request.fail(error);
  }

  #over(request: LastingRequest, outcome: RequestOutcome, error: RopewayError | null): void {
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
