/**
 * A response that is under way before anyone asked for it: a navigation that began while its slot was still being set
 * up, one whose redirect the page must see first, or a push. Buffers at most the stream's credit; then the edge waits.
 */
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { ResponseConsumer } from "../../../shared/http/client-exchange.ts";
import type { ResponseHead } from "../../../shared/http/heads.ts";
import type { Answer } from "./response-source.ts";

export class HeldResponse implements ResponseConsumer {
  #exchange: Answer | null = null;
  #consumer: ResponseConsumer | null = null;
  #head: ResponseHead | null = null;
  #chunks: { chunk: Uint8Array; taken: (ready?: Promise<void>) => void }[] = [];
  #outcome: "end" | RopewayError | null = null;
  #cancelled = false;
  #referrer: string | null;
  #settle!: (outcome: ResponseHead | RopewayError) => void;

  /** The head, or the failure before it. */
  readonly settled: Promise<ResponseHead | RopewayError> = new Promise((resolve) => {
    this.#settle = resolve;
  });

  constructor(referrer: string | null = null) {
    this.#referrer = referrer;
  }

  get head(): ResponseHead | null {
    return this.#head;
  }

  /** What it was asked for with, or null where whoever claims the response asked for it too. */
  get referrer(): string | null {
    return this.#referrer;
  }

  /** What feeds this response; `cancel` goes there. */
  setExchange(exchange: Answer): void {
    this.#exchange = exchange;
    if (exchange.held !== undefined) this.#referrer = exchange.held.referrer;
    if (this.#cancelled) exchange.cancel();
  }

  /** Hands everything, past and to come, to `consumer`. */
  attach(consumer: ResponseConsumer): void {
    this.#consumer = consumer;
    if (this.#head !== null) consumer.onHead(this.#head);
    for (const { chunk, taken } of this.#chunks.splice(0)) taken(consumer.onBody(chunk));
    if (this.#outcome === "end") consumer.onEnd();
    else if (this.#outcome !== null) consumer.onError(this.#outcome);
  }

  /** Answers a request: `consumer` hears nothing before this has returned. */
  answer(consumer: ResponseConsumer): Answer {
    queueMicrotask(() => {
      if (!this.#cancelled) this.attach(consumer);
    });
    return { cancel: () => this.cancel(), held: this };
  }

  cancel(): void {
    this.#cancelled = true;
    for (const { taken } of this.#chunks.splice(0)) taken();
    this.#exchange?.cancel();
    if (this.#outcome !== null) return;
    this.#outcome = new RopewayError(ErrorCode.CANCEL, "stream", "user", "Cannot go on: it was given up");
    this.#settle(this.#outcome);
    this.#consumer?.onError(this.#outcome);
  }

  onHead(head: ResponseHead): void {
    this.#head = head;
    this.#settle(head);
    this.#consumer?.onHead(head);
  }

  onBody(chunk: Uint8Array): Promise<void> | undefined {
    if (this.#consumer !== null) return this.#consumer.onBody(chunk);
    return new Promise((resolve) => {
      this.#chunks.push({ chunk, taken: resolve });
    });
  }

  onEnd(): void {
    this.#outcome = "end";
    this.#consumer?.onEnd();
  }

  onError(error: RopewayError): void {
    this.#outcome = error;
    if (this.#head === null) this.#settle(error);
    this.#consumer?.onError(error);
  }
}
