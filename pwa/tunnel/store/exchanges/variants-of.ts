import type { RequestHead } from "../../../../shared/http/heads.ts";
import type { PartitionIndex } from "../database/partition-index.ts";
import type { ExchangeEntry, StoredExchange } from "./stored-exchange.ts";

/** A stored response as the rules see it, and where it is. */
export interface Variant extends StoredExchange {
  readonly entry: ExchangeEntry;
}

/** All that is stored for a URL under a context, or under those that fit; what pages were kept with is none of it. */
export function variantsOf(
  index: PartitionIndex<StoredExchange>,
  { url }: RequestHead,
  context: string | ((stored: string) => boolean),
): Variant[] {
  return variantsIn(index.find(url), context);
}

/** Of these, those under a context, or under those that fit. */
export function variantsIn(
  entries: readonly ExchangeEntry[],
  context: string | ((stored: string) => boolean),
): Variant[] {
  return entries
    .filter(({ meta }) => (typeof context === "string" ? meta.context === context : context(meta.context)))
    .map((entry) => ({ ...entry.meta, entry }));
}
