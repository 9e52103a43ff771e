import { katexPage, spectreChips, spectreDocs, swaggerUi } from "./documentation-sites.ts";
import { staticOne, staticTwo } from "./gprsweb-static.ts";
import { hundredFifty } from "./hundred-fifty.ts";
import { medianArticle, medianMobile } from "./median/median-mobile.ts";
import { newsHerald, newsWire } from "./news/news-front-pages.ts";
import { dashboard, storefront, timeline } from "./scripted-sites.ts";
import { shop } from "./shop-page.ts";
import type { SiteGenerator } from "./site-draft.ts";
import { impressDeck, revealDeck } from "./slide-decks.ts";
import { agency, portfolios } from "./studio-sites.ts";

export const SITE_GENERATORS = {
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
  timeline,
  storefront,
  dashboard,
} as const satisfies Readonly<Record<string, SiteGenerator>>;

/** Other pages of a site, in the order in which a person visits them. */
export const OTHER_PAGES: Readonly<Partial<Record<keyof typeof SITE_GENERATORS, readonly SiteGenerator[]>>> = {
  "spectre-docs": [spectreChips],
  "median-mobile": [medianArticle],
};
