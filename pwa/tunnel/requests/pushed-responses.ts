import type { Clock } from "../../../shared/clock.ts";
import type { LinkDecoders } from "../../../shared/coding/link-coding.ts";
import { ErrorCode, type RopewayError } from "../../../shared/errors.ts";
import {
  fieldsToPush,
  isPushable,
  type PushAnnouncement,
  pushKey,
  receivePush,
} from "../../../shared/http/exchange.ts";
import type { HeaderList, RequestHead } from "../../../shared/http/heads.ts";
import * as limits from "../../../shared/limits.ts";
import type { MuxStream } from "../../../shared/mux/stream/stream.ts";
import type { PushStats } from "../../messages/tunnel-messages.ts";
import {
  type ClaimedPush,
  type PhoneRequest,
  passingOn,
  type ResponseSource,
  type SessionTrace,
  tellingOver,
} from "../exchange/exchange.ts";
import { HeldResponse, HeldResponses } from "./held-responses.ts";
import { priorityOf } from "./network-requests.ts";

class PushedResponse extends HeldResponse implements ClaimedPush {
  readonly stream: MuxStream;
  readonly session: SessionTrace;
  readonly announcement: PushAnnouncement;
  /** Coded bytes that have arrived. */
  bytes = 0;

  constructor(stream: MuxStream, session: SessionTrace, announcement: PushAnnouncement) {
    super();
    this.stream = stream;
    this.session = session;
    this.announcement = announcement;
  }
}

/**
 * Responses that the edge pushed and no page has asked for yet (PROTOCOL.md section 5.6). Each push is for one
 * request (`pushKey`), of one partition. So no other site, and no document, ever gets to see it. An unclaimed push is
 * dropped after a while, or when its page goes.
 */
export class PushedResponses {
  #counters = { pushes: 0, pushesClaimed: 0, pushesWasted: 0, pushedBytes: 0 };
  #budget = new PushBudget();
  #waiting: HeldResponses<PushedResponse>;
  /** Keys of requests that pages have made already. An announcement may be late where its document came on another channel. */
  #asked = new Set<string>();
  /** Whether a page would have it from the phone itself. */
  #isAtHand: (head: RequestHead) => boolean;
  #decoders: LinkDecoders | undefined;

  constructor(
    clock: Pick<Clock, "setTimer">,
    isAtHand: (head: RequestHead) => boolean = () => false,
    decoders?: LinkDecoders,
  ) {
    this.#isAtHand = isAtHand;
    this.#decoders = decoders;
    this.#waiting = new HeldResponses(clock, limits.unclaimedPushTime, () => this.#wasted(1));
  }

  get stats(): PushStats {
    return { ...this.#counters, pushShare: this.#budget.share, pushBudget: this.#budget.pushes };
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

  /** Finds the push that answers a request. The request goes on with it: the push may break off. */
  readonly source: ResponseSource = (request, consumer, next) => {
    const { head, body } = request;
    if (head.mode === "navigate") return next(this.#withBudget(request), consumer);
    if (body !== null || !isPushable(head)) return next(request, consumer);
    const key = pushKey(head);
    const push = this.#claim(key, head);
    if (push !== null) return next({ ...request, push }, consumer);
    // Until it is over, a push for its like is of no use.
    this.#asked.add(key);
    return tellingOver(next, () => void this.#asked.delete(key))(request, consumer);
  };

  /** Gives up what waits: all of it, or what one document named. */
  drop(document: string | null = null): void {
    this.#wasted(this.#waiting.drop(({ announcement }) => document === null || announcement.document === document));
  }

  /** The origin's scripts would get other answers now than the pushes that wait for them. */
  dropOfScripts(origin: string | null): void {
    this.#wasted(this.#waiting.drop(({ announcement: { head } }) => head.destination === "" && head.origin === origin));
  }

  /** The edge pushes all that there is where nothing is said. */
  #withBudget(request: PhoneRequest): PhoneRequest {
    const { pushes } = this.#budget;
    if (pushes >= limits.pushesPerDocument) return request;
    return { ...request, head: { ...request.head, pushes } };
  }

  #wasted(count: number): void {
    this.#counters.pushesWasted += count;
    for (let each = 0; each < count; each += 1) this.#budget.decided(false);
  }

  #claim(key: string, { destination }: RequestHead): ClaimedPush | null {
    const push = this.#waiting.claim(key);
    if (push === null) return null;
    this.#counters.pushesClaimed += 1;
    this.#budget.decided(true);
    push.stream.widen();
    push.stream.reprioritize(priorityOf(destination));
    return push;
  }

  #announced(stream: MuxStream, session: SessionTrace, fields: HeaderList): void {
    const announcement = fieldsToPush(fields);
    const { head } = announcement;
    this.#counters.pushes += 1;
    const key = pushKey(head);
    // The push is the edge's answer to the page's own request, too: the edge asks the origin once.
    const isAwaited = this.#waiting.has(key) || this.#asked.has(key);
    const isOfNoUse = !isPushable(head) || this.#waiting.size >= limits.concurrentPushes || this.#isAtHand(head);
    if (isOfNoUse && !isAwaited) this.#wasted(1);
    if (isOfNoUse || isAwaited) return stream.reset(ErrorCode.CANCEL);
    const push = new PushedResponse(stream, session, announcement);
    this.#waiting.hold(key, push);
    push.setExchange(
      receivePush(
        stream,
        head.url,
        passingOn(push, {
          onError: (error) => {
            if (!saysWhatOriginDid(error)) this.#forget(push);
            push.onError(error);
          },
        }),
        this.#decoders,
      ),
    );
    this.#countBytes(push);
  }

  #countBytes(push: PushedResponse): void {
    const { handler } = push.stream;
    if (handler === null) return;
    push.stream.handler = {
      ...handler,
      onData: (chunk) => {
        const { length } = chunk;
        this.#counters.pushedBytes += length;
        push.bytes += length;
        handler.onData(chunk);
        let waiting = 0;
        for (const { bytes } of this.#waiting) waiting += bytes;
        if (waiting > limits.unclaimedPushBytes) this.#wasted(this.#forget(push));
      },
    };
  }

  /** If it still waits. @returns whether it did, as a count. */
  #forget(push: PushedResponse): number {
    return this.#waiting.drop((each) => each === push);
  }
}

/** A failure that the page's own request would have met too (PROTOCOL.md section 7). */
function saysWhatOriginDid({ code }: RopewayError): boolean {
  return code >= ErrorCode.NAME_NOT_RESOLVED;
}

/** Pushes, by which the share follows: those of the last page or two. */
const MEMORY = 64;
/** Shares: from here up all may come, and from here down the least. */
const [ENOUGH, POOR] = [0.9, 0.5];
/** Least pushes, so that it shows when pages change. */
const LEAST = 8;

/** How many pushes a page may have: all that there are as long as nearly all are of use, and fewer the more are not. */
export class PushBudget {
  #share = 1;

  /** From 0 to 1: those that pages asked for, of the latest. */
  get share(): number {
    return this.#share;
  }

  /** Count, of one page. */
  get pushes(): number {
    const part = Math.min(1, Math.max(0, (this.#share - POOR) / (ENOUGH - POOR)));
    return Math.round(LEAST + part * (limits.pushesPerDocument - LEAST));
  }

  /** A page has asked for a push, or none will. */
  decided(isOfUse: boolean): void {
    this.#share += (Number(isOfUse) - this.#share) / MEMORY;
  }
}
