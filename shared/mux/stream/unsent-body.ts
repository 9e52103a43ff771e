/** What the owner of a stream wrote and has not left, and the credit it may leave within. */
import type { RopewayError } from "../../errors.ts";
import { SendWindow } from "../credit/credit.ts";
import type { Ready } from "./send-queue.ts";

interface Chunk {
  bytes: Uint8Array;
  readonly sent: () => void;
  readonly failed: (error: RopewayError) => void;
}

export class UnsentBody {
  readonly #window: SendWindow;
  #chunks: Chunk[] = [];
  #isEnded = false;
  #sentBytes = 0;

  /** @param credit bytes that the peer takes at first. */
  constructor(credit: number) {
    this.#window = new SendWindow(credit, "stream");
  }

  get sentBytes(): number {
    return this.#sentBytes;
  }

  /** Whether nothing may be added: the end is behind what is left. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  get ready(): Ready {
    if (this.isEmpty) return this.#isEnded ? "end" : "nothing";
    return this.#window.available > 0 ? "data" : "blocked";
  }

  /** @returns resolves when the bytes have left; rejects as `fail` says. */
  add(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#chunks.push({ bytes, sent: resolve, failed: reject });
    });
  }

  end(): void {
    this.#isEnded = true;
  }

  /** Takes up to `room` bytes of the first chunk, within the credit, or the end alone. */
  take(room: number): { readonly bytes: Uint8Array; readonly end: boolean } {
    const [chunk] = this.#chunks;
    if (chunk === undefined) return { bytes: NOTHING, end: true };
    const length = Math.min(room, this.#window.available, chunk.bytes.length);
    const bytes = chunk.bytes.subarray(0, length);
    this.#window.take(length);
    this.#sentBytes += length;
    if (length < chunk.bytes.length) {
      chunk.bytes = chunk.bytes.subarray(length);
      return { bytes, end: false };
    }
    this.#chunks.shift();
    chunk.sent();
    return { bytes, end: this.#isEnded && this.isEmpty };
  }

  grant(credit: number): void {
    this.#window.grant(credit);
  }

  /** The peer changed the credit that streams begin with. */
  shift(delta: number): void {
    this.#window.shift(delta);
  }

  /** Takes all that is left out. @returns tells those who wrote it. */
  drop(): (error: RopewayError) => void {
    const chunks = this.#chunks;
    this.#chunks = [];
    return (error) => {
      for (const chunk of chunks) chunk.failed(error);
    };
  }
}

const NOTHING = new Uint8Array(0);
