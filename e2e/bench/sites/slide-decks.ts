import { addFontService, type FontFace, fontCacheControl } from "./font-service.ts";
import { packageText } from "./package-content.ts";
import { photoOfSize } from "./pictures/photos.ts";
import { addedText, releasedName, releasedStyle, replaced, withoutIconFiles } from "./real-site-edits.ts";
import { allFiles, FINGERPRINTED, type SiteDraft, SiteFiles } from "./site-draft.ts";

/** reveal.js's demonstration: its theme carries fonts inside, code is coloured by a large plugin. */
export async function revealDeck(version: number): Promise<SiteDraft> {
  const host = "slides.test";
  const cdnHost = "cdn.slide-assets.test";
  const mediaHost = "media.slide-host.test";
  const site = new SiteFiles();
  let page = withoutIconFiles(await packageText("reveal.js/demo.html"));
  for (const [reference, path = ""] of page.matchAll(/(?:src|href)="(dist\/[^"]+\.(?:css|js))"/g)) {
    const edited = path === "dist/reveal.css" ? version : 0;
    const content = await packageText(`reveal.js/${path}`);
    const place = `${cdnHost}/reveal/6.0.2/${releasedName(path, edited)}`;
    page = page.replace(
      reference,
      reference.replace(path, site.add(place, edited ? releasedStyle(content, edited) : content)),
    );
  }
  page = replaced(
    page,
    /https:\/\/static\.slid\.es\/reveal\/logo-v1\/[\w-]+\.svg/,
    site.add(`${mediaHost}/logo.svg`, LOGO),
  );
  for (const [name, bytes] of [
    ["slides-symbol-1024x1024", 18_000],
    ["homepage-video-editor", 46_000],
  ] as const) {
    const place = `${mediaHost}/${name}.jpg`;
    page = page.replace(new RegExp(`https://static\\.slid\\.es/[\\w/-]*${name}\\.png`, "g"), `https://${place}`);
    site.add(place, await photoOfSize(name, bytes));
  }
  page = page
    .replace(/\s+data-(?:background|background-video|background-iframe|src|preview-video)="https?:[^"]*"/g, "")
    .replace("Reveal.initialize({", "Reveal.initialize({ scrollActivationWidth: null, transition: 'none',");
  const added = addedText(host, version);
  site.add(
    `${host}/index.html`,
    added ? replaced(page, '<div class="slides">', `<div class="slides"><section>${added}</section>`) : page,
  );
  return {
    document: `${host}/index.html`,
    files: site.files,
    cacheControl: {
      [host]: allFiles("max-age=600"),
      [cdnHost]: allFiles(FINGERPRINTED),
      [mediaHost]: allFiles("max-age=86400"),
    },
    depth: 2,
  };
}

const IMPRESS_FONTS: readonly FontFace[] = [
  { family: "Open Sans", weight: 400, style: "normal", file: "KaTeX_SansSerif-Regular" },
  { family: "PT Sans", weight: 400, style: "normal", file: "KaTeX_SansSerif-Bold" },
  { family: "PT Serif", weight: 400, style: "normal", file: "KaTeX_Main-Regular" },
  { family: "PT Serif", weight: 700, style: "normal", file: "KaTeX_Main-Bold" },
];

/** impress.js's demonstration with the fonts of a font service. */
export async function impressDeck(version: number): Promise<SiteDraft> {
  const host = "impressions.test";
  const fontHost = "fonts.typefoundry.test";
  const site = new SiteFiles();
  const fonts = await addFontService(site, fontHost, IMPRESS_FONTS);
  let page = withoutIconFiles(await packageText("impress.js/index.html"));
  page = replaced(page, /\/\/fonts\.googleapis\.com\/[^"]*/, fonts);
  for (const name of ["css/impress-demo.css", "css/impress-common.css"]) {
    const edited = name === "css/impress-demo.css" ? version : 0;
    site.add(`${host}/${releasedName(name, edited)}`, releasedStyle(await packageText(`impress.js/${name}`), edited));
    page = replaced(page, name, releasedName(name, edited));
  }
  site.add(`${host}/js/impress.js`, await packageText("impress.js/js/impress.js"));
  const added = addedText(host, version);
  const slide = `<div class="step slide" data-x="9000" data-y="9000">${added}</div>`;
  site.add(`${host}/index.html`, added ? replaced(page, '<div id="overview"', `${slide}<div id="overview"`) : page);
  return {
    document: `${host}/index.html`,
    files: site.files,
    cacheControl: { [host]: allFiles("max-age=600"), ...fontCacheControl(fontHost) },
    depth: 3,
    afterLoad: { files: /\.woff2$/, depthBefore: 2 },
  };
}

const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 330 90" width="330" height="90" fill="#fff">
<path d="M12 78V12h30c18 0 26 9 26 21s-7 18-17 20l20 25H55L37 54H25v24zm13-35h16c9 0 14-3 14-10s-5-10-14-10H25z"/>
<path d="M84 54c0-16 11-26 25-26s25 10 24 28H97c1 8 6 12 13 12 5 0 9-2 11-6h11c-3 10-11 16-22 16-15 0-26-9-26-24zm13-6h23c-1-7-5-10-11-10s-11 3-12 10z"/>
<path d="M138 30h13l12 34 12-34h13l-19 48h-12zM196 54c0-16 11-26 25-26s25 10 24 28h-36c1 8 6 12 13 12 5 0 9-2 11-6h11c-3 10-11 16-22 16-15 0-26-9-26-24zm13-6h23c-1-7-5-10-11-10s-11 3-12 10z"/>
<path d="M254 78V30h11l1 7c4-6 9-9 16-9 11 0 17 7 17 19v31h-12V49c0-7-3-11-9-11-7 0-12 5-12 13v27zM312 78V10h12v68z"/>
</svg>
`;
