import type { SetTimer } from "../../../../shared/clock.ts";
import type { ResponseConsumer } from "../../../../shared/http/exchange.ts";
import type { CacheMode, HeaderList, RequestHead, ScriptCookie, StoredBody } from "../../../../shared/http/heads.ts";
import type { CacheRequest } from "../../../../shared/http-cache/cache-rules.ts";
import type { Ask, PhoneRequest } from "../../exchange/exchange.ts";
import type { PageRequests } from "../ahead/page-visits.ts";
import type { ResponseStore } from "../database/response-store.ts";
import { bounded, DISK_TIME, type StorePlatform } from "../store.ts";
import type { CookieMirror } from "./cookie-mirror.ts";
import type { Invalidations } from "./invalidations.ts";
import type { StoredDictionaries } from "./named-bodies.ts";
import type { StoredExchange } from "./stored-exchange.ts";

/** A request, with the facts that are known before anybody answers it. */
export interface Lookup {
  readonly request: PhoneRequest;
  readonly head: CacheRequest & RequestHead;
  readonly partition: string;
  readonly context: string;
  readonly consumer: ResponseConsumer;
  readonly next: Ask;
  /** No page gets the answer: it is asked for beside one, or ahead. */
  readonly isBeside?: true;
}

/** The request as the rules of caching see it: with what the session says of all requests. */
export function cached<Head extends RequestHead>(
  head: Head,
  { savesData, acceptLanguage }: Pick<StorePlatform, "savesData" | "acceptLanguage">,
  cacheMode: CacheMode = "default",
): Head & CacheRequest {
  return { ...head, cacheMode, savesData: savesData(), acceptLanguage: acceptLanguage() };
}

export function withFields({ request }: Lookup, fields: HeaderList): PhoneRequest {
  if (fields.length === 0) return request;
  return { ...request, head: { ...request.head, headers: [...request.head.headers, ...fields] } };
}

/** Says what need not be pushed, and what may be. */
export function telling(lookup: Lookup, told: Pick<RequestHead, "known" | "learned">): Lookup {
  return { ...lookup, request: { ...lookup.request, head: { ...lookup.request.head, ...told } } };
}

/** Says which body is stored: if the answer has that one, the edge need not send it. */
export function naming(request: PhoneRequest, stored: StoredBody | null): PhoneRequest {
  return stored === null ? request : { ...request, head: { ...request.head, stored } };
}

/** The objects that all parts share which answer from the store and fill it. */
export interface SourceParts {
  readonly store: ResponseStore<StoredExchange>;
  readonly platform: StorePlatform;
  readonly cookies: CookieMirror;
  readonly invalidations: Invalidations;
  readonly pages: PageRequests;
  readonly counters: StoreCounters;
  /** Null where there are none. */
  readonly dictionaries: StoredDictionaries | null;
}

interface StoreCounters {
  storeAnswers: number;
  storeValidations: number;
  storeReferences: number;
  storeReferencedBytes: number;
  storeDictionaries: number;
  storeBytes: number;
  storeAsked: number;
  storeAskedUsed: number;
}

/** @param promise does not reject; waited for as long as a request waits for the disk, which is longer without a link. */
export function withinDiskTime<Value, Other>(
  { platform }: Pick<SourceParts, "platform">,
  promise: Promise<Value>,
  otherwise: Other,
): Promise<Value | Other> {
  const setTimer: SetTimer = (task, delay) => platform.setTimer(task, delay);
  return bounded(promise, otherwise, setTimer, DISK_TIME, () => platform.isAway());
}

/** Cookies that scripts of the answer may read; null where a document needs them and they are not known. */
export function scriptCookiesOf(
  { cookies }: Pick<SourceParts, "cookies">,
  head: RequestHead,
): readonly ScriptCookie[] | null {
  return head.mode === "navigate" ? cookies.cookiesFor(head) : [];
}
