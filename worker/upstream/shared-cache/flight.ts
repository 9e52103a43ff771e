/** One fetch for all who ask the same at the same time. It goes on while one of them is left. */
import {
  type Answer,
  fieldValue,
  headersWithAge,
  type StoredResponse,
} from "../../../shared/http-cache/cache-rules.ts";
import { openReader } from "../body/response-body.ts";
import { askOrigin, type OriginAnswer, type Question } from "./ask-origin.ts";
import { toResponse } from "./record.ts";
import type { Room } from "./room.ts";
import { SharedBody } from "./shared-body.ts";
import { markFromCache } from "./shared-cache.ts";

export interface FlightOptions {
  readonly question: Question;
  readonly room: Room;
  /** Never rejects. */
  readonly store: (stored: StoredResponse, body: Uint8Array<ArrayBuffer>) => Promise<void>;
  /** Nobody may join any more: its response is not for others, or failed, or is stored. */
  readonly onOver: (response: "own" | "shared" | "failed") => void;
}

type SharedAnswer = OriginAnswer & { kind: "shared" };

export class Flight {
  readonly #options: FlightOptions;
  readonly #controller = new AbortController();
  readonly #members = new Set<AbortSignal>();
  readonly #answer: Promise<OriginAnswer>;
  #body: SharedBody | null = null;
  #isStoring = false;

  constructor(options: FlightOptions) {
    this.#options = options;
    this.#answer = this.#ask();
    this.#answer.catch(() => {});
  }

  /** For who started it. */
  async lead(signal: AbortSignal): Promise<Response> {
    this.#enter(signal);
    const answer = await untilAborted(this.#answer, signal);
    if (answer.kind === "own") return answer.response;
    const response = this.#open(answer, signal);
    return answer.isKnown ? markFromCache(response) : response;
  }

  /** @returns null where its response is not for others, or `late` is first, or it never came. */
  async join(signal: AbortSignal, late: Promise<null>): Promise<Response | null> {
    this.#enter(signal);
    const answer = await untilAborted(Promise.race([this.#answer.catch(() => null), late]), signal);
    if (answer?.kind === "shared") {
      const { stored } = answer;
      // Its body may have been on the way for a while, or on its way into the store.
      const aged = { ...stored, headers: headersWithAge(stored, this.#options.question.now()) };
      return markFromCache(this.#open({ ...answer, stored: aged }, signal));
    }
    this.#leave(signal);
    return null;
  }

  /** Reads the response for nobody, so that it is stored. */
  async refresh(signal: AbortSignal): Promise<void> {
    const response = await this.lead(signal);
    if ((await this.#answer).kind === "own") await response.body?.cancel();
    else for await (const _ of response.body ?? []);
    this.#leave(signal);
  }

  async #ask(): Promise<OriginAnswer> {
    const { question, onOver } = this.#options;
    try {
      const answer = await askOrigin(question, this.#controller.signal);
      if (answer.kind === "own") onOver("own");
      else this.#take(answer);
      return answer;
    } catch (error) {
      onOver("failed");
      throw error;
    }
  }

  #take({ stored, body }: SharedAnswer): void {
    if (body === null) return void this.#store(stored, new Uint8Array());
    this.#body = new SharedBody(body, {
      hasRoom: (bytes) => this.#options.room.take(this, bytes),
      onEnd: (whole) => (whole === null ? this.#options.onOver("failed") : void this.#store(stored, whole)),
    });
  }

  async #store(stored: StoredResponse, body: Uint8Array<ArrayBuffer>): Promise<void> {
    this.#isStoring = true;
    await this.#options.store(stored, body);
    this.#isStoring = false;
    this.#options.onOver("shared");
    this.#release();
  }

  #open({ stored }: SharedAnswer, signal: AbortSignal): Response {
    const { fetch, request } = this.#options.question;
    const onOver = () => this.#leave(signal);
    if (this.#body === null) onOver();
    const readAnew = async () => {
      const response = await fetch(new Request(request, { signal }));
      const { status, headers, body } = response;
      if (body !== null && isSame(stored, { status, headers: [...headers] })) return openReader(body, false);
      await body?.cancel();
      throw new Error("Cannot go on: connection reset, since the response is another by now");
    };
    return toResponse(stored, this.#body?.open({ readAnew, onOver }) ?? null);
  }

  #enter(signal: AbortSignal): void {
    this.#members.add(signal);
    if (signal.aborted) this.#leave(signal);
    else signal.addEventListener("abort", () => this.#leave(signal), { once: true });
  }

  #leave(signal: AbortSignal): void {
    if (!this.#members.delete(signal) || this.#members.size > 0) return;
    this.#controller.abort();
    this.#body?.close();
    this.#release();
  }

  #release(): void {
    if (this.#members.size > 0 || this.#isStoring) return;
    this.#options.room.give(this);
  }
}

/** Whether a body may go on under a head that came with another. */
function isSame(one: Answer, other: Answer): boolean {
  const names = ["etag", "last-modified", "content-type", "content-length", "content-encoding"];
  return (
    one.status === other.status &&
    names.every((name) => fieldValue(one.headers, name) === fieldValue(other.headers, name))
  );
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}
