import { adCacheControl, addAdNetwork } from "../ad-network.ts";
import { packageText } from "../package-content.ts";
import { ornamentOfSize, photoGifOfSize } from "../pictures/gif.ts";
import { photoOfSize } from "../pictures/photos.ts";
import { allFiles, type SiteDraft, SiteFiles } from "../site-draft.ts";
import { placesAt, story } from "../text/news-text.ts";
import { type FrontPage, frontPageHtml, frontPageScript, frontPageStyle } from "./news-front-page-html.ts";

/** A general newspaper: a photograph beside every third story, a button for each section. */
const HERALD: FrontPage = {
  title: "The Saltmere Herald",
  host: "www.saltmere-herald.test",
  imageHost: "images.saltmere-herald.test",
  adHost: "ads.bannerwerk.test",
  sections: ["World", "Business", "Science", "Health", "Harbour", "Sport", "Culture", "Politics", "Travel", "Weather"],
  stories: 36,
  paragraphs: 1,
  photos: [8200, 4100, 3600, 3300, 3100, 2900, 2700, 2600, 2400, 2300, 2200, 2000],
  promotions: [3400, 2600, 2100, 1700, 1300],
  bullets: 12,
  banners: [9800, 6100],
};

/** A news wire: more text, fewer and smaller pictures, many of them bullets and flags. */
const WIRE: FrontPage = {
  title: "Northern Wire",
  host: "northern-wire.test",
  imageHost: "static.northern-wire.test",
  adHost: "promo.clickharbour.test",
  sections: ["Front page", "Markets", "Shipping", "Energy", "Courts", "Science", "Football", "Obituaries"],
  stories: 52,
  paragraphs: 1,
  photos: [5200, 2600, 2400, 2200, 2000, 1800],
  promotions: [4300, 1900, 1600, 1400, 1100, 900, 800],
  bullets: 22,
  banners: [11_500, 7400, 4200],
};

export const newsHerald = (version: number): Promise<SiteDraft> => newsFrontPage(HERALD, version);
export const newsWire = (version: number): Promise<SiteDraft> => newsFrontPage(WIRE, version);

/**
 * A news front page of the early 2000s. Each edit, an hour apart, changes a third of the stories with their
 * photographs, every banner and the site's script, which comes under a new name.
 */
async function newsFrontPage(page: FrontPage, version: number): Promise<SiteDraft> {
  const site = new SiteFiles();
  const names = placesAt(page.host, page.stories, version);
  const stories = names.map((name) => story(name, page.paragraphs));
  const photos = await Promise.all(
    page.photos.map(async (bytes, index) =>
      site.add(
        `${page.imageHost}/photos/${stories[index]?.id}.jpg`,
        await photoOfSize(`photo ${names[index]}`, bytes, { aspect: index === 0 ? 1.6 : 1.25, quality: 62 }),
      ),
    ),
  );
  const gifs = async (
    folder: string,
    sizes: readonly number[],
    gif: (name: string, bytes: number) => Promise<Buffer>,
  ): Promise<readonly string[]> =>
    Promise.all(
      sizes.map(async (bytes, index) => {
        const place = `${page.imageHost}/${folder}/${index + 1}.gif`;
        return site.add(place, await gif(place, bytes));
      }),
    );
  const buttons = await gifs(
    "buttons",
    page.sections.map((section) => 420 + section.length * 45),
    ornamentOfSize,
  );
  const bullets = await gifs(
    "bullets",
    Array.from({ length: page.bullets }, (_, index) => 130 + index * 14),
    (name, bytes) => ornamentOfSize(name, bytes, 1.2),
  );
  const promotions = await gifs("promotions", page.promotions, (name, bytes) => photoGifOfSize(name, bytes, 1.4));
  const masthead = site.add(`${page.imageHost}/masthead.gif`, await photoGifOfSize(`${page.host}/masthead`, 4800, 5.5));
  const backgrounds = await gifs("backgrounds", [190, 340], ornamentOfSize);

  const styles = [
    site.add(`${page.host}/css/reset.css`, await packageText("bootstrap/dist/css/bootstrap-reboot.min.css")),
    site.add(`${page.host}/css/front.css`, frontPageStyle(backgrounds)),
  ];
  const scripts = [
    site.add(`${page.host}/js/zoom.js`, await packageText("reveal.js/dist/plugin/zoom.js")),
    site.add(`${page.host}/js/search.js`, await packageText("reveal.js/dist/plugin/search.js")),
    site.add(`${page.host}/js/front.${210 + version}.js`, frontPageScript(210 + version)),
  ];
  const ads = await addAdNetwork(site, page.adHost, page.banners, version);
  const html = frontPageHtml({
    page,
    version,
    stories,
    photos,
    buttons,
    bullets,
    promotions,
    masthead,
    styles,
    scripts: [...scripts, ads.script],
    adPlaces: ads.places,
  });
  site.add(`${page.host}/index.html`, html);
  return {
    document: `${page.host}/index.html`,
    files: site.files,
    cacheControl: {
      [page.host]: [
        { path: "/js/front.*", value: "max-age=86400" },
        { path: "/css/*", value: "max-age=86400" },
        ...allFiles("max-age=60"),
      ],
      [page.imageHost]: [{ path: "/photos/*", value: "max-age=3600" }, ...allFiles("max-age=604800")],
      ...adCacheControl(page.adHost),
    },
    depth: 3,
  };
}
