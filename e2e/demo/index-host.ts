import { CACHE_ASSET, type DemoHost, type DemoOrigins, html } from "./demo-host.ts";
import { hundredFiftyPage, PICTURE_BYTES, PICTURE_COUNT, tilePicture } from "./hundred-fifty.ts";

/** The demo's index and the page of 150 pictures. */
export function indexHost(origins: DemoOrigins): DemoHost {
  return ({ url }) => {
    if (url.pathname === "/") return html(indexPage(origins));
    if (url.pathname === "/150/") return html(hundredFiftyPage());
    const number = Number(/^\/150\/tile-([1-9]\d{0,2})\.png$/.exec(url.pathname)?.[1]);
    if (number >= 1 && number <= PICTURE_COUNT) {
      return {
        type: "image/png",
        body: tilePicture(number),
        cache: CACHE_ASSET,
      };
    }
    return undefined;
  };
}

function indexPage(origins: DemoOrigins): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Ropeway demo</title>
<link rel="icon" href="data:,">
<style>
  :root { color-scheme: light dark; }
  body { font: 1.05rem/1.55 system-ui, sans-serif; margin: 0 auto; max-width: 36rem; padding: 2rem 1.25rem; }
  h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .75rem; }
  a.card { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: 14px; color: inherit;
    display: block; margin: 1rem 0; padding: 1rem 1.15rem; text-decoration: none; }
  a.card:focus-visible, a.card:hover { border-color: #0b6bcb; }
  a.card strong { display: block; font-size: 1.15rem; }
</style>
</head>
<body>
<h1>Two places to try</h1>
<p>Both are served by this machine and need no internet.</p>
<a class="card" href="${origins.news}/"><strong>The Saltmere Lantern</strong>
A small newspaper over three hosts, with pictures, search, comments and a theme to choose.</a>
<a class="card" href="/150/"><strong>150 pictures</strong>
${PICTURE_COUNT} different files of ${PICTURE_BYTES.toLocaleString("en")} bytes each, the classic test of a slow, far link.</a>
</body>
</html>
`;
}
