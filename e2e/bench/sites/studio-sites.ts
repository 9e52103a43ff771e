import { seededRandom, seedOf } from "../../demo/random.ts";
import { addFontService, type FontFace, fontCacheControl } from "./font-service.ts";
import { packageFile, packageText } from "./package-content.ts";
import { photoOfSize } from "./pictures/photos.ts";
import { addedText, releasedName, releasedStyle, replaced, withoutIconFiles } from "./real-site-edits.ts";
import { allFiles, FINGERPRINTED, type SiteDraft, SiteFiles } from "./site-draft.ts";

const AGENCY_FONTS: readonly FontFace[] = [
  { family: "Montserrat", weight: 400, style: "normal", file: "KaTeX_SansSerif-Regular" },
  { family: "Montserrat", weight: 700, style: "normal", file: "KaTeX_SansSerif-Bold" },
  { family: "Roboto Slab", weight: 400, style: "normal", file: "KaTeX_Main-Regular" },
];

/** The Agency page of Start Bootstrap: one long page of photographs, Bootstrap from a script library. */
export async function agency(version: number): Promise<SiteDraft> {
  const host = "www.studio-agency.test";
  const imageHost = "assets.studio-agency.test";
  const libraryHost = "cdn.script-library.test";
  const fontHost = "fonts.agency-type.test";
  const folder = "startbootstrap-agency/dist";
  const site = new SiteFiles();
  const fonts = await addFontService(site, fontHost, AGENCY_FONTS);
  const bootstrap = await packageFile("bootstrap/dist/js/bootstrap.bundle.min.js");
  const library = site.add(`${libraryHost}/bootstrap@5.2.3/bootstrap.bundle.min.js`, bootstrap);
  let page = withoutIconFiles(await packageText(`${folder}/index.html`));
  page = replaced(page, /<script src="https:\/\/use\.fontawesome[^>]*><\/script>/, "");
  page = replaced(page, /<script src="https:\/\/cdn\.startbootstrap[^>]*><\/script>/, "");
  page = replaced(page, /https:\/\/cdn\.jsdelivr\.net[^"]*/, library);
  page = replaced(page, /https:\/\/fonts\.googleapis\.com\/css\?family=Montserrat[^"]*/, fonts);
  page = replaced(page, /<link href="https:\/\/fonts\.googleapis\.com[^>]*>/, "");
  for (const [reference, path] of page.matchAll(/"assets\/(img\/[^"]+)"/g)) {
    await addImage(`${path}`);
    page = page.replaceAll(reference, `"https://${imageHost}/${path}"`);
  }
  let style = await packageText(`${folder}/css/styles.css`);
  for (const name of ["header-bg.jpg", "map-image.png"]) {
    style = style.replaceAll(`../assets/img/${name}`, await addImage(`img/${name}`));
  }
  const styleName = releasedName("css/styles.css", version);
  page = replaced(page, /href="css\/styles\.css"/, `href="${styleName}"`);
  site.add(`${host}/${styleName}`, releasedStyle(style, version));
  site.add(`${host}/js/scripts.js`, await packageFile(`${folder}/js/scripts.js`));
  const added = addedText(host, version);
  site.add(
    `${host}/index.html`,
    replaced(
      page,
      '<section class="page-section" id="services">',
      `${added}<section class="page-section" id="services">`,
    ),
  );
  return {
    document: `${host}/index.html`,
    files: site.files,
    cacheControl: {
      [host]: [
        { path: "/css/*", value: FINGERPRINTED },
        { path: "/js/*", value: "max-age=14400" },
        ...allFiles("max-age=0, must-revalidate"),
      ],
      [imageHost]: allFiles("max-age=14400"),
      [libraryHost]: allFiles(FINGERPRINTED),
      ...fontCacheControl(fontHost),
    },
    depth: 3,
    afterLoad: { files: /\.woff2$|header-bg|map-image/, depthBefore: 2 },
  };

  async function addImage(path: string): Promise<string> {
    const place = `${imageHost}/${path}`;
    if (!site.files.has(place)) site.add(place, await packageFile(`${folder}/assets/${path}`));
    return `https://${place}`;
  }
}

const PORTFOLIO_FONTS: readonly FontFace[] = [
  { family: "Roboto", weight: 300, style: "normal", file: "KaTeX_SansSerif-Regular" },
  { family: "Roboto", weight: 700, style: "normal", file: "KaTeX_SansSerif-Bold" },
  { family: "Maitree", weight: 400, style: "normal", file: "KaTeX_Main-Regular" },
];

/** Weights of the style sheet's own family that the page uses. */
const DISPLAY_FONTS = {
  thin: "KaTeX_SansSerif-Italic",
  regular: "KaTeX_Main-Italic",
  bold: "KaTeX_Main-BoldItalic",
};

/** WebSlides' portfolio: photographs from a photo service, logos from the site, icons fetched by script. */
export async function portfolios(version: number): Promise<SiteDraft> {
  const host = "portfolios.test";
  const cdnHost = "static.portfolio-assets.test";
  const photoHost = "source.photo-service.test";
  const fontHost = "fonts.portfolio-type.test";
  const site = new SiteFiles();
  const fonts = await addFontService(site, fontHost, PORTFOLIO_FONTS);
  let page = withoutIconFiles(await packageText("webslides/demos/portfolios.html"));
  page = replaced(page, /https:\/\/fonts\.googleapis\.com[^"]*/, fonts);
  page = page
    .replace("/LcDPAqX8dt8/)", "/LcDPAqX8dt8/')")
    .replace(/<iframe\b[\s\S]*?<\/iframe>/g, "")
    .replace(/<video\b[\s\S]*?<\/video>/g, "")
    .replace(/ data-(?:youtube|vimeo)[\w-]*(?:="[^"]*")?/g, "")
    .replace(/https:\/\/webslides\.tv\/static\/images\/([\w-]+)\.(?:png|jpg)/g, `https://${photoHost}/covers/$1.jpg`)
    .replace(/https:\/\/source\.unsplash\.com\/([\w-]+)\/(?:800x600)?(?=["'])/g, `https://${photoHost}/$1.jpg`)
    .replaceAll("../static/", `https://${cdnHost}/`);
  const shown = [...page.matchAll(/(?:<img[^>]*src="|<span [^<>]*url\(')https:\/\/([^"']+)/g)].map(
    ([, place = ""]) => place,
  );
  for (const place of new Set(shown)) {
    const ours = place.startsWith(`${cdnHost}/`);
    site.add(
      place,
      await (ours ? packageFile(`webslides/static/${place.slice(cdnHost.length + 1)}`) : servicePhoto(place)),
    );
  }
  let style = await packageText("webslides/static/css/webslides.css");
  for (const [weight, file] of Object.entries(DISPLAY_FONTS)) {
    const font = site.add(
      `${cdnHost}/fonts/display-${weight}.woff2`,
      await packageFile(`katex/dist/fonts/${file}.woff2`),
    );
    style = replaced(style, new RegExp(`https://applesocial[^"]*display-${weight}-webfont\\.woff2`), font);
  }
  for (const name of ["logos/logo.svg", "swipe.svg"]) {
    site.add(`${cdnHost}/images/${name}`, await packageFile(`webslides/static/images/${name}`));
  }
  const styleName = releasedName("css/webslides.css", version);
  page = replaced(
    page,
    `https://${cdnHost}/css/webslides.css`,
    site.add(`${cdnHost}/${styleName}`, releasedStyle(style, version)),
  );
  site.add(`${cdnHost}/css/svg-icons.css`, await packageText("webslides/static/css/svg-icons.css"));
  site.add(`${cdnHost}/js/webslides.js`, await packageText("webslides/static/js/webslides.js"));
  const icons = await packageText("webslides/static/js/svg-icons.js");
  const sprite = site.add(`${photoHost}/sprites/icons.svg`, iconSprite(page));
  site.add(`${cdnHost}/js/svg-icons.js`, replaced(icons, /https:\/\/file\.myfontastic\.com[^']*/, sprite));
  const added = addedText(host, version);
  site.add(`${host}/index.html`, added ? replaced(page, "<!--main-->", `${added}<!--main-->`) : page);
  return {
    document: `${host}/index.html`,
    files: site.files,
    cacheControl: {
      [host]: allFiles("max-age=0, must-revalidate"),
      [cdnHost]: allFiles("max-age=86400"),
      [photoHost]: allFiles("max-age=31536000"),
      ...fontCacheControl(fontHost),
    },
    depth: 3,
    afterLoad: { files: /\.woff2$|^source\.|\/iphone|logo\.svg$|swipe\.svg$/, depthBefore: 2 },
  };
}

/** A photograph as a photo service delivers it, 20 to 40 KB. */
function servicePhoto(place: string): Promise<Buffer> {
  return photoOfSize(place, 20_000 + (seedOf(place) % 20_000), { aspect: 4 / 3, quality: 74 });
}

/** A symbol for every icon that the page uses. */
function iconSprite(page: string): string {
  const ids = new Set([...page.matchAll(/<use xlink:href="#([\w-]+)"/g)].map(([, id = ""]) => id));
  const symbols = [...ids].map((id) => {
    const random = seededRandom(seedOf(id));
    const point = (): string => `${Math.round(random() * 280)} ${Math.round(random() * 280)}`;
    const strokes = Array.from({ length: 5 }, () => `M${point()}c${point()} ${point()} ${point()}l${point()}z`).join(
      "",
    );
    return `<symbol id="${id}" viewBox="0 0 512 512"><path d="${strokes}"/></symbol>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join("\n")}</svg>`;
}
