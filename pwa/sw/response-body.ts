/** A body between the port and the page: credit goes back when the page has read, in quarters of the window. */
import type { RopewayError } from "../../shared/errors.ts";
import { PORT_CREDIT_BYTES } from "../messages/port-messages.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Is told of a body as it is read. */
export interface BodyObserver {
  onChunk?(chunk: Bytes): void;
  /** Nothing more is read: all was, or it failed or was given up with this error. */
  onEnd(outcome: "end" | RopewayError): void;
}

export class ResponseBody {
  readonly readable: ReadableStream<Bytes>;
  #chunks: Bytes[] = [];
  #outcome: "end" | RopewayError | null = null;
  #wake: (() => void) | null = null;
  #owed = 0;
  #giveCredit: (bytes: number) => void;
  #observers: BodyObserver[] = [];

  /** @param cancel ends it with an error. */
  constructor(giveCredit: (bytes: number) => void, cancel: () => void) {
    this.#giveCredit = giveCredit;
    this.readable = new ReadableStream<Bytes>(
      {
        pull: (controller) => this.#pull(controller),
        cancel: () => {
          cancel();
          this.#tellEnd(this.#outcome ?? "end");
        },
      },
      { highWaterMark: 0 },
    );
  }

  watch(observer: BodyObserver): void {
    this.#observers.push(observer);
  }

  /** Resolves when its first bytes are there, or none will come. */
  async isEmpty(): Promise<boolean> {
    await this.#arrival();
    return this.#chunks.length === 0 && this.#outcome === "end";
  }

  push(chunk: Bytes): void {
    this.#chunks.push(chunk);
    this.#wake?.();
  }

  end(): void {
    this.#outcome ??= "end";
    this.#wake?.();
  }

  fail(error: RopewayError): void {
    this.#outcome = error;
    this.#wake?.();
  }

  async #pull(controller: ReadableStreamDefaultController<Bytes>): Promise<void> {
    await this.#arrival();
    const outcome = this.#outcome;
    const chunk = outcome === null || outcome === "end" ? this.#chunks.shift() : undefined;
    if (chunk !== undefined) return this.#handOn(chunk, controller);
    if (outcome === "end") controller.close();
    else controller.error(outcome);
    this.#tellEnd(outcome ?? "end");
  }

  async #arrival(): Promise<void> {
    while (this.#chunks.length === 0 && this.#outcome === null) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #handOn(chunk: Bytes, controller: ReadableStreamDefaultController<Bytes>): void {
    for (const observer of this.#observers) observer.onChunk?.(chunk);
    this.#owed += chunk.length;
    controller.enqueue(chunk);
    if (this.#owed < PORT_CREDIT_BYTES / 4) return;
    this.#giveCredit(this.#owed);
    this.#owed = 0;
  }

  #tellEnd(outcome: "end" | RopewayError): void {
    for (const observer of this.#observers.splice(0)) observer.onEnd(outcome);
  }
}
