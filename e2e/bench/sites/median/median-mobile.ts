import { addFontService, type FontFace, fontCacheControl } from "../font-service.ts";
import { packageFile, packageText } from "../package-content.ts";
import { encodeGif } from "../pictures/gif.ts";
import { photoArea, photoOfSize } from "../pictures/photos.ts";
import { resize } from "../pictures/pixels.ts";
import { releasedName } from "../real-site-edits.ts";
import { allFiles, FINGERPRINTED, type SiteDraft, SiteFiles } from "../site-draft.ts";
import { placesAt, type Story, story } from "../text/news-text.ts";
import { medianAppStyle, medianHtml } from "./median-html.ts";
import { medianAppScript, medianTagScripts } from "./median-scripts.ts";

export const MEDIAN_HOSTS = {
  page: "www.median-journal.test",
  assets: "static.median-journal.test",
  images: "images.median-journal.test",
  api: "api.median-journal.test",
  libraries: "cdn.open-libraries.test",
  fonts: "fonts.typeworks.test",
  tags: "tags.audience-metrics.test",
  ads: "ads.headerbid.test",
} as const;

/** Scripts that the page itself names, in order; the rest comes from its tags. */
const LIBRARIES = [
  "jquery/dist/jquery.min.js",
  "jquery-ui/dist/jquery-ui.min.js",
  "bootstrap/dist/js/bootstrap.bundle.min.js",
  "katex/dist/katex.min.js",
  "katex/dist/contrib/mhchem.min.js",
  "katex/dist/contrib/auto-render.min.js",
  "swagger-ui-dist/swagger-ui-standalone-preset.js",
];
const BUNDLES = [
  "reveal.js/dist/plugin/highlight.js",
  "reveal.js/dist/reveal.js",
  "reveal.js/dist/plugin/markdown.js",
  "reveal.js/dist/plugin/notes.js",
  "reveal.js/dist/plugin/search.js",
  "reveal.js/dist/plugin/zoom.js",
  "reveal.js/dist/plugin/math.js",
  "impress.js/js/impress.min.js",
  "webslides/static/js/webslides.min.js",
];
const STYLES = [
  "startbootstrap-agency/dist/css/styles.css",
  "swagger-ui-dist/swagger-ui.css",
  "spectre.css/dist/spectre.min.css",
  "jquery-ui/dist/themes/base/jquery-ui.min.css",
  "katex/dist/katex.min.css",
];

const FONTS: readonly FontFace[] = [
  { family: "Journal", weight: 400, style: "normal", file: "KaTeX_Main-Regular" },
  { family: "Journal", weight: 700, style: "normal", file: "KaTeX_Main-Bold" },
  { family: "Journal", weight: 400, style: "italic", file: "KaTeX_Main-Italic" },
  { family: "Journal", weight: 700, style: "italic", file: "KaTeX_Main-BoldItalic" },
  { family: "Journal Sans", weight: 700, style: "normal", file: "KaTeX_SansSerif-Bold" },
  { family: "Journal Signs", weight: 400, style: "normal", file: "KaTeX_AMS-Regular" },
];

/** Sizes in bytes of pictures: of the first stories, of those that a script shows later, and of the feed. */
const HERO = 116_000;
const CARDS = [58_000, 55_000, 53_000, 52_000, 50_000, 49_000, 48_000];
const LATER = [34_000, 32_000, 30_000, 29_000, 27_000, 26_000, 25_000, 24_000];
const FEED = [34_000, 31_000, 29_000, 28_000];
const ADS = [41_000, 26_000];

/** The two short films, in frames of 20 KB or so. */
const FILMS = { "harbour film": 15, "film 4": 11 };

const STORIES = 58;

/**
 * One page with the shape of the median mobile page of the HTTP Archive: 66 requests, about 2.3 MB transferred, eight
 * hosts. Each edit, a day apart, changes a third of the stories with their pictures, the feeds, the advertisements
 * and the site's own script and style, which come under new names.
 */
export async function medianMobile(version: number): Promise<SiteDraft> {
  const { page, assets, images, api, libraries, fonts, tags, ads } = MEDIAN_HOSTS;
  const site = new SiteFiles();
  const names = placesAt(MEDIAN_HOSTS.page, STORIES, version);
  const stories = names.map((name, index) => story(name, index < 1 ? 4 : 3));
  const picture = async (name = "", bytes: number): Promise<string> =>
    site.add(`${images}/w640/${story(name, 0).id}.jpg`, await photoOfSize(name, bytes, { aspect: 1.5, quality: 76 }));
  const hero = await picture(names[0], HERO);
  const cards = await Promise.all(CARDS.map((bytes, index) => picture(names[1 + index], bytes)));
  const later = await Promise.all(LATER.map((bytes, index) => picture(names[8 + index], bytes)));
  const feedPictures = await Promise.all(FEED.map((bytes, index) => picture(names[16 + index], bytes)));
  const films = await Promise.all(
    Object.entries(FILMS).map(async ([name, frames], index) =>
      site.add(`${images}/films/${index + 1}.gif`, await film(name, frames)),
    ),
  );
  const logo = site.add(`${images}/logo.png`, await packageFile("webslides/static/images/setup.png"));
  const emblem = site.add(
    `${images}/emblem.svg`,
    await packageFile("startbootstrap-agency/dist/assets/img/navbar-logo.svg"),
  );
  const creatives = await Promise.all(
    ADS.map(async (bytes, index) =>
      site.add(
        `${ads}/creatives/${7000 + version * ADS.length + index}.jpg`,
        await photoOfSize(`ad ${version} ${index}`, bytes, { aspect: 1.2, quality: 80 }),
      ),
    ),
  );

  const feeds = names.map((name) => story(name, 3));
  site.add(`${api}/v2/feed.json`, JSON.stringify(feed(feeds.slice(16, 40), feedPictures)));
  for (const [name, first] of [
    ["comments", 24],
    ["markets", 36],
    ["weather", 44],
  ] as const) {
    site.add(`${api}/v2/${name}.json`, JSON.stringify(feed(feeds.slice(first, first + 10), [])));
  }
  const tagScripts = medianTagScripts(tags, ads, creatives);
  for (const [place, script] of Object.entries(tagScripts)) site.add(place, script);
  site.add(`${tags}/pixel.gif`, Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64"));

  const styles = [await addFontService(site, fonts, FONTS)];
  for (const path of STYLES) {
    const ours = path.startsWith("startbootstrap");
    const style = (await packageText(path)).replace(/url\("\.\.\/assets[^)]*\)/g, "none");
    styles.push(site.add(ours ? `${assets}/css/main.4c11.css` : `${libraries}/${libraryPath(path)}`, style));
  }
  styles.push(site.add(`${assets}/css/${releasedName("app.css", version)}`, medianAppStyle(version)));
  const scripts: string[] = [];
  for (const path of LIBRARIES) scripts.push(site.add(`${libraries}/${libraryPath(path)}`, await packageText(path)));
  for (const [index, path] of BUNDLES.entries()) {
    const name = index === 0 ? "vendor" : `chunk-${index}`;
    scripts.push(site.add(`${assets}/js/${name}.9f2e.js`, await packageText(path)));
  }
  scripts.push(site.add(`${assets}/js/${releasedName("app.js", version)}`, medianAppScript(api, version)));

  const html = medianHtml({
    version,
    stories,
    hero,
    cards,
    later,
    films,
    logo,
    emblem,
    styles,
    scripts,
    consent: `https://${tags}/consent.js`,
    ads: ADS.length,
  });
  site.add(`${page}/index.html`, html);
  return {
    document: `${page}/index.html`,
    files: site.files,
    cacheControl: {
      [page]: allFiles("private, no-cache"),
      [assets]: allFiles(FINGERPRINTED),
      [images]: allFiles("public, max-age=604800"),
      [api]: allFiles("max-age=60"),
      [libraries]: allFiles(FINGERPRINTED),
      ...fontCacheControl(fonts),
      [tags]: [{ path: "/pixel.gif", value: "no-store" }, ...allFiles("max-age=3600")],
      [ads]: [{ path: "*.js", value: "max-age=3600" }, ...allFiles("private, max-age=86400")],
    },
    depth: 5,
    afterLoad: { files: AFTER_LOAD, depthBefore: 2 },
  };

  function libraryPath(path: string): string {
    return path.replace("/dist/", "/");
  }
}

/** All pictures: which of them come before the load event is for the page's script to say. */
const AFTER_LOAD = /\.woff2$|\.json$|^images\.|^ads\.|\/(?:analytics\.js|pixel\.gif)$/;

function feed(stories: readonly Story[], pictures: readonly string[]): unknown {
  return {
    next: `/v2/feed.json?after=${stories.at(-1)?.id}`,
    items: stories.map(({ id, topic, headline, summary, author, paragraphs }, index) => ({
      id,
      topic,
      headline,
      summary,
      author,
      text: paragraphs[0],
      picture: pictures[index] ?? null,
    })),
  };
}

/** A photograph, panned over, as a film of 320 by 200 pixels. */
async function film(name: string, frames: number): Promise<Buffer> {
  const { source, area } = await photoArea(name, 1.6);
  const pictures = Array.from({ length: frames }, (_, frame) =>
    resize(
      source,
      { ...area, left: area.left * (frame / frames), width: area.width * 0.9, height: area.height * 0.9 },
      320,
      200,
    ),
  );
  return encodeGif(pictures, 64);
}
