/** Lists of sites as values: the latest first, one row for each site. */
import type { Site } from "./app-state.ts";

const RECENT_COUNT = 12;

/** Sites of the first list stay before those of the second. */
export function joined(sites: readonly Site[], more: readonly Site[]): readonly Site[] {
  const bySite = new Map<string, Site>();
  for (const site of [...sites, ...more]) if (!bySite.has(siteOf(site.url))) bySite.set(siteOf(site.url), site);
  return [...bySite.values()].slice(0, RECENT_COUNT);
}

/** The site's row comes first, and leads to the page of this visit; the icon stays until another comes. */
export function visited(sites: readonly Site[], visit: Site): readonly Site[] {
  const icon = visit.icon ?? sites.find(({ url }) => siteOf(url) === siteOf(visit.url))?.icon ?? null;
  return joined([{ ...visit, icon }], sites);
}

export function withIcon(sites: readonly Site[], url: string, icon: string): readonly Site[] {
  return sites.map((site) => (siteOf(site.url) === siteOf(url) ? { ...site, icon } : site));
}

export function isSameSite(url: string, other: string): boolean {
  return siteOf(url) === siteOf(other);
}

/** As people read it: by whatever scheme, with `www.` or not. */
function siteOf(url: string): string {
  return URL.parse(url)?.host.replace(/^www\./, "") ?? url;
}
