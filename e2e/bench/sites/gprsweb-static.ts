import { hundredFiftyPage, PICTURE_COUNT, tilePicture } from "../../demo/hundred-fifty.ts";
import { ornamentOfSize, photoGifOfSize } from "./pictures/gif.ts";
import { photoOfSize } from "./pictures/photos.ts";
import { allFiles, type SiteDraft, SiteFiles } from "./site-draft.ts";
import { escapeText, placesAt, story } from "./text/news-text.ts";

interface StaticPage {
  readonly host: string;
  readonly title: string;
  readonly htmlBytes: number;
  /** Sizes in bytes; each file has this or a little less. */
  readonly jpegs: readonly number[];
  readonly gifs: readonly number[];
}

/** STATIC-I of GPRSWeb: index 52%, three JPEG 29%, GIF 19% of the bytes. */
const STATIC_I: StaticPage = {
  host: "static-i.test",
  title: "The Saltmere Almanac",
  htmlBytes: 17_000,
  jpegs: [2600, 3200, 4000],
  gifs: [210, 320, 480, 700, 1000, 1400, 2350],
};

/** STATIC-II of GPRSWeb: index 25%, 8 JPEG 17%, 24 small GIF 17%, 12 middle GIF 34%, one large GIF 7% of the bytes. */
const STATIC_II: StaticPage = {
  host: "static-ii.test",
  title: "The Saltmere Almanac, complete",
  htmlBytes: 40_000,
  jpegs: [2100, 2500, 2900, 3300, 3700, 4100, 4500, 4900],
  gifs: [
    ...Array.from({ length: 24 }, (_, index) => 210 + Math.round(1750 * (index / 23))),
    ...Array.from({ length: 12 }, (_, index) => 2100 + Math.round(5500 * (index / 11))),
    11_400,
  ],
};

export const staticOne = (version: number): Promise<SiteDraft> => staticPage(STATIC_I, version);
export const staticTwo = (version: number): Promise<SiteDraft> => staticPage(STATIC_II, version);

/** Text of the given length with its pictures in between; an edit changes a third of the stories and one picture. */
async function staticPage(page: StaticPage, version: number): Promise<SiteDraft> {
  const site = new SiteFiles();
  const pictures = [
    ...(await Promise.all(
      page.jpegs.map(async (bytes, index) => {
        const name = `photo-${index + 1}.jpg`;
        const edited = index === 0 && version > 0 ? `/${version}` : "";
        site.add(`${page.host}/${name}`, await photoOfSize(`${page.host}/${name}${edited}`, bytes));
        return name;
      }),
    )),
    ...(await Promise.all(
      page.gifs.map(async (bytes, index) => {
        const name = bytes < 1000 ? `rule-${index + 1}.gif` : `figure-${index + 1}.gif`;
        const gif = bytes < 1000 ? ornamentOfSize : photoGifOfSize;
        site.add(`${page.host}/${name}`, await gif(`${page.host}/${name}`, bytes));
        return name;
      }),
    )),
  ];
  site.add(`${page.host}/index.html`, almanac(page, pictures, version));
  return {
    document: `${page.host}/index.html`,
    files: site.files,
    cacheControl: { [page.host]: allFiles("max-age=600") },
    depth: 2,
  };
}

function almanac({ host, title, htmlBytes }: StaticPage, pictures: readonly string[], version: number): string {
  const head = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>body { font: 16px/1.45 Georgia, serif; margin: 0 auto; max-width: 40em; padding: 1em; }
img { margin: 0 .4em .2em 0; vertical-align: middle; } h2 { border-top: 1px solid #bbb; font-size: 1.1em; padding-top: .6em; }</style>
</head>
<body>
<h1>${title}</h1>
${pictures.map((picture) => `<img src="${picture}" alt="">`).join("\n")}
`;
  const foot = "\n<hr>\n<address>The almanac is set by hand and printed every hour.</address>\n</body>\n</html>\n";
  const room = htmlBytes - Buffer.byteLength(head) - Buffer.byteLength(foot);
  const stories = placesAt(host, 40, version).map((name) => {
    const { headline, author, paragraphs } = story(name, 2);
    const text = paragraphs.map((paragraph) => `<p>${escapeText(paragraph)}</p>`).join("\n");
    return `<h2><a href="stories.html#${name.replaceAll("/", "-")}">${escapeText(headline)}</a></h2>\n<p><i>${author}</i></p>\n${text}`;
  });
  return head + cutText(stories.join("\n"), room) + foot;
}

/** The beginning of a text of elements, cut at the end of a paragraph, at most `bytes` long. */
function cutText(html: string, bytes: number): string {
  const kept: string[] = [];
  let length = 0;
  for (const line of html.split("\n")) {
    const left = bytes - length - 1;
    if (Buffer.byteLength(line) > left) {
      const words = line.startsWith("<p>") ? line.slice(0, Math.max(0, left - 12)) : "";
      if (words.length > 20) kept.push(`${words.slice(0, words.lastIndexOf(" "))}.</p>`);
      break;
    }
    kept.push(line);
    length += Buffer.byteLength(line) + 1;
  }
  return kept.join("\n");
}

const FIFTY = "hundred-fifty.test";

/** The test page of the HTTP-over-WebSocket paper: 150 PNG files of 1,517 bytes each. An edit changes every 50th. */
export async function hundredFifty(version: number): Promise<SiteDraft> {
  const site = new SiteFiles();
  site.add(`${FIFTY}/index.html`, hundredFiftyPage());
  for (let number = 1; number <= PICTURE_COUNT; number++) {
    site.add(`${FIFTY}/tile-${number}.png`, tilePicture(number % 50 === 0 ? number + version * PICTURE_COUNT : number));
  }
  return {
    document: `${FIFTY}/index.html`,
    files: site.files,
    cacheControl: { [FIFTY]: allFiles("max-age=600") },
    depth: 2,
  };
}
