import { CACHE_ASSET, type DemoHost, type DemoResponse } from "./demo-host.ts";
import { glyphFont } from "./glyph-font.ts";
import { COMMENTS_SCRIPT, SITE_SCRIPT } from "./news-scripts.ts";
import { DARK_STYLE, LAYOUT_STYLE, SITE_STYLE, TYPE_STYLE } from "./news-styles.ts";

const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0d3b4f"/>
<path fill="#fff" d="M12 27l2-14h4l2 14z"/><path fill="#ffc64d" d="M13 12h6V8l-3-3-3 3z"/></svg>
`;

/** Style sheets, scripts and the font of the newspaper. Modules and fonts are fetched with CORS, so all may be. */
export function staticHost(): DemoHost {
  const headers = { "access-control-allow-origin": "*" };
  const file = (type: string, body: string | Buffer): DemoResponse => ({
    type,
    body,
    cache: CACHE_ASSET,
    headers,
  });
  const files = new Map<string, DemoResponse>([
    ["/site.css", file("text/css", SITE_STYLE)],
    ["/type.css", file("text/css", TYPE_STYLE)],
    ["/layout.css", file("text/css", LAYOUT_STYLE)],
    ["/dark.css", file("text/css", DARK_STYLE)],
    ["/glyphs.woff", file("font/woff", glyphFont())],
    ["/site.js", file("text/javascript", SITE_SCRIPT)],
    ["/comments.js", file("text/javascript", COMMENTS_SCRIPT)],
    ["/logo.svg", file("image/svg+xml", LOGO)],
  ]);
  return ({ url }) => files.get(url.pathname);
}
