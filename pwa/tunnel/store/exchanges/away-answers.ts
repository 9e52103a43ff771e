/**
 * Requests that the store may answer when the link is away: nobody knows how long the edge's answer would take then.
 */
import { ErrorCode, type RopewayError } from "../../../../shared/errors.ts";
import type { ClientExchange, ResponseConsumer } from "../../../../shared/http/exchange.ts";
import type { RequestHead } from "../../../../shared/http/heads.ts";
import { type CacheRequest, mayAnswerStale } from "../../../../shared/http-cache/cache-rules.ts";
import { passingOn } from "../../requests/response-source.ts";
import type { StoredSourcePlatform } from "../stored-source-platform.ts";
import { asStored } from "./as-stored.ts";
import { isPage } from "./stored-exchange.ts";
import type { Variant } from "./variants-of.ts";

/** Begins the answer that is given in place of the edge's, to the consumer it gets. */
export type StoredInstead = (consumer: ResponseConsumer) => ClientExchange;

type Asked = CacheRequest & Pick<RequestHead, "topLevelOrigin" | "destination">;

/** Milliseconds that a page which is shown as it was waits with what it has to have before it goes on. */
const HELD_UP = 5_000;

type GuardState = "asked" | "answered" | "over";

export class AwayAnswers {
  readonly #platform: Pick<StoredSourcePlatform, "isAway" | "setTimer" | "failure">;
  /** What to do for each request without a head when the link goes away. */
  readonly #onLeft = new Set<() => void>();
  /** Pages that are shown as they were, by top-level origin: what their documents ask for is, too. */
  readonly #shownAsWere = new Map<string, "as stored" | { readonly kept: string }>();

  constructor(platform: Pick<StoredSourcePlatform, "isAway" | "setTimer" | "failure">) {
    this.#platform = platform;
  }

  /** The link went away. */
  linkLeft(): void {
    for (const left of [...this.#onLeft]) left();
  }

  /** A page is asked for, whoever answers. */
  pageBegins(head: Asked): void {
    if (!isPage(head)) return;
    if (this.#platform.isAway()) this.#shownAsWere.set(head.topLevelOrigin, "as stored");
    else this.#shownAsWere.delete(head.topLevelOrigin);
  }

  /**
   * Which of the stored responses is shown in place of the edge's answer, or null. A page that the person asks for is shown
   * as the history shows it (RFC 9111 section 6), whole: also what says `no-cache` or `must-revalidate`, which a page that
   * came from the edge is not given stale.
   */
  choose(head: Asked, variants: readonly Variant[], now: number): Variant | null {
    const stored = asStored(head, variants, now);
    if (stored === null) return null;
    const { kept } = stored.entry;
    const isAsItWas = isPage(head) || this.#shownAsWere.has(head.topLevelOrigin);
    if (!isAsItWas && !mayAnswerStale(stored)) return null;
    if (isPage(head)) {
      this.#shownAsWere.set(head.topLevelOrigin, kept === undefined ? "as stored" : { kept });
    }
    return stored;
  }

  /** The kept page, by its URL, that this may be, or that asks for it; null where there is none. */
  keptPage(head: Asked): string | null {
    if (isPage(head)) return this.#platform.isAway() ? head.url : null;
    const shown = this.#shownAsWere.get(head.topLevelOrigin);
    return typeof shown === "object" ? shown.kept : null;
  }

  /** Whether a kept page that is shown does without this, if it is not stored: it is not held up until the link is back. */
  lacksNow(head: Asked): boolean {
    return !isPage(head) && this.#platform.isAway() && this.keptPage(head) !== null;
  }

  /** Whether a page that is shown as it was shows nothing of what follows until it has this. */
  #holdsUp(head: Asked): boolean {
    const isBlocking = head.destination === "script" || head.destination === "style";
    return isBlocking && this.#platform.isAway() && this.#shownAsWere.has(head.topLevelOrigin);
  }

  /**
   * Asks, and answers by what is stored if the link goes away first, or is away.
   *
   * @param find what is stored; null where nothing is, or it may not be shown so. Does not reject.
   */
  ask(
    head: Asked,
    consumer: ResponseConsumer,
    start: (consumer: ResponseConsumer) => ClientExchange,
    find: () => Promise<StoredInstead | null>,
  ): ClientExchange {
    let state: GuardState = "asked";
    const isDecided = () => state !== "asked";
    const decide = (next: GuardState): void => {
      state = next;
      this.#onLeft.delete(left);
      cancelTimer();
    };
    const fallBack = async (error: RopewayError | null): Promise<void> => {
      const instead = await find();
      if (isDecided()) return;
      if (instead === null) {
        if (error === null) return;
        decide("over");
        return consumer.onError(error);
      }
      decide("answered");
      exchange.cancel();
      exchange = instead(consumer);
    };
    const giveUp = (): void => {
      if (isDecided() || !this.#platform.isAway()) return;
      decide("over");
      exchange.cancel();
      consumer.onError(
        this.#platform.failure(ErrorCode.OFFLINE, "Cannot load: the link is away, and it is not stored"),
      );
    };
    const cancelTimer = this.#holdsUp(head) ? this.#platform.setTimer(giveUp, HELD_UP) : () => {};
    const left = () => void fallBack(null);
    this.#onLeft.add(left);
    let exchange = start(
      passingOn(consumer, {
        onHead: (head) => {
          decide("answered");
          consumer.onHead(head);
        },
        onError: (error) => {
          if (!isDecided() && isLinks(error)) return void fallBack(error);
          decide("over");
          consumer.onError(error);
        },
      }),
    );
    if (this.#platform.isAway()) left();
    return {
      cancel() {
        decide("over");
        exchange.cancel();
      },
    };
  }
}

function isLinks({ code }: RopewayError): boolean {
  return code === ErrorCode.LINK_LOST || code === ErrorCode.OFFLINE;
}
