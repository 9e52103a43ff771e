import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { katexPage, spectreDocs, swaggerUi } from "./documentation-sites.ts";
import { hundredFifty, staticOne, staticTwo } from "./gprsweb-static.ts";
import { medianMobile } from "./median/median-mobile.ts";
import { newsHerald, newsWire } from "./news/news-front-pages.ts";
import { sourceVersions } from "./package-content.ts";
import { shop } from "./shop-page.ts";
import type { SiteGenerator } from "./site-draft.ts";
import { impressDeck, revealDeck } from "./slide-decks.ts";
import { agency, portfolios } from "./studio-sites.ts";
import { type MadeSite, readSite, writeSite } from "./write-site.ts";

const SITE_GENERATORS = {
  "hundred-fifty": hundredFifty,
  "static-i": staticOne,
  "static-ii": staticTwo,
  "news-herald": newsHerald,
  "news-wire": newsWire,
  shop,
  "spectre-docs": spectreDocs,
  "swagger-ui": swaggerUi,
  "reveal-deck": revealDeck,
  "impress-deck": impressDeck,
  "katex-page": katexPage,
  agency,
  portfolios,
  "median-mobile": medianMobile,
} as const satisfies Readonly<Record<string, SiteGenerator>>;

export type SiteName = keyof typeof SITE_GENERATORS;

export const SITE_NAMES = Object.keys(SITE_GENERATORS) as readonly SiteName[];

/** Sites of the GPRSWeb experiment, in the order of the paper. */
export const GPRSWEB_SITES = ["static-i", "static-ii", "news-herald", "news-wire", "shop"] as const;

/** Real pages of several origins, the median mobile page last. */
export const REAL_SITES = [
  "spectre-docs",
  "swagger-ui",
  "reveal-deck",
  "impress-deck",
  "katex-page",
  "agency",
  "portfolios",
  "median-mobile",
] as const satisfies readonly SiteName[];

const SOURCES = ["./", "../../demo/"].map((folder) => fileURLToPath(new URL(folder, import.meta.url)));

/** Makes sites as they are on a first visit. See makeSite. */
export async function makeSites<Name extends SiteName = SiteName>(
  directory: string,
  names: readonly Name[] = SITE_NAMES as readonly Name[],
): Promise<Readonly<Record<Name, MadeSite>>> {
  const sites: [Name, MadeSite][] = [];
  for (const name of names) sites.push([name, await makeSite(directory, name)]);
  return Object.fromEntries(sites) as Record<Name, MadeSite>;
}

/**
 * Makes a site as it is after a number of edits, an hour or a day apart: news changes stories and banners, assets get
 * new releases. All versions of a site have the same hosts and number of objects; files that an edit did not touch
 * keep their time of change, so that a server's ETag stays the same. What was made before from the same sources is
 * taken from the directory.
 */
export async function makeSite(directory: string, name: SiteName, version = 0): Promise<MadeSite> {
  const place = join(directory, await sourceHash(), name, `v${version}`);
  const made = await readSite(place);
  if (made) return made;
  const before = version > 0 ? await makeSite(directory, name, version - 1) : undefined;
  return writeSite(place, await SITE_GENERATORS[name](version), { name, version, before });
}

let hash: Promise<string> | undefined;

/** Of everything that decides what the sites look like. */
function sourceHash(): Promise<string> {
  hash ??= (async () => {
    const sum = createHash("sha256").update((await sourceVersions()).join());
    for (const folder of SOURCES) {
      const names = (await readdir(folder, { recursive: true }))
        .filter((name) => /(?<!\.test)\.ts$/.test(name))
        .toSorted();
      for (const name of names) sum.update(`\0${name}\0`).update(await readFile(join(folder, name)));
    }
    return sum.digest("hex").slice(0, 12);
  })();
  return hash;
}
