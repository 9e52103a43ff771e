import type { RequestHead } from "../../../../shared/http/heads.ts";
import type { PartitionIndex } from "../database/partition-index.ts";
import { type ExchangeEntry, isPageContext, type StoredExchange } from "./stored-exchange.ts";

/** A stored response as the rules see it, and where it is. */
export interface Variant extends StoredExchange {
  readonly entry: ExchangeEntry;
}

/** Stands for the context of a page, wherever the person came from to it. */
export const PAGE = Symbol("any page");

/** All that is stored for a URL under a context. */
export function variantsOf(
  index: PartitionIndex<StoredExchange>,
  { url }: RequestHead,
  context: string | typeof PAGE,
): Variant[] {
  return index
    .find(url)
    .filter(({ meta }) => (context === PAGE ? isPageContext(meta.context) : meta.context === context))
    .map((entry) => ({ ...entry.meta, entry }));
}
