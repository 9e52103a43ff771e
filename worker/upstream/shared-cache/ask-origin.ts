/** Asks the origin for what the cache does not have, or not fresh, and says what of its answer is for others. */
import type { HeaderList } from "../../../shared/http/heads.ts";
import {
  type ExchangeTimes,
  headersWithAge,
  judgeValidation,
  type StoredResponse,
  sharedView,
  toShared,
} from "../../../shared/http-cache/cache-rules.ts";
import { hasNullBody } from "../../../shared/web/origin.ts";
import { rawBody } from "../body/origin-coding.ts";
import { type ChunkReader, openReader } from "../body/response-body.ts";
import { decodedLength } from "../send/response-fields.ts";
import type { FetchFunction } from "../send/send.ts";
import { toResponse } from "./record.ts";
import type { ShareableRequest } from "./shareable-request.ts";
import { SHARED_BODY_BYTES } from "./shared-body.ts";

export interface Question {
  readonly shared: ShareableRequest;
  readonly request: Request;
  readonly fetch: FetchFunction;
  /** What is stored, and the conditions by which the origin can say that it holds. */
  readonly known: { readonly stored: StoredResponse; readonly conditions: HeaderList } | null;
  /** The body of what is stored, or null where that is forgotten meanwhile. */
  readonly readKnown: () => Promise<ReadableStream<Uint8Array> | null>;
  readonly now: () => number;
}

export type OriginAnswer =
  /** May be stored, and given to others. */
  | {
      readonly kind: "shared";
      readonly stored: StoredResponse;
      readonly body: ChunkReader | null;
      readonly isKnown: boolean;
    }
  | { readonly kind: "own"; readonly response: Response };

/** @param signal ends the fetch, and the body of its response. */
export async function askOrigin(question: Question, signal: AbortSignal): Promise<OriginAnswer> {
  const { shared, request, fetch, known, now } = question;
  const headers = new Headers(request.headers);
  for (const [name, value] of known?.conditions ?? []) headers.set(name, value);
  const requestTime = now();
  const response = await fetch(new Request(request.url, { headers, redirect: "manual", signal }));
  const times = { requestTime, responseTime: now() };
  const answer = { status: response.status, headers: [...response.headers] };
  if (known !== null) {
    // A 304 is told of what is stored with its own fields; a failure is judged by what those say to a shared cache.
    const judged = judgeValidation(
      response.status === 304 ? known.stored : sharedView(known.stored),
      shared.asked,
      answer,
      times,
    );
    if (judged.kind !== "replaced") {
      await response.body?.cancel();
      const stored = judged.kind === "not-modified" ? judged.stored : known.stored;
      return answerKnown(question, stored, judged.kind === "not-modified" ? times : null, signal);
    }
  }
  const stored = toShared(shared.asked, answer, times);
  const length = decodedLength(response.headers);
  if (stored === null || (length !== null && length > SHARED_BODY_BYTES)) return { kind: "own", response };
  const body = hasNullBody("GET", response.status) ? null : openReader(await rawBody(response), false);
  return { kind: "shared", stored, body: body === null ? null : ofLength(body, length), isKnown: false };
}

/** @param times of the exchange in which the origin said that it holds; null where it failed, and nothing is stored anew. */
async function answerKnown(
  question: Question,
  stored: StoredResponse,
  times: ExchangeTimes | null,
  signal: AbortSignal,
): Promise<OriginAnswer> {
  const body = await question.readKnown();
  if (body === null) return askOrigin({ ...question, known: null }, signal);
  const again = times === null ? null : toShared(question.shared.asked, stored, times);
  const aged = times === null ? { ...stored, headers: headersWithAge(stored, question.now()) } : stored;
  if (again === null) return { kind: "own", response: toResponse(aged, body) };
  return { kind: "shared", stored: again, body: openReader(body, false), isKnown: true };
}

/** Fails where the body is not as long as its head says: platforms see to that, some of the time. */
function ofLength(body: ChunkReader, length: number | null): ChunkReader {
  let read = 0;
  return {
    cancel: body.cancel,
    async read() {
      const chunk = await body.read();
      read += chunk?.length ?? 0;
      const isWrong = length !== null && (read > length || (chunk === null && read < length));
      if (isWrong) throw new Error("Cannot read the body: connection reset before it was whole");
      return chunk;
    },
  };
}
