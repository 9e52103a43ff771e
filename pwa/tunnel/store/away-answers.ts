/** Requests whose answer may come out of the store when the link is away: what they wait for then is nobody knows when. */
import { ErrorCode, type RopewayError } from "../../../shared/errors.ts";
import type { ClientExchange, ResponseConsumer } from "../../../shared/http/client-exchange.ts";
import { passingOn } from "../requests/response-source.ts";

/** Begins the answer that is given in place of the edge's, to the consumer it gets. */
export type StoredInstead = (consumer: ResponseConsumer) => ClientExchange;

type GuardState = "asked" | "answered" | "over";

export class AwayAnswers {
  readonly #isAway: () => boolean;
  /** Of requests that have no head yet. */
  readonly #onLeft = new Set<() => void>();

  constructor(isAway: () => boolean) {
    this.#isAway = isAway;
  }

  /** The link went away. */
  linkLeft(): void {
    for (const left of [...this.#onLeft]) left();
  }

  /**
   * Asks, and answers by what is stored if the link goes away first, or is away.
   *
   * @param find what is stored; null where nothing is, or it may not be shown so. Does not reject.
   */
  ask(
    consumer: ResponseConsumer,
    start: (consumer: ResponseConsumer) => ClientExchange,
    find: () => Promise<StoredInstead | null>,
  ): ClientExchange {
    let state: GuardState = "asked";
    const isDecided = () => state !== "asked";
    const decide = (next: GuardState): void => {
      state = next;
      this.#onLeft.delete(left);
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
    if (this.#isAway()) left();
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
