/** Pages that are no HTML, as people read them. */
import type { Frame } from "@playwright/test";
import { tilePicture } from "../demo/hundred-fifty.ts";
import { expect, testInOneApp as test } from "../fixtures/browser.ts";

/** Closed shadow trees are open to the test, which is told that they were to be closed. */
const OPENS = () => {
  const { attachShadow } = Element.prototype;
  if (attachShadow.name === "opened") return;
  Element.prototype.attachShadow = function opened(init) {
    Reflect.set(window, "shadowModes", [...(Reflect.get(window, "shadowModes") ?? []), init.mode]);
    return attachShadow.call(this, { ...init, mode: "open" });
  };
};

const modes = (frame: Frame) => frame.evaluate(() => Reflect.get(window, "shadowModes"));

test.beforeEach(({ app }) => app.page.addInitScript(OPENS));

const rows = Array.from({ length: 250 }, (_, index) => `{"id":${index},"name":"row ${index}"}`);
const JSON_TEXT = `{"price": 1.10, "big": 12345678901234567890, "a": "caf\\u00e9 <b>", "a": null,
  "site": "https://site.example/x", "empty": [], "rows": [${rows.join(",")}]}`;

test("JSON is a tree that keeps what is written, and its source is one tap away", async ({ app, origin }) => {
  const { page } = app;
  origin.route("/data", ({ reply }) => reply(200, { "content-type": "application/json" }, JSON_TEXT));
  origin.route("/broken", ({ reply }) => reply(200, { "content-type": "application/json" }, `{"a": 1,}`));
  origin.page("/", `<a href="/data">data</a>`);
  await app.goto(`${origin.origin}/`);
  await app.navigated(() => app.frame().getByText("data").click());
  const shown = app.frame();
  const tree = shown.locator(".tree");
  for (const text of ["1.10", "12345678901234567890", '"café <b>"', '"empty": []'])
    await expect(tree.getByText(text, { exact: true })).toBeVisible();
  await expect(tree.locator(".key").getByText('"a": ', { exact: true })).toHaveCount(2);
  await expect(tree.getByRole("link", { name: "https://site.example/x" })).toBeVisible();
  expect(origin.requestsTo("/data")).toHaveLength(1);
  // As keyboards open it: a hundred at a time.
  const last = tree.locator("summary").filter({ hasText: "99: " });
  await last.focus();
  await page.keyboard.press("Enter");
  await expect(tree.getByText('"row 99"', { exact: true })).toBeVisible();
  await tree.getByRole("button", { name: "Show more" }).click();
  await tree.getByRole("button", { name: "Show more" }).click();
  await expect(tree.locator("summary").filter({ hasText: "249: " })).toBeVisible();
  await page.keyboard.press("Control+f");
  await page.getByRole("textbox", { name: "Find in page" }).fill("12345678901234567890");
  await expect(page.getByRole("search").locator("output")).toHaveText("1 of 1");
  await page.keyboard.press("Escape");
  await shown.getByRole("button", { name: "Source" }).click();
  await expect(tree).toBeHidden();
  await expect(shown.locator("pre")).toBeInViewport();
  // To scripts it is as in a browser.
  const frame = await app.content();
  expect(await modes(frame)).toEqual(["closed"]);
  // biome-ignore lint/performance/useDomNodeTextContent: what is laid out is compared.
  expect(await frame.evaluate(() => [document.body.innerHTML.length, document.body.innerText])).toEqual([
    `<pre>${JSON_TEXT}</pre><div class="json-formatter-container"></div>`.replace("<b>", "&lt;b&gt;").length,
    JSON_TEXT,
  ]);
  await app.goto(`${origin.origin}/broken`);
  await expect(app.frame().locator("pre")).toHaveText(`{"a": 1,}`);
  await expect(app.frame().locator(".tree")).toHaveCount(0);
});

const ATOM = `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="/feed.xsl"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/blog/"><title>Harbour news</title><subtitle type="html">&lt;b&gt;Boats&lt;/b&gt; daily</subtitle>
<entry xml:base="2026/"><title>Atom one</title><link href="one"/><published>2026-11-20T08:00:00Z</published><author><name>Ada</name></author>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">An <i>xhtml</i> text</div></content></entry></feed>`;
const RSS = `<rss version="2.0"><channel><title>Ferry</title><link>/</link><description>Times</description>
<item><title>RSS &amp;amp; one</title><link>/one</link><pubDate>Fri, 20 Nov 2026 08:00:00 GMT</pubDate>
<description><![CDATA[<p>Text<script>document.title="ran"</script><img src="/seen.png"></p>]]></description></item>
<item><title>Bad link</title><link>javascript:alert(1)</link></item></channel></rss>`;
const JSON_FEED = JSON.stringify({
  version: "https://jsonfeed.org/version/1.1",
  title: "Pier",
  items: [
    { id: "1", url: "/one", title: "JSON one", content_html: "<p>Some <b>text</b></p>", authors: [{ name: "Bo" }] },
  ],
});

test("feeds are lists whose links lead on, and nothing in them runs or loads", async ({ app, origin }) => {
  const types = { "/atom": "application/xml", "/rss": "application/rss+xml", "/feed.json": "application/feed+json" };
  const bodies = [ATOM, RSS, JSON_FEED];
  for (const [index, [path, type]] of Object.entries(types).entries())
    origin.route(path, ({ reply }) => reply(200, { "content-type": type }, bodies[index]));
  origin.page("/blog/2026/one", "The first of the blog");
  origin.page("/one", "The first page");
  await app.goto(`${origin.origin}/atom`);
  const entries = app.frame().locator(".entries li");
  await expect(app.frame().getByRole("heading", { name: "Harbour news" })).toBeVisible();
  await expect(entries).toHaveText(/^Atom one.*2026.* · AdaAn xhtml text$/);
  await expect(app.frame().getByText("Boats daily")).toBeVisible();
  await app.frame().getByRole("button", { name: "Source" }).click();
  await expect(app.frame().getByText("<title>Harbour news</title>")).toBeVisible();
  await app.frame().getByRole("button", { name: "Feed" }).click();
  await app.navigated(() => app.frame().getByRole("link", { name: "Atom one" }).click());
  await expect(app.frame().getByText("The first of the blog")).toBeVisible();
  await app.goto(`${origin.origin}/rss`);
  await expect(entries.first()).toHaveText(/^RSS & one.*2026.*Text$/);
  await expect(app.frame().getByRole("link")).toHaveCount(1);
  await expect(app.page).toHaveTitle(/rss/);
  expect(origin.requestsTo("/seen.png")).toHaveLength(0);
  await app.goto(`${origin.origin}/feed.json`);
  await expect(entries).toHaveText(/^JSON oneBoSome text$/);
  await app.frame().getByRole("button", { name: "Source" }).click();
  await expect(app.frame().getByText('"JSON one"')).toBeVisible();
  await app.frame().getByRole("button", { name: "Feed" }).click();
  await app.navigated(() => app.frame().getByRole("link", { name: "JSON one" }).click());
  await expect(app.frame().getByText("The first page")).toBeVisible();
});

test("XML is a tree, and a picture is in the middle, whole or larger", async ({ app, origin }) => {
  const { page } = app;
  const xml = `<?xml version="1.0"?><!-- note --><list kind="a"><entry>One</entry><entry><![CDATA[<two>]]></entry></list>`;
  origin.route("/plain.xml", ({ reply }) => reply(200, { "content-type": "text/xml" }, xml));
  origin.route("/tile.png", ({ reply }) => reply(200, { "content-type": "image/png" }, tilePicture(1)));
  const svg = `<svg xmlns="http://www.w3.org/2000/svg"/>`;
  origin.route("/drawn.svg", ({ reply }) => reply(200, { "content-type": "image/svg+xml" }, svg));
  await app.goto(`${origin.origin}/plain.xml`);
  const tree = app.frame().locator(".tree");
  await expect(tree.getByText("<entry>One</entry>")).toBeVisible();
  for (const text of ["<!-- note -->", '<list kind="a">', "<![CDATA[<two>]]>"])
    await expect(tree.getByText(text)).toBeVisible();
  await app.frame().getByRole("button", { name: "Source" }).click();
  await expect(app.frame().getByText(xml.slice(xml.indexOf("<list")))).toBeVisible();

  await app.goto(`${origin.origin}/tile.png`);
  const picture = app.frame().locator("img");
  const middle = async () => {
    const [view, box] = [await page.locator("iframe:visible").boundingBox(), await picture.boundingBox()];
    if (view === null || box === null) throw new Error("Cannot measure: nothing is shown");
    const at = [box.x + box.width / 2 - view.x - view.width / 2, box.y + box.height / 2 - view.y - view.height / 2];
    return at.map((each) => Math.abs(Math.round(each)) <= 1);
  };
  await expect.poll(middle).toEqual([true, true]);
  const width = async () => Math.round((await picture.boundingBox())?.width ?? 0);
  const own = await width();
  await picture.click();
  await page.keyboard.press("+");
  await expect.poll(width).toBe(Math.round(own * 1.25));
  await expect.poll(middle).toEqual([true, true]);
  await page.keyboard.press("0");
  await expect.poll(width).toBe(own);
  const content = await app.content();
  // Two fingers, twice as far from each other in the end.
  await picture.evaluate((image) => {
    const fire = (type: string, pointerId: number, clientX: number) =>
      image.dispatchEvent(new PointerEvent(type, { pointerId, clientX, clientY: 300 }));
    fire("pointerdown", 1, 190);
    fire("pointerdown", 2, 210);
    fire("pointermove", 2, 220);
    fire("pointermove", 1, 180);
    fire("pointerup", 1, 180);
    fire("pointerup", 2, 220);
  });
  await expect.poll(width).toBe(own * 2);
  expect(await content.evaluate(() => document.body.childElementCount)).toBe(1);
  await app.goto(`${origin.origin}/drawn.svg`);
  expect(await (await app.content()).evaluate(() => document.documentElement.localName)).toBe("svg");
});
