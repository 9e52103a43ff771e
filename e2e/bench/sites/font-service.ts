import { packageFile } from "./package-content.ts";
import { allFiles, FINGERPRINTED, type SiteDraft, type SiteFiles } from "./site-draft.ts";

export interface FontFace {
  readonly family: string;
  readonly weight: number;
  readonly style: "normal" | "italic";
  /** Of KaTeX, without extension. */
  readonly file: string;
}

/**
 * Adds a host in the manner of font services: a style sheet that names fonts on the same host. Fonts of KaTeX stand
 * in for the families.
 *
 * @returns the address of the style sheet.
 */
export async function addFontService(site: SiteFiles, host: string, faces: readonly FontFace[]): Promise<string> {
  const rules = await Promise.all(
    faces.map(async ({ family, weight, style, file }) => {
      const place = `${host}/s/${file.toLowerCase()}.woff2`;
      if (!site.files.has(place)) site.add(place, await packageFile(`katex/dist/fonts/${file}.woff2`));
      return `/* latin */
@font-face {
  font-family: "${family}";
  font-style: ${style};
  font-weight: ${weight};
  font-display: swap;
  src: url(https://${place}) format("woff2");
  unicode-range: U+0000-00FF, U+0131, U+0152-0153, U+02BB-02BC, U+02C6, U+02DA, U+02DC, U+2000-206F, U+20AC, U+2122;
}
`;
    }),
  );
  return site.add(`${host}/css/families.css`, rules.join(""));
}

export function fontCacheControl(host: string): SiteDraft["cacheControl"] {
  return { [host]: [{ path: "/css/*", value: "private, max-age=86400" }, ...allFiles(FINGERPRINTED)] };
}
