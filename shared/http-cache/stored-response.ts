/**
 * What the rules of a cache (RFC 9111) work on. The rules are pure: they hold no bodies and no clock, so the phone's store
 * and the edge's cache share them. They speak for a private cache; shared-view.ts makes them speak for a shared one.
 */
import type { CacheMode, RequestHead, ResponseHead } from "../http/heads.ts";

/** What decides about a request. */
export type CacheRequest = Pick<
  RequestHead,
  "method" | "url" | "headers" | "destination" | "mode" | "origin" | "referrer"
> & {
  readonly cacheMode: CacheMode;
  /** Its origin gets `Save-Data: on`, as the session says of all requests. */
  readonly savesData?: boolean;
};

export type Answer = Pick<ResponseHead, "status" | "headers">;

/** When a request was sent and its response's head came: milliseconds since the epoch, by the clock of who stores. */
export interface ExchangeTimes {
  readonly requestTime: number;
  readonly responseTime: number;
}

/** What a cache keeps of a response beside its whole body. Plain data; a store adds fields of its own. */
export interface StoredResponse extends Answer, ExchangeTimes {
  readonly selecting: SelectingFields;
}

/** What the request had in the fields that the response's `Vary` names, in its order; null where it lacked one. */
export type SelectingFields = readonly (readonly [name: string, value: string | null])[];
