/**
 * The response to a push while none of it is sent. With several channels a page may ask before the announcement is there
 * (PROTOCOL.md section 5.6): its request then gets this response, and the origin is asked once.
 */
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { RequestHandler, ServerRequest, ServerResponse } from "../../../shared/http/exchange.ts";

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
