/** Largest piece that takes its turn on the link at once. */
const PIECE = 1460;

interface Piece {
  readonly bytes: number;
  readonly deliver: () => void;
  /** Milliseconds of performance.now(); known once the piece has left the queue. */
  due: number;
}

/**
 * One direction of a link that all connections share: a queue, a rate and a delay.
 *
 * Pieces leave the queue one after another at the rate (a token bucket as deep as one piece), then travel for the
 * delay, so as many as fit are under way at once. Order is kept.
 */
export class LinkDirection {
  /** Bytes delivered. */
  delivered = 0;
  readonly #delay: number;
  readonly #bytesPerMillisecond: number;
  readonly #queue: Piece[] = [];
  #freeAt = 0;
  #paused = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param delay milliseconds one way.
   * @param kbit kilobits (1,000 bits) per second; Infinity for no limit.
   */
  constructor(delay: number, kbit: number) {
    this.#delay = delay;
    this.#bytesPerMillisecond = kbit / 8;
  }

  /** Bytes that fill the link for one delay. */
  get bytesInFlight(): number {
    return Number.isFinite(this.#bytesPerMillisecond) ? this.#bytesPerMillisecond * this.#delay : 1024 * 1024;
  }

  /**
   * Sends data over the link; `deliver` is called for each piece, in order, when it arrives.
   *
   * @param notBefore milliseconds of performance.now() before which the data does not enter the link.
   */
  send(data: Buffer, deliver: (piece: Buffer) => void, notBefore = 0): void {
    for (let start = 0; start < data.length; start += PIECE) {
      const piece = data.subarray(start, start + PIECE);
      this.#enqueue(piece.length, notBefore, () => {
        this.delivered += piece.length;
        deliver(piece);
      });
    }
  }

  /** Calls back after everything sent so far has arrived. */
  sendEnd(deliver: () => void): void {
    this.#enqueue(0, 0, deliver);
  }

  pause(): void {
    this.#paused = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  resume(): void {
    this.#paused = false;
    this.#schedule();
  }

  /** Drops everything that is under way. */
  clear(): void {
    this.#queue.length = 0;
    this.#freeAt = 0;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #enqueue(bytes: number, notBefore: number, deliver: () => void): void {
    this.#freeAt = Math.max(this.#freeAt, performance.now(), notBefore) + bytes / this.#bytesPerMillisecond;
    this.#queue.push({ bytes, deliver, due: this.#freeAt + this.#delay });
    this.#schedule();
  }

  #schedule(): void {
    const next = this.#queue[0];
    if (this.#paused || this.#timer !== undefined || next === undefined) return;
    this.#timer = setTimeout(() => this.#deliverDue(), Math.max(0, next.due - performance.now()));
  }

  #deliverDue(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (let next = this.#queue[0]; next !== undefined && next.due <= now; next = this.#queue[0]) {
      this.#queue.shift();
      next.deliver();
      if (this.#paused) return;
    }
    this.#schedule();
  }
}
