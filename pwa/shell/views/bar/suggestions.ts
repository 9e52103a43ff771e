import type { AppState, Site } from "../../app/app-state.ts";
import { searchEngineName } from "../../app/search-engines.ts";
import { parseAddress } from "../../tab/address-input.ts";
import { shortHost } from "../parts/format.ts";

/** One row under the address box. `input` is what is handed to `go` when it is chosen. */
export type Suggestion =
  | { readonly kind: "search"; readonly input: string; readonly label: string; readonly hint: string }
  | { readonly kind: "url"; readonly input: string; readonly label: string; readonly hint: string }
  | {
      readonly kind: "site";
      readonly input: string;
      readonly label: string;
      readonly hint: string;
      readonly site: Site;
    };

const MAX_SITES = 6;

/** Rows for what is typed so far: first what Enter does, then pinned and recent sites that match, best first. */
export function suggest(typed: string, state: Pick<AppState, "pinned" | "recent" | "settings">): Suggestion[] {
  const text = typed.trim();
  const rows: Suggestion[] = [];
  if (text !== "") {
    const parsed = parseAddress(text, state.settings.searchUrl);
    if (parsed.kind === "url") rows.push({ kind: "url", input: text, label: text, hint: "Open this address" });
    if (parsed.kind === "search") {
      rows.push({
        kind: "search",
        input: text,
        label: text,
        hint: `Search ${searchEngineName(state.settings.searchUrl)}`,
      });
    }
  }
  const sites = new Map<string, Site>();
  for (const site of [...state.pinned, ...state.recent]) if (!sites.has(site.url)) sites.set(site.url, site);
  const ranked = [...sites.values()]
    .map((site) => ({ site, rank: rankOf(site, text.toLowerCase()) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank);
  for (const { site } of ranked.slice(0, MAX_SITES)) {
    const hint = site.url.replace(/^https?:\/\/(?:www\.)?/, "").replace(/\/$/, "");
    rows.push({ kind: "site", input: site.url, label: site.title || shortHost(site.url), hint, site });
  }
  return rows;
}

/** 3: the host begins so; 2: a word of the title does; 1: found anywhere; 0: not found. */
function rankOf(site: Site, text: string): number {
  if (text === "" || shortHost(site.url).startsWith(text)) return 3;
  const title = site.title.toLowerCase();
  if (title.startsWith(text) || title.includes(` ${text}`)) return 2;
  return title.includes(text) || site.url.toLowerCase().includes(text) ? 1 : 0;
}
