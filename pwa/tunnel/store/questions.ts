/** Answers to what the shell asks about what is stored. */

import { ErrorCode, later } from "../../../shared/errors.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { decide } from "../../../shared/http-cache/cache-rules.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import {
  type KeepOutcome,
  type KeepRefusal,
  type KeptPage,
  type StoredSite,
  type StoreQuestion,
  siteName,
} from "../../messages/tunnel-messages.ts";
import { type Ask, edgeRequest, readWhole } from "../exchange/exchange.ts";
import type { OpenPage } from "./ahead/page-visits.ts";
import { beginRead, isStoredEntry, type StoreDatabase } from "./database/store-database.ts";
import { cached, type SourceParts } from "./exchanges/lookup.ts";
import {
  asStored,
  contextOf,
  type ExchangeEntry,
  fitsAway,
  isPageContext,
  isStoredExchange,
  movedHead,
  partitionOf,
  variantsIn,
} from "./exchanges/stored-exchange.ts";
import { whyNotForgotten } from "./store.ts";

/** Where what the shell asks about the store finds its answers. */
interface AskedStore {
  readonly ask: Ask;
  /** A connection of its own. */
  open(): Promise<StoreDatabase>;
  readonly parts: SourceParts;
}

/** @returns as the methods of the shell's `TunnelClient` say. */
export async function answerTo(question: StoreQuestion, { ask, open, parts }: AskedStore): Promise<unknown> {
  switch (question.kind) {
    case "forget":
      return forgetSite(ask, question.site, self.location.origin);
    case "readable":
      return readablePages(open, question.urls);
    case "ready":
      return readyPages(ask, open, parts, question.urls);
    case "sites":
      return storedSites(open);
    case "kept":
      return keptPages(open);
    case "keep":
      return keepPage(parts, question);
    case "unkeep":
      await parts.store.change(parts.store.era, (changes) => changes.unkeep(question.url));
      return keptPages(open);
    case "picture":
      return storedPicture(parts, question);
  }
}

/** Bytes of a picture that decorates a list. */
const MOST_BYTES = 1024 * 1024;

/** The page may have asked in any mode: the answer goes to the app alone. */
export async function storedPicture(
  { store }: Pick<SourceParts, "store">,
  { url, topLevelOrigin }: StoreQuestion & { readonly kind: "picture" },
): Promise<Blob | null> {
  const index = await store.index(partitionOf({ mode: "no-cors", origin: topLevelOrigin, topLevelOrigin, url }));
  const entry = index.find(url).find(({ meta, body }) => meta.status === 200 && body.size <= MOST_BYTES);
  const reader = entry === undefined ? null : await store.read(entry);
  return reader === null ? null : new Blob(await reader.whole());
}

/** Its copies were made in vain where something went to make room meanwhile. */
const ATTEMPTS = 3;

/**
 * Keeps the page that is shown: its document, and what of all that it asked for is stored.
 *
 * @param question.url of the page, without a fragment.
 * @returns null where the store cannot be written now.
 */
export async function keepPage(
  parts: SourceParts,
  { url, title }: StoreQuestion & { readonly kind: "keep" },
): Promise<KeepOutcome | null> {
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
    let isWhole = false;
    const outcome = await store.change(era, async (changes) => {
      isWhole = await changes.keep(kept, [...all.keys()]);
    });
    if (outcome === "full") return { refused: "no-room" };
    if (outcome === "failed") return null;
    if (outcome === "written" && isWhole) return { page: kept };
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
 * The entries that the request gets while the link is away; of a redirect also those of its end.
 *
 * @param page with which a copy may be kept already: it is as good where the entry went since.
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

/**
 * Forgets what a site has left, on the phone and at the edge: the store sees the message before the edge does.
 *
 * @param site as `siteName` has it.
 * @param origin of the app.
 * @returns "", or why something is still there.
 */
export async function forgetSite(ask: Ask, site: string, origin: string): Promise<string> {
  const message = {
    method: "DELETE",
    url: EdgeRequest.SITE,
    headers: [["host-name", site]] as const,
    origin: null,
    topLevelOrigin: origin,
  };
  try {
    const { response } = await readWhole(ask, edgeRequest(message), 0);
    if (response.status === 204) return "";
    const answered = later("some of it is still there: your edge answers {number}");
    return `Cannot forget ${site}: ${answered.replace("{number}", String(response.status))}`;
  } catch (error) {
    // Errors of the tunnel's script are of another class.
    const { code } = error as { readonly code?: unknown };
    if (code !== ErrorCode.PROTOCOL_ERROR) return `Cannot forget all of ${site}: ${whyNotForgotten(error)}`;
    return `Cannot forget the cookies of ${site}: ${later("your edge is of an older release. It can clear those of all sites")}`;
  }
}

/** Sites; each costs some hundred bytes, and a person opens few of them. */
const SITES = 16;

/**
 * A stored page that is fresh is shown with nobody asked, but for the cookies that its scripts may read: the edge has them.
 * So it is asked for them when the app has started, before the person opens a page. Settles when it has answered for all.
 *
 * @param urls of pages, real; the likeliest first.
 */
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
  // A question that fails tells no cookies: its page asks then. An edge of a former release fails all.
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

/**
 * Which of these pages are shown while the link is away, at least their documents. For the app alone: no page may know what
 * others have stored.
 *
 * @param urls of pages, real.
 */
export async function readablePages(
  open: () => Promise<StoreDatabase>,
  urls: readonly string[],
): Promise<readonly string[]> {
  const database = await open();
  try {
    const areStored = await Promise.all(urls.map((url) => isStored(database, url)));
    return urls.filter((_, index) => areStored[index]);
  } finally {
    database.close();
  }
}

async function isStored(database: StoreDatabase, page: string): Promise<boolean> {
  const url = URL.parse(page);
  if (url === null) return false;
  url.hash = "";
  const place: [string, string] = [`${url.origin} ${url.origin}`, url.href];
  const entries = await database.getAllFromIndex("entries", "url", place);
  return entries.some(({ meta }) => isStoredExchange(meta) && isPageContext(meta.context));
}

/** The bytes stored for the pages of each site, the most first. A body that several sites have counts for each. */
export async function storedSites(open: () => Promise<StoreDatabase>): Promise<readonly StoredSite[]> {
  const database = await open();
  try {
    const partitions = beginRead(database, "partitions").objectStore("partitions");
    const [keys, uses] = await Promise.all([partitions.getAllKeys(), partitions.getAll()]);
    const bySite = new Map<string, number>();
    for (const [index, key] of keys.entries()) {
      const [topLevelOrigin = ""] = key.split(" ");
      const site = siteName(topLevelOrigin);
      bySite.set(site, (bySite.get(site) ?? 0) + (uses[index]?.bytes ?? 0));
    }
    return [...bySite].map(([site, bytes]) => ({ site, bytes })).sort((a, b) => b.bytes - a.bytes);
  } finally {
    database.close();
  }
}

/** The pages that are kept, the latest first. */
async function keptPages(open: () => Promise<StoreDatabase>): Promise<readonly KeptPage[]> {
  const database = await open();
  try {
    return (await database.getAll("kept")).sort((a, b) => b.keptAt - a.keptAt);
  } finally {
    database.close();
  }
}

/** Of a page, as the person asks for it. */
function documentHead(url: string): RequestHead {
  return {
    method: "GET",
    url,
    headers: [],
    destination: "document",
    mode: "navigate",
    credentials: "include",
    redirect: "follow",
    referrer: "",
    origin: null,
    topLevelOrigin: new URL(url).origin,
  };
}
