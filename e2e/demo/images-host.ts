import { findArticle } from "./articles.ts";
import { CACHE_ASSET, type DemoHost, type DemoResponse } from "./demo-host.ts";
import { drawing, photo } from "./pictures.ts";

/** Widths in pixels in which photos are offered. */
export const PHOTO_WIDTHS = [360, 720] as const;

/** `/photo/NAME-WIDTH.png` and `/drawing/NAME.svg` for each article. Photos are made once, on first use. */
export function imagesHost(): DemoHost {
  const made = new Map<string, Buffer>();
  return ({ url }): DemoResponse | undefined => {
    const svg = /^\/drawing\/([a-z-]+)\.svg$/.exec(url.pathname)?.[1];
    if (svg !== undefined && findArticle(svg)) {
      return { type: "image/svg+xml", body: drawing(svg), cache: CACHE_ASSET };
    }
    const [, name = "", width = ""] = /^\/photo\/([a-z-]+)-(\d+)\.png$/.exec(url.pathname) ?? [];
    const size = PHOTO_WIDTHS.find((candidate) => candidate === Number(width));
    if (size === undefined || !findArticle(name)) return undefined;
    const body = made.get(url.pathname) ?? photo(name, size);
    made.set(url.pathname, body);
    return { type: "image/png", body, cache: CACHE_ASSET };
  };
}
