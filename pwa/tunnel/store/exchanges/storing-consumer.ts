import type { RopewayError } from "../../../../shared/errors.ts";
import type { ResponseConsumer } from "../../../../shared/http/exchange.ts";
import { headerValue } from "../../../../shared/http/head-fields.ts";
import type { ResponseHead } from "../../../../shared/http/heads.ts";
import { asWhole } from "../../../../shared/http-cache/cache-rules.ts";
import type { ResponseCopy } from "../database/new-entry.ts";

/** Passes a response on and copies it, if it may be stored. */
export class StoringConsumer<Meta> implements ResponseConsumer {
  readonly #consumer: ResponseConsumer;
  /** What to store with the response, and a copy of its body that begins; or null where it is not to be stored. */
  readonly #begin: (head: ResponseHead) => { readonly meta: Meta; readonly copy: ResponseCopy } | null;
  readonly #store: (head: ResponseHead, meta: Meta, copy: ResponseCopy) => void;
  #state:
    | { readonly kind: "idle" }
    | { readonly kind: "copying"; readonly head: ResponseHead; readonly meta: Meta; readonly copy: ResponseCopy } = {
    kind: "idle",
  };
  #bytes = 0;

  constructor(
    consumer: ResponseConsumer,
    begin: (head: ResponseHead) => { readonly meta: Meta; readonly copy: ResponseCopy } | null,
    store: (head: ResponseHead, meta: Meta, copy: ResponseCopy) => void,
  ) {
    this.#consumer = consumer;
    this.#begin = begin;
    this.#store = store;
  }

  onHead(head: ResponseHead): void {
    const begun = this.#begin(head);
    if (begun !== null) this.#state = { kind: "copying", head, ...begun };
    this.#consumer.onHead(head);
  }

  onBody(chunk: Uint8Array): Promise<void> | undefined {
    this.#bytes += chunk.length;
    if (this.#state.kind === "copying") this.#state.copy.body.write(chunk);
    return this.#consumer.onBody(chunk);
  }

  onEnd(): void {
    const state = this.#state;
    this.#state = { kind: "idle" };
    if (state.kind === "copying") {
      const announced = headerValue(asWhole(state.head).headers, "content-length");
      // It broke off where neither its origin nor the edge could know.
      if (announced === null || Number(announced) === this.#bytes) this.#store(state.head, state.meta, state.copy);
      else state.copy.body.giveUp();
    }
    this.#consumer.onEnd();
  }

  onError(error: RopewayError): void {
    this.giveUp();
    this.#consumer.onError(error);
  }

  giveUp(): void {
    if (this.#state.kind === "copying") this.#state.copy.body.giveUp();
    this.#state = { kind: "idle" };
  }
}
