/** The page of experiment F: next to nothing itself, with a large download and stylesheets that it may ask for. */
import { join } from "node:path";
import { NoiseBytes } from "../behaviours/replay/noise-bytes.ts";
import type { Site } from "../model.ts";
import { allFiles, SiteFiles } from "../sites/site-draft.ts";
import { readSite, writeSite } from "../sites/write-site.ts";

const HOST = "overtaking.test";
const NAME = "overtaking";
export const DOWNLOAD_BYTES = 20_000_000;
/** In any content coding: so much noise, as base64, in a comment. */
export const STYLE_BYTES = 20_000;
/** Each is asked for once. */
const STYLES = 4;

export const DOWNLOAD_PATH = "/download.bin";

/** @param index from 0, below the number of styles that the site has. */
export function stylePath(index: number): string {
  return `/style-${index}.css`;
}

/** Written below the directory, unless it was before. */
export async function makeOvertakingSite(directory: string): Promise<Site> {
  const place = join(directory, `${NAME}-${DOWNLOAD_BYTES}-${STYLES}x${STYLE_BYTES}`);
  const made = await readSite(place);
  const site = made ?? (await writeSite(place, draft(), { name: NAME, version: 0, before: undefined }));
  // A visit fetches the page alone; what is asked for later the experiment counts itself.
  return { ...site, objects: 1, bytes: PAGE.length, codedBytes: PAGE.length, depth: 1 };
}

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>Overtaking</title>
    <link rel="icon" href="data:,">
  </head>
  <body><p>What a person waits for overtakes what is large.</p></body>
</html>
`;

function draft(): Parameters<typeof writeSite>[1] {
  const files = new SiteFiles();
  files.add(`${HOST}/index.html`, PAGE);
  files.add(`${HOST}${DOWNLOAD_PATH}`, Buffer.from(new NoiseBytes(0).take(DOWNLOAD_BYTES)));
  for (let index = 0; index < STYLES; index++) {
    const noise = Buffer.from(new NoiseBytes(index + 1).take(STYLE_BYTES)).toString("base64");
    files.add(`${HOST}${stylePath(index)}`, `/* ${noise} */\nbody { outline-width: ${index + 1}px; }\n`);
  }
  return {
    document: `${HOST}/index.html`,
    files: files.files,
    cacheControl: { [HOST]: allFiles("no-store") },
    depth: 2,
  };
}
