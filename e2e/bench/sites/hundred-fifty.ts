import { hundredFiftyPage, PICTURE_COUNT, tilePicture } from "../../demo/hundred-fifty.ts";
import { allFiles, type SiteDraft, SiteFiles } from "./site-draft.ts";

const HOST = "hundred-fifty.test";

/** The test page of the HTTP-over-WebSocket paper: 150 PNG files of 1,517 bytes each. An edit changes every 50th. */
export async function hundredFifty(version: number): Promise<SiteDraft> {
  const site = new SiteFiles();
  site.add(`${HOST}/index.html`, hundredFiftyPage());
  for (let number = 1; number <= PICTURE_COUNT; number++) {
    site.add(`${HOST}/tile-${number}.png`, tilePicture(number % 50 === 0 ? number + version * PICTURE_COUNT : number));
  }
  return {
    document: `${HOST}/index.html`,
    files: site.files,
    cacheControl: { [HOST]: allFiles("max-age=600") },
    depth: 2,
  };
}
