/**
 * When the pushes of one document may be sent. Urgency orders what is there to send; but whatever is there first takes all
 * the credit that there is, and what it stands before on a slow link is late by that. So a push waits for the more urgent
 * ones of its document and for the document itself, until they are sent, or their origins keep them waiting.
 */
import type { SetTimer } from "../../shared/clock.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import type { RequestHandler, ServerRequest, ServerResponse } from "../../shared/http/exchange.ts";
import type { MuxStream } from "../../shared/mux/stream/stream.ts";

/** Milliseconds: an origin that has sent nothing for so long does not hold back the pushes of others. */
const STALL_TIME = 100;

interface PushTurn {
  /** Resolves when the push may be sent. */
  readonly come: Promise<void>;
  /** The page has asked for it: the push waits no longer. */
  release(): void;
}

interface Entry {
  readonly stream: MuxStream;
  /** 0 is first. */
  readonly urgency: number;
  readonly release: () => void;
  isHeld: boolean;
}

export class PushOrder {
  #entries = new Set<Entry>();
  #setTimer: SetTimer;
  #cancelTimer: (() => void) | null = null;
  #sentBytes = 0;

  constructor(document: MuxStream, setTimer: SetTimer) {
    this.#setTimer = setTimer;
    this.#entries.add({ stream: document, urgency: 0, release: () => {}, isHeld: false });
  }

  /** Whether anything waits or is waited for. */
  get isOver(): boolean {
    return this.#entries.size === 0;
  }

  add(stream: MuxStream, urgency: number): PushTurn {
    const { promise, resolve } = Promise.withResolvers<void>();
    const entry: Entry = { stream, urgency, release: resolve, isHeld: true };
    this.#entries.add(entry);
    this.#watch();
    return {
      come: promise,
      release: () => {
        entry.isHeld = false;
        resolve();
      },
    };
  }

  /** To be called when a stream has ended. */
  update(): void {
    for (const entry of this.#entries) if (entry.stream.state === "closed") this.#forget(entry);
    const first = Math.min(...[...this.#entries].map(({ urgency }) => urgency));
    for (const entry of this.#entries) if (entry.urgency === first) this.#let(entry);
  }

  #forget(entry: Entry): void {
    this.#entries.delete(entry);
    this.#let(entry);
  }

  #let(entry: Entry): void {
    entry.isHeld = false;
    entry.release();
  }

  #watch(): void {
    this.#cancelTimer ??= this.#setTimer(() => {
      this.#cancelTimer = null;
      this.#check();
    }, STALL_TIME);
  }

  /** Lets all pushes go that wait, when the streams that they wait for have nothing to send. */
  #check(): void {
    this.update();
    const entries = [...this.#entries];
    const held = entries.filter(({ isHeld }) => isHeld);
    const sending = entries.filter(({ isHeld }) => !isHeld);
    const sentBytes = sending.reduce((sum, { stream }) => sum + stream.sentBytes, 0);
    const isStalled = sentBytes === this.#sentBytes && !sending.some(({ stream }) => isWaiting(stream));
    this.#sentBytes = sentBytes;
    if (isStalled) for (const entry of held) this.#let(entry);
    else if (held.length > 0) this.#watch();
  }
}

/** For a slow link: its origin has sent what did not leave yet. */
function isWaiting({ ready }: MuxStream): boolean {
  return ready === "data" || ready === "blocked";
}

/**
 * The response to a push while none of it is sent. With several channels a page may ask before the announcement is there
 * (PROTOCOL.md section 5.6): its request then gets this response, and the origin is asked once.
 */
export class UnsentResponse {
  #response: Promise<ServerResponse>;
  /** Aborts the request to the origin. */
  #abort = new AbortController();
  #state: "unsent" | "taken" | "over" = "unsent";
  #taken = Promise.withResolvers<never>();
  #onSettled: () => void;

  /** @param onSettled told once when it cannot be taken any more. */
  constructor(request: ServerRequest, handle: RequestHandler, onSettled: () => void) {
    this.#onSettled = onSettled;
    this.#taken.promise.catch(() => {});
    request.signal.addEventListener("abort", () => {
      if (this.#state === "taken") return;
      this.settle();
      this.#abort.abort(request.signal.reason);
    });
    if (request.signal.aborted) this.#abort.abort(request.signal.reason);
    this.#response = handle({ ...request, signal: this.#abort.signal });
  }

  /**
   * The push sends it, when its turn has come.
   *
   * @throws RopewayError REFUSED_STREAM when a request has taken it.
   */
  async inTurn(turn: Promise<void>): Promise<ServerResponse> {
    const sent = this.#response.then(async (response) => {
      await turn;
      this.settle();
      return response;
    });
    return Promise.race([sent, this.#taken.promise]);
  }

  /**
   * A request sends it instead.
   *
   * @param signal of that request.
   * @returns null when the page has claimed the push, or some of it may be sent.
   */
  take(signal: AbortSignal): Promise<ServerResponse> | null {
    if (this.#state !== "unsent") return null;
    this.#state = "taken";
    this.#onSettled();
    this.#taken.reject(new RopewayError(ErrorCode.REFUSED_STREAM, "stream", "library", "The page asks for it itself"));
    if (signal.aborted) this.#abort.abort(signal.reason);
    signal.addEventListener("abort", () => this.#abort.abort(signal.reason));
    return this.#response;
  }

  /** Nobody can take it any more: the page has claimed the push, or it is being sent. */
  settle(): void {
    if (this.#state !== "unsent") return;
    this.#state = "over";
    this.#onSettled();
  }
}
