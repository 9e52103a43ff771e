/**
 * A stored page that is fresh is shown with nobody asked, but for the cookies that its scripts may read: the edge has them.
 * So it is asked for them when the app has started, before the person opens a page.
 */
import { decide } from "../../../../shared/http-cache/cache-rules.ts";
import { EdgeRequest } from "../../../../shared/subprotocol.ts";
import { edgeRequest } from "../../requests/edge-request.ts";
import { readWhole } from "../../requests/read-whole.ts";
import type { Ask } from "../../requests/response-source.ts";
import type { StoreDatabase } from "../database/store-database.ts";
import { isStoredEntry } from "../database/store-rows.ts";
import { cached } from "../exchanges/lookup.ts";
import type { SourceParts } from "../exchanges/source-parts.ts";
import { contextOf, isStoredExchange, partitionOf } from "../exchanges/stored-exchange.ts";
import { variantsIn } from "../exchanges/variants-of.ts";
import { documentHead } from "./document-head.ts";

/** Sites; each costs some hundred bytes, and a person opens few of them. */
const SITES = 16;

/** Settles when the edge has answered for all. @param urls of pages, real; the likeliest first. */
export async function readyPages(
  ask: Ask,
  open: () => Promise<StoreDatabase>,
  parts: SourceParts,
  urls: readonly string[],
): Promise<void> {
  const database = await open();
  const looked = Promise.all(urls.map((url) => isFresh(database, url, parts)));
  const areFresh = await looked.finally(() => database.close());
  const origins = new Set(urls.filter((_, index) => areFresh[index]).map((url) => new URL(url).origin));
  // One that fails tells no cookies: its page asks then. An edge of a former release fails all.
  await Promise.allSettled([...origins].slice(0, SITES).map((origin) => askFor(ask, origin)));
}

async function isFresh(database: StoreDatabase, page: string, { platform, cookies }: SourceParts): Promise<boolean> {
  const url = URL.parse(page);
  if (url === null) return false;
  url.hash = "";
  const head = documentHead(url.href);
  if (cookies.cookiesFor(head) !== null) return false;
  const rows = await database.getAllFromIndex("entries", "url", [partitionOf(head), url.href]);
  const entries = rows.filter((row) => isStoredEntry(row, isStoredExchange)).filter(({ kept }) => kept === undefined);
  const variants = variantsIn(entries, (context) => context === contextOf(head));
  const { kind } = decide(cached(head, platform), variants, platform.now());
  return kind === "answer" || kind === "answer-and-validate";
}

function askFor(ask: Ask, origin: string): Promise<unknown> {
  const headers = [["document-url", `${origin}/`]] as const;
  const message = { method: "GET", url: EdgeRequest.SCRIPT_COOKIES, headers, origin, topLevelOrigin: origin };
  return readWhole(ask, edgeRequest(message), 0);
}
