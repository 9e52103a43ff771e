import { describe, expect, it } from "vitest";
import { settle } from "../../shared/testing/turns.ts";
import { importsOfModule, importsOfStyle } from "./document-push.ts";
import { type Circumstances, load } from "./testing/push-rig.ts";

const VIEWPORT = { width: 412, height: 915, density: 2 };
const SITE = "https://site.example";
const CSS = { type: "text/css; charset=utf-8" };
const JS = { type: "text/javascript" };
const LINK = "<link rel=stylesheet href=/css/a.css>";

it.each<[string, string[], boolean]>([
  ["", [], false],
  ['@import "a.css";', ["a.css"], false],
  ["@import 'a.css'; @import url(b.css); @import url( \"c.css\" );", ["a.css", "b.css", "c.css"], false],
  ['@charset "utf-8"; /* @import "no"; */ @layer x, y;\n@IMPORT "a.css" layer(x);p{}', ["a.css"], true],
  ['@import "a.css" print; @import "b.css" (min-width: 500px); @import "c.css" screen;', ["c.css"], false],
  ['@import url("a.css") (min-width: 400px);', ["a.css"], false],
  ['@import "a.css" supports(display: grid);', [], false],
  ['p { } @import "a.css";', [], true],
  ['@media screen { } @import "a.css";', [], true],
  ["@font-face { src: url(a.woff) }", [], true],
  ['@import "a.css";\n@impor', ["a.css"], false],
  ['@import "a', [], false],
  ["/* a long comment", [], false],
  ["@import url(data:text/css,p%7B%7D);", ["data:text/css,p%7B%7D"], false],
])("the style sheet %j imports %j", (text, urls, isOver) => {
  expect(importsOfStyle(text, VIEWPORT)).toMatchObject({ urls, isOver });
});

it.each<[string, string[], boolean]>([
  ["", [], false],
  ['import "./a.js";', ["./a.js"], false],
  [
    'import{a as b}from"./a.js";import c,{d}from\'../b.js\'\nimport * as e from "/c.js";let x',
    ["./a.js", "../b.js", "/c.js"],
    true,
  ],
  [
    '// import "./no.js"\n/* import "./no.js" */ "use strict";\nexport * from "./a.js";\nexport { b } from "./b.js"',
    ["./a.js", "./b.js"],
    false,
  ],
  ['import a from "bare"; import b from "https://cdn.example/b.js";', ["https://cdn.example/b.js"], false],
  ['import a from "./a.json" with { type: "json" };', [], true],
  ['import("./a.js")', [], true],
  ['const a = 1; import "./a.js";', [], true],
  ['import.meta.url; "./a.js"', [], true],
  ['importance = "./a.js"', [], true],
  ['export { a }; const b = "./b.js"', [], true],
  ["import { a,\n b } fr", [], false],
])("the module %j imports %j", (text, urls, isOver) => {
  expect(importsOfModule(text)).toMatchObject({ urls, isOver });
});

/** What is asked for when all that a document leads to has come, but what its markup names. */
async function askedFor(html: string, texts: Record<string, readonly string[]>, more: Circumstances) {
  const rig = load({ texts: (url) => texts[url.replace(SITE, "")] ?? [], ...more });
  rig.write(html);
  const named = html.includes("<style") ? 0 : rig.asked.length;
  rig.end();
  await settle();
  return rig.asked.slice(named).map(({ head }) => head);
}

describe("what is pushed since a style sheet imports it", () => {
  it("is asked for as the style sheet would, as soon as it stands there", async () => {
    const texts = {
      "/css/a.css": ['@import "b.cs', 's";@import "c.css";p{}@import "d.css";'],
      "/css/c.css": ["@import url(/e.css);"],
    };
    expect(await askedFor(LINK, texts, CSS)).toMatchObject([
      { url: `${SITE}/css/b.css`, destination: "style", mode: "no-cors", referrer: `${SITE}/css/a.css` },
      { url: `${SITE}/css/c.css`, credentials: "include", origin: SITE },
      { url: `${SITE}/e.css`, referrer: `${SITE}/css/c.css` },
    ]);
  });

  it("is that of the document's own styles, too, from its base and within its policies", async () => {
    const html = `<base href=/base/><style>@import "i.css";</style><style media=print>@import "no.css";</style>`;
    const own = [{ url: `${SITE}/base/i.css`, referrer: `${SITE}/dir/page?q`, destination: "style" }];
    const heads = await askedFor(html, {}, CSS);
    expect(heads).toMatchObject(own);
    expect(heads).toHaveLength(1);
    const headers = [["content-security-policy", "style-src 'self'"]] as const;
    expect(await askedFor(html, {}, { ...CSS, headers })).toEqual([]);
    const nonce = [["content-security-policy", "style-src-elem 'nonce-n' 'self'"]] as const;
    expect(await askedFor(html.replace("<style", "<style nonce=n"), {}, { ...CSS, headers: nonce })).toMatchObject(own);
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
});

describe("what is pushed since a module imports it", () => {
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

  it.each([
    ["a script that is no module", "<script src=/a.js></script>", JS],
    ["a module of another type", "<script type=module src=/a.js></script>", CSS],
  ])("is nothing of %s", async (_, html, circumstances) => {
    expect(await askedFor(html, { "/a.js": ['import "./b.js";'] }, circumstances)).toEqual([]);
  });

  it("is looked for at the beginning, and in a few chunks", async () => {
    const html = "<script type=module src=/a.js></script>";
    const late = { "/a.js": [" ".repeat(9_000), 'import "./b.js";'] };
    expect(await askedFor(html, late, JS)).toEqual([]);
    const drops = { "/a.js": [...Array.from({ length: 20 }, () => " "), 'import "./b.js";'] };
    expect(await askedFor(html, drops, JS)).toEqual([]);
  });
});

it.each([
  ["modules", "<script type=module src=/1.js></script>", JS, (next: number) => `import "./${next}.js";`],
  ["style sheets", "<link rel=stylesheet href=/1.css>", CSS, (next: number) => `@import "${next}.css";`],
])("what %s import stops with the document, and at its bounds", async (_, html, type, statement) => {
  const texts = (url: string) => [statement(Number(/\d+/.exec(url)?.[0]) + 1)];
  const rig = load({ ...type, texts, request: { pushes: 20 } });
  rig.write(html);
  await settle(200);
  expect(rig.asked).toHaveLength(20);
  const stopped = load({ ...type, texts });
  stopped.write(html);
  stopped.abort.abort();
  await settle();
  expect(stopped.asked).toHaveLength(1);
});
