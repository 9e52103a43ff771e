import type { ResponseConsumer } from "../../../../shared/http/exchange.ts";
import type { CacheMode, HeaderList, RequestHead, StoredBody } from "../../../../shared/http/heads.ts";
import type { CacheRequest } from "../../../../shared/http-cache/cache-rules.ts";
import type { Ask, PhoneRequest } from "../../requests/response-source.ts";
import type { StoredSourcePlatform } from "../stored-source-platform.ts";

/** One request, and what is known of it before anybody answers. */
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
  { savesData }: Pick<StoredSourcePlatform, "savesData">,
  cacheMode: CacheMode = "default",
): Head & CacheRequest {
  return { ...head, cacheMode, savesData: savesData() };
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
