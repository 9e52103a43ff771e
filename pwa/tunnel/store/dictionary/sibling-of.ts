import { DICTIONARY_LEAST, DICTIONARY_MOST } from "../../../../shared/coding/link-coding.ts";
import { headerValue } from "../../../../shared/http/head-fields.ts";
import type { HeaderList, RequestHead } from "../../../../shared/http/heads.ts";
import { isSameOrigin } from "../../../../shared/web/origin.ts";
import type { PartitionIndex } from "../database/partition-index.ts";
import type { ExchangeEntry, StoredExchange } from "../exchanges/stored-exchange.ts";
import type { Variant } from "../exchanges/variants-of.ts";
import { namesForUse } from "./named-for-use.ts";

/** Types whose bodies are much alike on one site, by what they are asked for as. */
const TYPES: Readonly<Partial<Record<RequestHead["destination"], RegExp>>> = {
  document: /^(?:text\/html|application\/xhtml\+xml)\b/i,
  frame: /^text\/html\b/i,
  iframe: /^text\/html\b/i,
  "": /^application\/(?:[\w.+-]+\+)?json\b/i,
};

/**
 * Another URL of the request's own origin whose stored body the answer may be much like: what its origin has named for it
 * (`Use-As-Dictionary`, RFC 9842), else a page for a page, an answer of an API for one; the one that shares the most of its
 * path, and of several the newest. All were asked for alike, by who may read them.
 */
export function siblingOf(index: PartitionIndex<StoredExchange>, head: RequestHead, context: string): Variant | null {
  const type = TYPES[head.destination];
  let best: { readonly entry: ExchangeEntry; readonly rank: readonly number[] } | null = null;
  for (const entry of index.all()) {
    const rank = isOfUse(entry, head, context) ? rankOf(entry, head, type) : null;
    if (rank !== null && (best === null || isHigher(rank, best.rank))) best = { entry, rank };
  }
  return best && { ...best.entry.meta, entry: best.entry };
}

function isOfUse({ url, meta, body }: ExchangeEntry, head: RequestHead, context: string): boolean {
  if (meta.context !== context || meta.status !== 200 || meta.movedTo !== undefined) return false;
  return body.size >= DICTIONARY_LEAST && body.size <= DICTIONARY_MOST && isSameOrigin(head.url, url);
}

/** Null for what is no sibling. */
function rankOf({ url, meta }: ExchangeEntry, head: RequestHead, type: RegExp | undefined): readonly number[] | null {
  const named = namesForUse(url, meta.headers, head);
  if (named > 0) return [named, 0, meta.responseTime];
  return type?.test(typeOf(meta.headers)) ? [0, sharedPath(url, head.url), meta.responseTime] : null;
}

const typeOf = (headers: HeaderList): string => headerValue(headers, "content-type") ?? "";

/** Segments that both paths begin with. */
function sharedPath(one: string, other: string): number {
  const [these, those] = [one, other].map((url) => new URL(url).pathname.split("/"));
  const differs = these?.findIndex((segment, place) => segment !== those?.[place]) ?? 0;
  return differs < 0 ? (these?.length ?? 0) : differs;
}

function isHigher(rank: readonly number[], than: readonly number[]): boolean {
  const place = rank.findIndex((value, at) => value !== than[at]);
  return place >= 0 && (rank[place] ?? 0) > (than[place] ?? 0);
}
