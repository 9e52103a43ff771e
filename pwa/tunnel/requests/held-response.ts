/**
 * A response between what answers it and whoever takes it, paced on the way. Until somebody does, it is held: a
 * navigation that began while its slot was still being set up, one whose redirect the page must see first, or a push.
 * Buffers at most the stream's credit; then the edge waits.
 */
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { ResponseConsumer } from "../../../shared/http/exchange.ts";
import type { ResponseHead } from "../../../shared/http/heads.ts";
import { type Answer, DEAF } from "./response-source.ts";

type Delivery = Held | Attached;

interface Held {
  readonly consumer: null;
  readonly waiting: (WaitingChunk & { readonly chunk: Uint8Array })[];
}

interface Attached {
  readonly consumer: ResponseConsumer;
  /** Bytes that may be handed on before the consumer must have read some. */
  credit: number;
  /** Chunks that were handed on beyond the credit; the stream's own credit bounds them. */
  readonly waiting: WaitingChunk[];
}

interface WaitingChunk {
  readonly taken: (ready?: Promise<void>) => void;
}

const CANCELLED: Delivery = { consumer: DEAF, credit: Number.POSITIVE_INFINITY, waiting: [] };

export class HeldResponse implements ResponseConsumer {
  #exchange: Answer | null = null;
  #delivery: Delivery = { consumer: null, waiting: [] };
  #head: ResponseHead | null = null;
  #outcome: "end" | RopewayError | null = null;
  #settle!: (outcome: ResponseHead | RopewayError) => void;

  /** What it was asked for with, or null where whoever claims the response asked for it too. */
  referrer: string | null;
  /** The shell's id of the navigation that it is, or null. */
  id: number | null;
  /** The head, or the failure before it. */
  readonly settled: Promise<ResponseHead | RopewayError> = new Promise((resolve) => {
    this.#settle = resolve;
  });

  constructor(referrer: string | null = null, id: number | null = null) {
    this.referrer = referrer;
    this.id = id;
  }

  get head(): ResponseHead | null {
    return this.#head;
  }

  /** What feeds this response; `cancel` goes there. */
  setExchange(exchange: Answer): void {
    this.#exchange = exchange;
    if (exchange.held !== undefined) ({ referrer: this.referrer, id: this.id } = exchange.held);
    if (this.#delivery === CANCELLED) exchange.cancel();
  }

  /**
   * Hands everything, past and to come, to `consumer`.
   *
   * @param credit bytes until it has to `grant` more; without end if not given.
   */
  attach(consumer: ResponseConsumer, credit = Number.POSITIVE_INFINITY): void {
    const former = this.#delivery;
    this.#delivery = { consumer, credit, waiting: [] };
    if (this.#head !== null) consumer.onHead(this.#head);
    if (former.consumer === null) for (const { chunk, taken } of former.waiting) taken(this.onBody(chunk));
    else release(former);
    this.#tellOutcome();
  }

  /** The consumer has read so many bytes. */
  grant(bytes: number): void {
    if (this.#delivery.consumer === null) return;
    this.#delivery.credit += bytes;
    if (this.#delivery.credit > 0) release(this.#delivery);
  }

  /** Answers a request: `consumer` hears nothing before this has returned. */
  answer(consumer: ResponseConsumer): Answer {
    queueMicrotask(() => {
      if (this.#delivery !== CANCELLED) this.attach(consumer);
    });
    return { cancel: () => this.cancel(), held: this };
  }

  cancel(): void {
    const former = this.#delivery;
    this.#delivery = CANCELLED;
    release(former);
    this.#exchange?.cancel();
    if (this.#outcome !== null) return;
    this.#outcome = new RopewayError(ErrorCode.CANCEL, "stream", "user", "Cannot go on: it was given up");
    this.#settle(this.#outcome);
    former.consumer?.onError(this.#outcome);
  }

  onHead(head: ResponseHead): void {
    this.#head = head;
    this.#settle(head);
    this.#delivery.consumer?.onHead(head);
  }

  onBody(chunk: Uint8Array): Promise<void> | undefined {
    const delivery = this.#delivery;
    if (delivery.consumer === null) {
      return new Promise((taken) => {
        delivery.waiting.push({ chunk, taken });
      });
    }
    delivery.credit -= chunk.length;
    const ready = delivery.consumer.onBody(chunk);
    if (delivery.credit > 0) return ready;
    return new Promise((resolve) => {
      delivery.waiting.push({ taken: () => resolve(ready) });
    });
  }

  onEnd(): void {
    this.#outcome = "end";
    this.#tellOutcome();
  }

  onError(error: RopewayError): void {
    this.#outcome = error;
    if (this.#head === null) this.#settle(error);
    this.#tellOutcome();
  }

  #tellOutcome(): void {
    const { consumer } = this.#delivery;
    if (consumer === null || this.#outcome === null) return;
    // No credit follows the end.
    release(this.#delivery);
    if (this.#outcome === "end") consumer.onEnd();
    else consumer.onError(this.#outcome);
  }
}

/** What was not handed on is lost, and what waits for credit was: both count as taken, the session needs its credit. */
function release({ waiting }: Delivery): void {
  for (const { taken } of waiting.splice(0)) taken();
}
