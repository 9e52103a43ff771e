/** A note that is written in Jodit, whose content has a document of its own in a blank frame. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

const [port] = process.argv.slice(2);
const editor = new URL("../node_modules/jodit/es2021/", import.meta.url);
const dot = (size) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}"><rect width="100%" height="100%"/></svg>`;

const PAGE = (
  note,
) => `<!doctype html><meta charset="utf-8"><title>Note</title><link rel="stylesheet" href="/jodit.fat.min.css">
<form method="post" action="/save"><textarea name="note">${note.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</textarea><button>Save</button></form>
<script src="/jodit.fat.min.js"></script>
<script>
  Jodit.make("textarea", { iframe: true, iframeCSSLinks: ["/content.css"], toolbarAdaptive: false, buttons: "bold,italic,image,source", height: 300 });
</script>`;

let note = '<p>Kept before</p><p><img src="/dot.svg?size=9"></p>';

const TYPES = { css: "text/css", js: "text/javascript", svg: "image/svg+xml" };

async function fileAt({ pathname, searchParams }) {
  if (pathname === "/content.css") return "p { color: rgb(1, 2, 3); background: url(/dot.svg?size=3) }";
  if (pathname === "/dot.svg") return dot(searchParams.get("size"));
  return readFile(new URL(`.${pathname}`, editor));
}

createServer(async (request, response) => {
  const url = new URL(request.url, "http://localhost");
  if (request.method === "POST") {
    let body = "";
    for await (const part of request) body += part;
    note = new URLSearchParams(body).get("note");
    response.writeHead(303, { location: "/" }).end();
    return;
  }
  const [, ending] = /\.(\w+)$/.exec(url.pathname) ?? [];
  response.setHeader("content-type", TYPES[ending] ?? "text/html");
  response.end(url.pathname === "/" ? PAGE(note) : await fileAt(url).catch(() => ""));
}).listen(Number(port), "127.0.0.1");
