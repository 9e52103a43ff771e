import { harbourApi } from "./harbour-api.ts";
import { packageFile, packageText } from "./package-content.ts";
import { addedText, releasedName, releasedStyle, replaced, withoutIconFiles } from "./real-site-edits.ts";
import { allFiles, FINGERPRINTED, type SiteDraft, SiteFiles } from "./site-draft.ts";

/** What GitHub Pages, where many such sites are, says of every file. */
const PAGES_DEFAULT = "max-age=600";

/** A page of Spectre.css's documentation with six photographs; its style sheets and pictures are on other hosts. */
export async function spectreDocs(version: number): Promise<SiteDraft> {
  const host = "spectre-docs.test";
  const styleHost = "cdn.spectre-assets.test";
  const imageHost = "images.spectre-docs.test";
  const site = new SiteFiles();
  let page = withoutIconFiles(await packageText("spectre.css/docs/components/cards.html"))
    .replace(/<script\b[^>]*\bsrc="https:[^>]*><\/script>\s*/g, "")
    .replace(/<script>\s*(?:\(adsbygoogle|\(function\(i,s,o,g|docsearch)[\s\S]*?<\/script>\s*/g, "");
  for (const name of ["spectre.min.css", "spectre-icons.min.css", "spectre-exp.min.css", "docs.min.css"]) {
    const edited = name === "docs.min.css" ? version : 0;
    const style = releasedStyle(await packageText(`spectre.css/docs/dist/${name}`), edited);
    page = replaced(page, `../dist/${name}`, site.add(`${styleHost}/0.5.9/${releasedName(name, edited)}`, style));
  }
  for (const [reference, name] of page.matchAll(/"\.\.\/img\/([\w-]+\.(?:jpg|svg|png))"/g)) {
    const place = `${imageHost}/${name}`;
    if (!site.files.has(place)) site.add(place, await packageFile(`spectre.css/docs/img/${name}`));
    page = page.replaceAll(reference, `"https://${place}"`);
  }
  site.add(
    `${host}/index.html`,
    replaced(page, '<div class="docs-footer', `${addedText(host, version)}<div class="docs-footer`),
  );
  return {
    document: `${host}/index.html`,
    files: site.files,
    cacheControl: {
      [host]: allFiles(PAGES_DEFAULT),
      [styleHost]: allFiles(FINGERPRINTED),
      [imageHost]: allFiles("max-age=14400"),
    },
    depth: 2,
  };
}

/** Swagger UI, a single-page app from a CDN that fetches the description of an API from a third host. */
export async function swaggerUi(version: number): Promise<SiteDraft> {
  const host = "developers.harbour-authority.test";
  const scriptHost = "cdn.swagger-assets.test";
  const apiHost = "api.harbour-authority.test";
  const site = new SiteFiles();
  const api = site.add(`${apiHost}/v3/openapi.json`, JSON.stringify(harbourApi(`https://${apiHost}`, version)));
  let page = withoutIconFiles(await packageText("swagger-ui-dist/index.html"));
  for (const name of ["swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-standalone-preset.js"]) {
    page = replaced(
      page,
      `./${name}`,
      site.add(`${scriptHost}/5/${name}`, await packageFile(`swagger-ui-dist/${name}`)),
    );
  }
  const starter = await packageText("swagger-ui-dist/swagger-initializer.js");
  site.add(
    `${host}/swagger-initializer.js`,
    replaced(replaced(starter, /https:\/\/petstore[^"]*/, api), "dom_id:", "validatorUrl: null, dom_id:"),
  );
  site.add(`${host}/index.css`, releasedStyle(await packageText("swagger-ui-dist/index.css"), version));
  site.add(
    `${host}/index.html`,
    page.replace("</title>", `</title>\n    <meta name="viewport" content="width=device-width">`),
  );
  return {
    document: `${host}/index.html`,
    files: site.files,
    cacheControl: {
      [host]: allFiles("no-cache"),
      [scriptHost]: allFiles("public, max-age=604800, s-maxage=43200"),
      [apiHost]: allFiles("max-age=60"),
    },
    depth: 3,
    afterLoad: { files: /openapi\.json$/, depthBefore: 2 },
  };
}

/**
 * KaTeX's own test page: KaTeX as modules, its fonts, and jQuery UI's style sheets, which import each other four
 * levels deep.
 */
export async function katexPage(version: number): Promise<SiteDraft> {
  const host = "formulas.test";
  const cdnHost = "cdn.formula-assets.test";
  const themeHost = "themes.widget-assets.test";
  const site = new SiteFiles();
  const katexStyle = site.add(`${cdnHost}/katex/katex.css`, await packageText("katex/dist/katex.css"));
  for (const font of ["Main-Regular", "Math-Italic", "Size2-Regular"]) {
    const name = `KaTeX_${font}.woff2`;
    site.add(`${cdnHost}/katex/fonts/${name}`, await packageFile(`katex/dist/fonts/${name}`));
  }
  const katex = site.add(`${cdnHost}/katex/katex.mjs`, await packageText("katex/dist/katex.mjs"));
  const render = await packageText("katex/dist/contrib/auto-render.mjs");
  const autoRender = site.add(`${cdnHost}/katex/contrib/auto-render.mjs`, render);
  const theme = ["all", "base", "theme"];
  const base = await packageText("jquery-ui/themes/base/base.css");
  const widgets = [...base.matchAll(/@import url\("(\w+)\.css"\)/g)].map(([, widget = ""]) => widget);
  for (const part of [...theme, ...widgets]) {
    site.add(`${themeHost}/base/${part}.css`, await packageText(`jquery-ui/themes/base/${part}.css`));
  }
  site.add(
    `${host}/style.css`,
    releasedStyle(
      `@import "${katexStyle}";\n@import "https://${themeHost}/base/all.css";\n#test { padding: 12px; }\n.blue { color: #2233cc; }\n`,
      version,
    ),
  );
  const page = withoutIconFiles(await packageText("katex/contrib/auto-render/index.html"))
    .replace(/<script src="[^"]*" type="text\/javascript"><\/script>\s*/g, "")
    .replace(
      "</head>",
      `<meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="stylesheet" href="/style.css">
    <script type="importmap">{ "imports": { "katex": "${katex}", "auto-render": "${autoRender}" } }</script>
  </head>`,
    )
    .replace("<script>", '<script type="module">\n      import renderMathInElement from "auto-render";')
    .replace(/(\s*<\/div>\s*<script type="module">)/, (end) => addedText(host, version) + end);
  site.add(`${host}/index.html`, page);
  return {
    document: `${host}/index.html`,
    files: site.files,
    cacheControl: {
      [host]: allFiles(PAGES_DEFAULT),
      [cdnHost]: allFiles(FINGERPRINTED),
      [themeHost]: allFiles("public, max-age=86400"),
    },
    depth: 5,
    afterLoad: { files: /\.woff2$/, depthBefore: 5 },
  };
}
