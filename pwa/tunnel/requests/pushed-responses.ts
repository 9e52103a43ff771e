/**
 * Responses that the edge pushed and no page has asked for yet (PROTOCOL.md section 5.6). Each is for one request: who
 * asks, in which partition, for what and how. So no other site, and no document, ever gets to see it. What nobody claims
 * is dropped after a while, or when its page goes.
 */
import { ErrorCode, type RopewayError } from "../../../shared/errors.ts";
import { type ClientExchange, type ResponseConsumer, receivePush } from "../../../shared/http/client-exchange.ts";
import type { HeaderList, RequestHead } from "../../../shared/http/heads.ts";
import { fieldsToPush, isPushable, pushKey } from "../../../shared/http/push.ts";
import { limits } from "../../../shared/limits.ts";
import type { MuxStream } from "../../../shared/mux/stream/stream.ts";
import { HeldResponse } from "./held-response.ts";
import type { SessionTrace } from "./lasting-request.ts";
import { priorityOf } from "./priority.ts";

export interface PushTimers {
  now(): number;
  setTimer(task: () => void, delay: number): () => void;
}

/** A push that a request has taken over: from here on it is the response to that request. */
export interface ClaimedPush {
  readonly session: SessionTrace;
  /** The consumer hears nothing before this has returned. */
  attach(consumer: ResponseConsumer): ClientExchange;
}

interface WaitingPush {
  readonly key: string;
  readonly document: string;
  readonly stream: MuxStream;
  readonly session: SessionTrace;
  readonly held: HeldResponse;
  readonly since: number;
  /** Coded bytes that have arrived. */
  bytes: number;
}

export class PushedResponses {
  readonly counters = { pushes: 0, pushesClaimed: 0, pushedBytes: 0 };

  #timers: PushTimers;
  /** Oldest first. */
  #waiting = new Map<string, WaitingPush>();
  #waitingBytes = 0;
  /** What pages wait for already. An announcement may be late where its document came on another channel. */
  #asked = new Set<string>();
  #cancelSweep: (() => void) | null = null;

  constructor(timers: PushTimers) {
    this.#timers = timers;
  }

  /** A stream that the edge opened for a push; its first head follows. */
  accept(stream: MuxStream, session: SessionTrace): void {
    stream.handler = {
      onHead: (fields) => this.#announced(stream, session, fields),
      onData() {},
      onEnd() {},
      onReset() {},
    };
  }

  /** The push that answers this request, if there is one. Nobody else gets it any more. Without one `over` follows. */
  claim(head: RequestHead): ClaimedPush | null {
    if (!isPushable(head)) return null;
    const key = pushKey(head);
    const push = this.#waiting.get(key);
    if (push === undefined) {
      this.#asked.add(key);
      return null;
    }
    this.#forget(push);
    this.counters.pushesClaimed += 1;
    push.stream.widen();
    push.stream.reprioritize(priorityOf(head.destination));
    return {
      session: push.session,
      attach(consumer) {
        let isCancelled = false;
        queueMicrotask(() => {
          if (!isCancelled) push.held.attach(consumer);
        });
        return {
          cancel() {
            isCancelled = true;
            push.held.cancel();
          },
        };
      },
    };
  }

  /** Gives up what waits: all of it, or what one document named. */
  drop(document: string | null = null): void {
    for (const push of [...this.#waiting.values()]) {
      if (document === null || push.document === document) this.#drop(push);
    }
  }

  /** A request that had claimed no push is over: one that is announced for its like is of use again. */
  over(head: RequestHead): void {
    if (isPushable(head)) this.#asked.delete(pushKey(head));
  }

  #announced(stream: MuxStream, session: SessionTrace, fields: HeaderList): void {
    const { head, document } = fieldsToPush(fields);
    this.counters.pushes += 1;
    const key = pushKey(head);
    const isOfUse = isPushable(head) && !this.#waiting.has(key) && !this.#asked.has(key);
    if (!isOfUse || this.#waiting.size >= limits.concurrentPushes) {
      return stream.reset(ErrorCode.CANCEL);
    }
    const held = new HeldResponse();
    const push: WaitingPush = {
      key,
      document,
      stream,
      session,
      held,
      since: this.#timers.now(),
      bytes: 0,
    };
    this.#waiting.set(key, push);
    held.setExchange(
      receivePush(stream, head.url, {
        onHead: (response) => held.onHead(response),
        onBody: (chunk) => held.onBody(chunk),
        onEnd: () => held.onEnd(),
        onError: (error) => {
          if (!saysWhatOriginDid(error)) this.#forget(push);
          held.onError(error);
        },
      }),
    );
    this.#countBytes(push);
    this.#scheduleSweep();
  }

  #countBytes(push: WaitingPush): void {
    const { handler } = push.stream;
    if (handler === null) return;
    push.stream.handler = {
      ...handler,
      onData: (chunk) => {
        const { length } = chunk;
        this.counters.pushedBytes += length;
        handler.onData(chunk);
        if (this.#waiting.get(push.key) !== push) return;
        push.bytes += length;
        this.#waitingBytes += length;
        if (this.#waitingBytes > limits.unclaimedPushBytes) this.#drop(push);
      },
    };
  }

  #drop(push: WaitingPush): void {
    this.#forget(push);
    push.held.cancel();
  }

  #forget(push: WaitingPush): void {
    if (this.#waiting.get(push.key) !== push) return;
    this.#waiting.delete(push.key);
    this.#waitingBytes -= push.bytes;
  }

  #scheduleSweep(): void {
    const oldest = this.#waiting.values().next().value;
    if (oldest === undefined || this.#cancelSweep !== null) return;
    const age = this.#timers.now() - oldest.since;
    this.#cancelSweep = this.#timers.setTimer(() => this.#sweep(), limits.unclaimedPushTime - age);
  }

  #sweep(): void {
    this.#cancelSweep = null;
    const now = this.#timers.now();
    for (const push of [...this.#waiting.values()]) {
      if (now - push.since >= limits.unclaimedPushTime) this.#drop(push);
    }
    this.#scheduleSweep();
  }
}

/** A failure that the page's own request would have met too (PROTOCOL.md section 7). */
function saysWhatOriginDid({ code }: RopewayError): boolean {
  return code >= ErrorCode.NAME_NOT_RESOLVED;
}
