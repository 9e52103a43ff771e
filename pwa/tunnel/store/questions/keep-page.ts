/** Keeps the page that is shown: its document, and what of all that it asked for is stored. */
import type { RequestHead } from "../../../../shared/http/heads.ts";
import type { KeepOutcome, KeepRefusal, KeptPage } from "../../../messages/kept-page.ts";
import type { StoreQuestion } from "../../../messages/tunnel-messages.ts";
import type { OpenPage } from "../ahead/page-requests.ts";
import { asStored } from "../exchanges/as-stored.ts";
import { cached } from "../exchanges/lookup.ts";
import { fitsAway, movedHead } from "../exchanges/redirected.ts";
import type { SourceParts } from "../exchanges/source-parts.ts";
import { contextOf, type ExchangeEntry, partitionOf } from "../exchanges/stored-exchange.ts";
import { variantsIn } from "../exchanges/variants-of.ts";
import { documentHead } from "./document-head.ts";

/** Its copies were made in vain where something went to make room meanwhile. */
const ATTEMPTS = 3;

/** @param question.url of the page that is shown, without a fragment. */
export async function keepPage(
  parts: SourceParts,
  { url, title }: StoreQuestion & { readonly kind: "keep" },
): Promise<KeepOutcome> {
  const { store, platform } = parts;
  const { era } = store;
  const page = parts.pages.find(url);
  if (page !== null && page.method !== "GET") return { refused: "form" };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const document = await findStored(parts, url, documentHead(url));
    if (document.length === 0 || page === null) return { refused: refusalOf(page) };
    const { entries, missing } = await findParts(parts, page);
    const all = new Map([...document, ...entries].map((entry) => [entry.id, entry]));
    const kept: KeptPage = { url, title, keptAt: platform.now(), bytes: bytesOf(all.values()), missing };
    let isKept = false;
    await store.change(era, async (changes) => {
      isKept = await changes.keep(kept, [...all.keys()]);
    });
    if (isKept) return { page: kept };
  }
  return { refused: "not-stored" };
}

function refusalOf(page: OpenPage | null): KeepRefusal {
  return page?.isForbidden === true ? "forbidden" : "not-stored";
}

async function findParts(parts: SourceParts, { document, requests }: OpenPage) {
  const found = await Promise.all([...requests.values()].map((head) => findStored(parts, document, head)));
  return { entries: found.flat(), missing: found.filter((entries) => entries.length === 0).length };
}

/**
 * What the request gets while the link is away; of a redirect also what it led to.
 *
 * @param page with which it may be kept already: that is as good where it went since.
 */
async function findStored(parts: SourceParts, page: string, head: RequestHead): Promise<readonly ExchangeEntry[]> {
  const { store, invalidations, platform } = parts;
  const partition = partitionOf(head);
  const context = contextOf(head);
  if (context === null) return [];
  await invalidations.allPending(partition);
  const index = await store.index(partition);
  for (const entries of [index.find(head.url), index.findKept(page, head.url)]) {
    const variants = variantsIn(entries, (stored) => fitsAway(head, context, stored));
    const stored = asStored(cached(head, platform, "force-cache"), variants, platform.now());
    if (stored === null) continue;
    if (stored.movedTo === undefined) return [stored.entry];
    const end = await findStored(parts, page, movedHead(head, stored.movedTo));
    if (end.length > 0) return [stored.entry, ...end];
  }
  return [];
}

/** A body that several have is stored once. */
function bytesOf(entries: Iterable<ExchangeEntry>): number {
  const sizes = new Map([...entries].map(({ body }) => [body.id, body.size]));
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}
