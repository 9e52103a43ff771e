import type { Frame, FrameLocator, Page } from "@playwright/test";
import { expect, test } from "../fixtures/browser.ts";

/** In it "Привет" and what a letter less of it says. */
const RUSSIAN = Buffer.from("cff0e8e2e5f2", "hex");
/** Characters whose second bytes are `\` and `]`: "表ゼソ". */
const JAPANESE = Buffer.from("955c835d835c", "hex");
/** "日本語" between escapes. */
const ESCAPED = Buffer.from("1b2442467c4b5c386c1b2842", "hex");

const bytes = (parts: TemplateStringsArray, ...values: readonly Buffer[]): Buffer =>
  Buffer.concat(parts.flatMap((part, index) => [Buffer.from(part, "latin1"), values[index] ?? Buffer.alloc(0)]));

/** To the same site, and to another one. */
const FORMS = (
  word: Buffer,
) => bytes`<form id="get" action="/echo"><input name="word" value="${word}&#8364;&#9731; =&"></form>
<form id="post" method="post" action="/echo"><input name="word" value="${word}"></form>
<form id="away" method="post" action="//OTHER/echo"><input name="${word}" value="${word}&#9731; =&"></form>
<form id="plain" method="post" enctype="text/plain" action="//OTHER/echo"><input name="word" value="${word}"></form>`;

const PAGES: Readonly<Record<string, readonly [type: string, body: Buffer]>> = {
  "by its field": [
    "text/html; charset=windows-1251",
    bytes`<!doctype html><title>${RUSSIAN}</title><style>p::after{content:"${RUSSIAN}"}</style><link rel="stylesheet" href="/style.css?windows-1251"><p>${RUSSIAN}</p>
<script src="/script.js"></script><script>document.write("<b>${RUSSIAN}</b>")</script>
<a href="/to?q=${RUSSIAN}#${RUSSIAN}">a</a><img src="/${RUSSIAN}?q=${RUSSIAN}"><iframe src="/frame?q=${RUSSIAN}"></iframe>
<iframe srcdoc="<p>${RUSSIAN} what?${RUSSIAN}"></iframe>${FORMS(RUSSIAN)}`,
  ],
  "by an element behind the head": [
    "text/html",
    bytes`<!doctype html><body><!--${Buffer.alloc(880, "-x")}--><meta charset="windows-1251"><p>${RUSSIAN}</p>`,
  ],
  "by an older element, characters of two bytes": [
    "text/html",
    bytes`<meta content="text/html; charset=Shift_JIS" http-equiv=content-type><link rel="stylesheet" href="/style.css?Shift_JIS"><p>${JAPANESE}</p>
<svg><title><![CDATA[${JAPANESE.subarray(2, 4)}]>${JAPANESE}]]></title></svg><a href="/to?q=${JAPANESE}">a</a><img src="/i?q=${JAPANESE}">
<iframe src="/frame?q=${JAPANESE}"></iframe>${FORMS(JAPANESE)}`,
  ],
  "not by comments and attributes of scripts": [
    "text/html",
    bytes`<!-- <meta charset="koi8-r"> --><script charset="big5">1</script><p charset="koi8-r">caf\xe9</p>`,
  ],
  "by XML's declaration": ["text/html", bytes`<?xml version="1.0" encoding="koi8-r"?><p>${RUSSIAN}</p>`],
  "by nothing, Russian": [
    "text/html",
    bytes`<title>a</title><p>${Buffer.concat(Array.from({ length: 60 }, () => Buffer.from("cff0e8e2e5f2206c6de8f020e820e2f1e520", "hex")))}`,
  ],
  "UTF-8 that nothing declares": ["text/html", Buffer.from("<title>a</title><p>Grüße aus Köln, schöne Grüße</p>")],
  "UTF-8, cut between two halves": [
    "text/html; charset=utf-8",
    Buffer.from(`<script>/*${"😀".repeat(40_000)}*/</script><p>😀`),
  ],
  "plain text": ["text/plain; charset=windows-1251", bytes`\n<b>&amp; ${RUSSIAN}`],
};

const RECODED_TO_UTF8 = /^(?:UTF-16|ISO-2022)/;
const RECODED: Readonly<Record<string, readonly [type: string, body: Buffer]>> = {
  "UTF-16": ["text/html", Buffer.from('\ufeff<meta charset="koi8-r"><p>Grüße</p><a href="/to?q=ü">a</a>', "utf16le")],
  "ISO-2022-JP": ["text/html; charset=iso-2022-jp", bytes`<p>${ESCAPED}</p><iframe srcdoc="<p>${ESCAPED}"></iframe>`],
};

const SENT = [
  ["by its field", "get"],
  ["by its field", "away"],
  ["by an older element, characters of two bytes", "post"],
  ["by an older element, characters of two bytes", "plain"],
] as const;

async function received(page: Page | FrameLocator) {
  const { method, url, body } = JSON.parse((await page.locator("body").textContent()) ?? "");
  return { method, url, body };
}

/** Of all frames in it, and of those in them. */
async function read(frame: Page | Frame) {
  return frame.evaluate(() => {
    const said = (document: Document) => ({
      encoding: document.characterSet,
      type: document.contentType,
      // biome-ignore lint/performance/useDomNodeTextContent: as a person reads it.
      text: document.body.innerText,
      title: document.title,
      after: getComputedStyle(document.querySelector("p") ?? document.body, "::after").content,
      before: getComputedStyle(document.querySelector("p") ?? document.body, "::before").content,
      queries: [...document.links].map(({ search, hash }) => search + hash),
      sections: document.querySelector("svg")?.textContent,
    });
    const documentsOf = (around: Document) =>
      [...around.querySelectorAll("iframe")].flatMap(({ contentDocument }) => contentDocument ?? []);
    return [
      said(document),
      ...documentsOf(document).map((each) => [said(each), ...documentsOf(each).map(said)]),
    ].flat();
  });
}

test("documents are read in their own encoding, and what they load and send is in it", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  const { host } = new URL(otherOrigin.origin);
  const all = Object.entries({ ...PAGES, ...RECODED });
  const addressOf = (name: string) => `${origin.origin}/page${all.findIndex(([each]) => each === name)}`;
  for (const [name, [type, body]] of all) {
    const text = Buffer.from(body.toString("latin1").replaceAll("OTHER", host), "latin1");
    origin.route(new URL(addressOf(name)).pathname, ({ reply }) => reply(200, { "content-type": type }, text));
  }
  origin.route("/script.js", ({ reply }) =>
    reply(200, { "content-type": "text/javascript" }, bytes`document.write("<i>${RUSSIAN}</i>")`),
  );
  // Files of styles, too, are in the encoding of the document that names them, where nothing else is said.
  origin.route("/style.css", ({ request, reply }) => {
    const word = request.url.endsWith("JIS") ? JAPANESE : RUSSIAN;
    reply(200, { "content-type": "text/css" }, bytes`p::before{content:"${word}"}`);
  });
  origin.page("/frame", "<p>Frame</p>");
  // A frame of the same site has the encoding of what is around it, where nothing says another one.
  origin.page("/", all.map(([name]) => `<iframe src="${addressOf(name)}"></iframe>`).join(""));
  const asked = () => [...new Set(origin.requests.map(({ url }) => url).filter((url) => url.includes("?")))].sort();
  for (const address of [
    `${origin.origin}/`,
    addressOf("by nothing, Russian"),
    addressOf("UTF-8 that nothing declares"),
  ]) {
    origin.forget();
    await direct.page.goto(address);
    const wanted = await read(direct.page);
    const wantedRequests = asked();
    origin.forget();
    await app.goto(address);
    const shown = await read(await app.content());
    const asUtf8 = wanted.map((each) => (RECODED_TO_UTF8.test(each.encoding) ? { ...each, encoding: "UTF-8" } : each));
    expect(shown).toEqual(asUtf8);
    await expect.poll(asked).toEqual(wantedRequests);
  }
  for (const [name, id] of SENT) {
    await Promise.all([app.goto(addressOf(name)), direct.page.goto(addressOf(name))]);
    const submit = (form: HTMLFormElement) => form.submit();
    await Promise.all([
      direct.page.waitForURL(/echo/),
      direct.page.locator(`#${id}`).evaluate(submit),
      app.navigated(() => app.frame().locator(`#${id}`).evaluate(submit)),
    ]);
    expect(await received(app.frame()), `${name}, ${id}`).toEqual(await received(direct.page));
  }
});
