import type { RequestHead } from "../../../../shared/http/heads.ts";
import { parseImageNote } from "../../../../shared/http/phone-fields.ts";
import type { PartitionIndex } from "../database/partition-index.ts";
import type { ExchangeEntry, StoredExchange } from "./stored-exchange.ts";

/** A stored response as the rules see it, and where it is. */
export interface Variant extends StoredExchange {
  readonly entry: ExchangeEntry;
}

/** All that is stored for a URL under a context, or under those that fit; what pages were kept with is none of it. */
export function variantsOf(
  index: PartitionIndex<StoredExchange>,
  { url, takesRecoded }: RequestHead,
  context: string | ((stored: string) => boolean),
): Variant[] {
  const all = variantsIn(index.find(url), context);
  // While nobody can be asked, a smaller picture is better than none.
  if (takesRecoded === true || typeof context !== "string") return all;
  return all.filter(({ headers }) => parseImageNote(headers) === null);
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
