import { describe, expect, it } from "vitest";
import { settle } from "../../../shared/testing/turns.ts";
import { type Circumstances, load } from "./testing/push-rig.ts";

const SITE = "https://site.example";
const CSS = { type: "text/css; charset=utf-8" };
const JS = { type: "text/javascript" };

/** What is asked for when all that a document leads to has come. */
async function askedFor(html: string, texts: Record<string, readonly string[]>, more: Circumstances) {
  const rig = load({ texts: (url) => texts[url.replace(SITE, "")] ?? [], ...more });
  rig.write(html);
  await settle();
  return rig.asked.slice(1).map(({ head }) => head);
}

describe("what is pushed since it is imported", () => {
  it("is asked for as the style sheet would, as soon as it stands there", async () => {
    const texts = {
      "/css/a.css": ['@import "b.cs', 's";@import "c.css";p{}@import "d.css";'],
      "/css/c.css": ["@import url(/e.css);"],
    };
    const heads = await askedFor("<link rel=stylesheet href=/css/a.css>", texts, CSS);
    expect(heads).toMatchObject([
      { url: `${SITE}/css/b.css`, destination: "style", mode: "no-cors", referrer: `${SITE}/css/a.css` },
      { url: `${SITE}/css/c.css`, credentials: "include", origin: SITE },
      { url: `${SITE}/e.css`, referrer: `${SITE}/css/c.css` },
    ]);
  });

  it("is asked for as the module would, and each once however they import each other", async () => {
    const texts = {
      "/a.js": ['import"./b.js";import"./c.js";go()'],
      "/b.js": ['import"./a.js";'],
      "/c.js": ['import"./b.js";'],
    };
    const heads = await askedFor("<script type=module src=/a.js></script>", texts, JS);
    expect(heads).toMatchObject([
      {
        url: `${SITE}/b.js`,
        destination: "script",
        mode: "cors",
        credentials: "same-origin",
        referrer: `${SITE}/a.js`,
      },
      { url: `${SITE}/c.js` },
    ]);
  });

  it("obeys the page's policies, and says nothing of another origin's importer", async () => {
    const texts = { "https://cdn.example/a.css": ['@import "b.css"; @import "https://evil.example/?secret";'] };
    const headers = [["content-security-policy", "style-src https://cdn.example"]] as const;
    const heads = await askedFor("<link rel=stylesheet href=https://cdn.example/a.css>", texts, { ...CSS, headers });
    expect(heads).toMatchObject([{ url: "https://cdn.example/b.css", referrer: "" }]);
    expect(heads).toHaveLength(1);
  });

  it.each([
    ["a script that is no module", "<script src=/a.js></script>", JS],
    ["a module of another type", "<script type=module src=/a.js></script>", CSS],
    ["a style sheet of another type", "<link rel=stylesheet href=/a.js>", JS],
  ])("is nothing of %s", async (_, html, circumstances) => {
    expect(await askedFor(html, { "/a.js": ['import "./b.js";@import "c.css";'] }, circumstances)).toEqual([]);
  });

  it("does not have the nonce of the style sheet that imports it", async () => {
    const html = "<link rel=stylesheet nonce=n href=https://cdn.example/a.css>";
    const headers = [["content-security-policy", "style-src 'nonce-n'"]] as const;
    const texts = { "https://cdn.example/a.css": ['@import "https://evil.example/?secret";'] };
    expect(await askedFor(html, texts, { ...CSS, headers })).toEqual([]);
  });

  it("is looked for at the beginning, and in a few chunks", async () => {
    const html = "<link rel=stylesheet href=/a.css>";
    const late = { "/a.css": [" ".repeat(9_000), '@import "b.css";'] };
    expect(await askedFor(html, late, CSS)).toEqual([]);
    const drops = { "/a.css": [...Array.from({ length: 20 }, () => " "), '@import "b.css";'] };
    expect(await askedFor(html, drops, CSS)).toEqual([]);
  });

  it("stops with the document, and at its bounds", async () => {
    const chain = (url: string) => [`@import "${Number(/\d+/.exec(url)?.[0]) + 1}.css";`];
    const rig = load({ ...CSS, texts: chain, request: { pushes: 20 } });
    rig.write("<link rel=stylesheet href=/1.css>");
    await settle(200);
    expect(rig.asked).toHaveLength(20);
    const stopped = load({ ...CSS, texts: chain });
    stopped.write("<link rel=stylesheet href=/1.css>");
    stopped.abort.abort();
    await settle();
    expect(stopped.asked).toHaveLength(1);
  });
});
