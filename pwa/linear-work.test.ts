/** Whatever reads an origin's bytes on the phone takes time that is linear in them: twice the input, at most 2.2 times the steps. */
import { afterAll, expect, it, vi } from "vitest";
import { growthOf } from "../shared/testing/count-steps.ts";
import { requestHead } from "../shared/testing/http/request-heads.ts";
import { ScriptCookies } from "../shared/web/cookie.ts";
import { DocumentBytes, shownDocument } from "../shared/web/documents.ts";
import { isOff } from "./slot/page/permissions.ts";
import { plain } from "./slot/page/reader.ts";
import { dataScript } from "./slot/page-workers.ts";
import { transformPolicies } from "./slot/policy.ts";
import {
  escapeHtml,
  HtmlRewriter,
  type MarkupRules,
  ownTexts,
  pageRewriter,
  parseRefresh,
  rewriteMarkup,
} from "./slot/rewrite/html-rewriter.ts";
import { framingAllowed, pageHeaders } from "./slot/rewrite/response-headers.ts";
import { FakeElement, FakeNode, fakeDocument } from "./slot/testing/fake-elements.ts";
import { jsonFeed, xmlFeed } from "./slot/view/feed.ts";
import { isJsonText } from "./slot/view/json-tree.ts";
import type { Rows } from "./slot/view/tree.ts";
import { xmlRows } from "./slot/view/xml-tree.ts";
import { asAttachment } from "./sw/answer/navigation.ts";
import { LITE_RULES, StylePlaces, withoutDeclarations } from "./sw/lite/lite-document.ts";
import { fileName } from "./tunnel/requests/downloads.ts";
import { parseChallenges } from "./tunnel/requests/sign-ins.ts";
import { patternOf, toTemplate } from "./tunnel/store/ahead/page-visits.ts";
import { PartitionIndex } from "./tunnel/store/database/response-store.ts";
import { alikeOf } from "./tunnel/store/exchanges/named-bodies.ts";
import type { ExchangeEntry } from "./tunnel/store/exchanges/stored-exchange.ts";

// The search reads the platform's own accessors, which Node has not.
for (const name of ["CharacterData", "Element", "Document", "ShadowRoot"]) vi.stubGlobal(name, class {});
vi.stubGlobal("Node", FakeNode);
vi.stubGlobal("document", fakeDocument);
const { Matcher } = await import("./slot/page/find-text.ts");
afterAll(() => void vi.unstubAllGlobals());

type Case = readonly [name: string, size: number, work: (size: number) => unknown];

const CONTEXT = {
  slotOrigin: "http://s1.localhost:8787",
  slotSources: "http://*.localhost:8787",
  realOrigin: "https://a.example",
  documentUrl: "https://a.example/dir/page",
  nonce: "n",
  transformPolicy: (content: string) => content,
};

/** In pieces of so many characters. */
function rewrite(html: string, piece = 4096, rules?: MarkupRules): void {
  const snippet = "<script></script>";
  const rewriter = rules === undefined ? pageRewriter(CONTEXT, snippet) : new HtmlRewriter(CONTEXT, snippet, rules);
  for (let at = 0; at < html.length; at += piece) rewriter.write(html.slice(at, at + piece));
  rewriter.end();
}

function rewriteXml(xml: string): void {
  const rewriter = pageRewriter(CONTEXT, "<script></script>", "xml");
  for (let at = 0; at < xml.length; at += 8) rewriter.write(xml.slice(at, at + 8));
  rewriter.end();
}

/** With own addresses in its styles and maps of imports. */
function rewriteTexts(html: string): void {
  const rewriter = pageRewriter({ ...CONTEXT, texts: ownTexts(() => true) }, "<script></script>");
  rewriter.write(html);
  rewriter.end();
}

const importMap = (map: string) => rewriteTexts(`<script type=importmap>${map}</script>`);

/** Objects in objects, each below an address of the page's own. */
const nestedMap = (depth: number): string =>
  Array.from({ length: depth }).reduce<string>((map, _, at) => `{"https://a.example/${at}":${map}}`, '"/x"');

/** What is stored of the page's own origin that a script may be like. */
function alike(stored: string, field: string, asked: string): void {
  const head = {
    ...requestHead,
    method: "GET",
    mode: "cors",
    destination: "script",
    origin: "https://a.example",
  } as const;
  const headers = [
    ["content-type", "text/javascript"],
    ["use-as-dictionary", field],
  ];
  const meta = { status: 200, headers, responseTime: 0, context: "" };
  const entry = { id: 0, url: `https://a.example/${stored}`, meta, body: { hash: "00", size: 5_000 } };
  alikeOf(new PartitionIndex([entry as unknown as ExchangeEntry]), { ...head, url: `https://a.example/${asked}` }, "");
}

function search(needle: string, text: string): void {
  const matcher = new Matcher(needle);
  for (let at = 0; at < text.length; at++) matcher.add(text[at] ?? "", text as unknown as Text, at);
}

const isJson = (text: string) => Array.from(isJsonText(text));

const made = (name: string, children: readonly (FakeNode | string)[] = [], attributes = {}) =>
  new FakeElement(name, attributes, children);
const many = <Made>(size: number, each: (index: number) => Made): Made[] =>
  Array.from({ length: size }, (_, index) => each(index));

/** All entries of a feed below a base. */
function feed(items: readonly FakeElement[], base = "/"): void {
  const root = made("rss", [made("channel", items, { "xml:base": base })]);
  for (const read of xmlFeed(root as unknown as Element, CONTEXT.documentUrl)?.entries ?? []) read();
}

const item = (children: readonly FakeElement[] = [made("title", ["a"]), made("link", ["a"])]) =>
  made("item", children, { "xml:base": "b/" });

/** All rows of a tree. */
function open(rows: Rows): void {
  for (const row of rows()) if (row !== undefined && "children" in row) open(row.children);
}

const tree = (...nodes: readonly FakeNode[]) => open(xmlRows(nodes as unknown as Node[]));

/** Elements in each other. */
const within = (name: string, depth: number): FakeElement =>
  many(depth, () => name).reduce<FakeElement>((inner) => made(name, [inner]), made(name));

/** The article that was found, without all that may act. */
const article = (...found: readonly FakeElement[]) =>
  plain(made("div", found) as unknown as Node, made("article") as unknown as Node, fakeDocument as unknown as Document);

/** A document in an attribute of a document, and so on. */
function nested(text: string): string {
  let markup = text;
  for (let level = 0; level < 20; level++) markup = `<iframe srcdoc="${escapeHtml(markup)}">`;
  return markup;
}

const shown = (type: string) => shownDocument(200, [["content-type", type]]);
const policies = (value: string) => transformPolicies([value], CONTEXT);
const fields = (name: string, value: string) =>
  pageHeaders([[name, value]], { ...CONTEXT, kind: "document", url: CONTEXT.documentUrl });
const placed = (css: string, piece = 4096): void => {
  const places = new StylePlaces((written) => `/~${written}`);
  for (let at = 0; at < css.length; at += piece) places.write(css.slice(at, at + piece));
  places.end();
};
const declared = (xml: string): void => {
  const editor = withoutDeclarations({ write: (text) => text, end: () => "" });
  for (let at = 0; at < xml.length; at += 8) editor.write(xml.slice(at, at + 8));
  editor.end();
};
const list = (size: number, each: (index: number) => string, by: string): string =>
  Array.from({ length: size }, (_, index) => each(index)).join(by);

const cases: Case[] = [
  ["elements that are not changed", 2_000, (n) => rewrite("<div></p>".repeat(n))],
  ["elements that are", 300, (n) => rewrite("<iframe src=//b.example/><link rel=preconnect>".repeat(n))],
  ["a tag that never ends, in pieces", 8_000, (n) => rewrite(`<iframe src="${"x".repeat(n)}`, 8)],
  ["a tag of attributes that end in each piece", 4_000, (n) => rewrite(`<iframe ${'a="" '.repeat(n)}`, 5)],
  ["a tag of attributes of one name", 1_000, (n) => rewrite(`<iframe ${"src=a ".repeat(n)}>`)],
  ["a name that never ends", 8_000, (n) => rewrite(`<i${"x".repeat(n)}`, 8)],
  ["a declaration that never ends", 8_000, (n) => rewrite(`<?${"x".repeat(n)}`, 8)],
  ["declarations of a document's type", 4_000, (n) => declared("<!ENTITY".repeat(n))],
  ["comments that never end", 4_000, (n) => rewrite(`<!--${"--!".repeat(n)}`, 8)],
  ["instructions of XML", 4_000, (n) => rewriteXml(`<?${"?".repeat(n)}`)],
  ["transforms of XML", 300, (n) => rewriteXml(`<!--${"<?xml-stylesheet ".repeat(n)}--><a>`)],
  ["sections of XML", 4_000, (n) => rewriteXml(`<a>${"<![CDATA[]]".repeat(n)}`)],
  ["sections of foreign content", 4_000, (n) => rewrite(`<svg><![CDATA[${"]]".repeat(n)}`, 8)],
  ["less-than signs", 4_000, (n) => rewrite("<".repeat(n), 8)],
  ["space before the document", 4_000, (n) => rewrite(" <!---->".repeat(n), 8)],
  ["scripts in escaped text", 1_000, (n) => rewrite(`<script>${"<!--<script></script>-->".repeat(n)}`, 8)],
  ["references", 1_000, (n) => rewrite(`<iframe src="${"&amp;&#x&#55".repeat(n)}">`)],
  ["documents in attributes", 30, (n) => rewrite(nested("<iframe src=//b.example>".repeat(n)))],
  ["relations", 1_000, (n) => rewrite(`<link rel="${"icon preconnect ".repeat(n)}">`)],
  ["bases", 500, (n) => rewrite("<base href=a/><iframe src=b>".repeat(n))],
  [
    "links below a long base",
    100,
    (n) => rewrite(`<base href="/${"a/".repeat(20 * n)}">${"<iframe src=b></iframe>".repeat(n)}`),
  ],
  [
    "links below a long base there",
    100,
    (n) => rewrite(`<base href="/${"a/".repeat(20 * n)}">${"<a href=b>".repeat(n)}`, 4096, LITE_RULES),
  ],
  ["own addresses in styles", 500, (n) => rewriteTexts(`<style>${"https://a.example/".repeat(n)}</style>`)],
  ["own addresses with parts", 500, (n) => rewriteTexts(`<style>${"url(https://a.example/#a)".repeat(n)}</style>`)],
  ["own addresses in shapes", 500, (n) => rewrite(`<rect fill="url(${"https://a.example/".repeat(n)}">`)],
  [
    "maps of imports",
    300,
    (n) => importMap(`{"imports":{${list(n, (at) => `"https://a.example/${at}":"./${at}"`, ",")}}}`),
  ],
  ["maps of imports in each other", 8, (n) => importMap(nestedMap(n))],
  ["markup of a script", 2_000, (n) => rewriteMarkup(`${"<a b".repeat(n)}<link rel=preconnect>`, CONTEXT)],
  ["pages without scripts", 300, (n) => rewrite('<a href=b><img srcset="a 1x, b 2x">'.repeat(n), 4096, LITE_RULES)],
  ["lists of pictures there", 1_000, (n) => rewrite(`<img srcset="${"a ,".repeat(n)}">`, 4096, LITE_RULES)],
  ["styles there", 500, (n) => rewrite(`<style>${"p{background:url(a)}".repeat(n)}`, 64, LITE_RULES)],
  ["style attributes there", 500, (n) => rewrite(`<p style="${"background:url(a);".repeat(n)}">`, 4096, LITE_RULES)],
  ["style sheets' addresses", 1_000, (n) => placed('url("a)'.repeat(n))],
  ["strings of style sheets", 1_000, (n) => placed("'a\"b\\".repeat(n))],
  ["strings without an end, in one piece", 2_000, (n) => placed("'a\"b\\".repeat(n), 1e6)],
  ["style sheets' addresses without an end", 1_000, (n) => placed("url(\\)".repeat(n), 1e6)],
  ["a style sheet's comment", 4_000, (n) => placed(`/*${"*".repeat(n)}`, 8)],
  [
    "a refresh of spaces",
    4_000,
    (n) => parseRefresh(`${" ".repeat(n)}1${" ".repeat(n)};${" ".repeat(n)}url${" ".repeat(n)}x`),
  ],
  ["a refresh of digits", 4_000, (n) => parseRefresh(`1.${"1.".repeat(n)}x`)],
  ["Link of less-than signs", 4_000, (n) => fields("link", "<".repeat(n))],
  ["Link of quotes", 4_000, (n) => fields("link", `"${'\\"'.repeat(n)}`)],
  ["Link of links", 500, (n) => fields("link", "<a>; rel=preload, ".repeat(n))],
  ["Link of parameters", 1_000, (n) => fields("link", `<a>${";  rel".repeat(n)}`)],
  ["Refresh", 2_000, (n) => fields("refresh", `1;url=${"../".repeat(n)}`)],
  ["Location", 2_000, (n) => fields("location", "../".repeat(n))],
  ["policies", 300, (n) => policies("img-src 'self' a.example;,".repeat(n))],
  ["sources of a policy", 500, (n) => policies(`default-src ${list(n, (at) => `h${at}.example`, " ")}`)],
  ["directives of a policy", 500, (n) => policies(list(n, (at) => `x${at}-src *`, ";"))],
  ["labels of a source", 2_000, (n) => policies(`img-src ${"a.".repeat(n)}`)],
  [
    "who may frame",
    500,
    (n) =>
      framingAllowed(
        [["content-security-policy", `frame-ancestors ${list(n, (at) => `h${at}.example`, " ")}`]],
        ["https://b.example", "https://c.example"],
        CONTEXT.realOrigin,
      ),
  ],
  ["X-Frame-Options", 1_000, (n) => framingAllowed([["x-frame-options", "deny,".repeat(n)]], [], CONTEXT.realOrigin)],
  ["Permissions-Policy without an end", 500, (n) => isOff("camera=(,".repeat(n), "camera", CONTEXT.realOrigin)],
  ["Permissions-Policy of blanks", 2_000, (n) => isOff(`,${" ".repeat(n)}camera${" ".repeat(n)}(`, "camera", "")],
  ["WWW-Authenticate", 100, (n) => parseChallenges('Digest realm="a", nonce=b, '.repeat(n))],
  ["WWW-Authenticate without an end", 1_000, (n) => parseChallenges(`Basic realm="${'\\"'.repeat(n)}`)],
  ["WWW-Authenticate of commas", 1_000, (n) => parseChallenges(`Basic a=b${" ,".repeat(n)}"`)],
  ["Use-As-Dictionary", 150, (n) => alike("old.js", `match="/${"*a".repeat(n)}"`, "a".repeat(3 * n))],
  ["Use-As-Dictionary without an end", 150, (n) => alike("old.js", `match="${"\\\\ ,".repeat(n)}`, "a")],
  ["an address of versions", 1_000, (n) => alike(`a-1.${"b_2.".repeat(n)}js`, "", `${"a-1.".repeat(n)}js`)],
  ["JSON", 500, (n) => isJson(`[${'{"a":[1,true,"b\\n"]},'.repeat(n)}0]`)],
  ["JSON without an end", 2_000, (n) => isJson(`"${"\\u".repeat(n)}`)],
  ["JSON in JSON", 400, (n) => isJson(`${"[".repeat(n)}${"]".repeat(n)}`)],
  ["entries of a feed", 100, (n) => feed(many(n, () => item()))],
  [
    "entries of a feed with a long base",
    100,
    (n) =>
      feed(
        many(n, () => item()),
        `/${"a/".repeat(200 * n)}`,
      ),
  ],
  ["links of an entry", 300, (n) => feed([item(many(n, (at) => made("link", [], { href: `a${at}`, rel: "x" })))])],
  ["spaces of an entry", 2_000, (n) => feed([item([made("title", [`a${" ".repeat(n)}b`])])])],
  [
    "entries of a JSON Feed",
    100,
    (n) => {
      const items = many(n, (at) => ({ url: `a${at}`, content_text: "a b", authors: [{ name: "c" }] }));
      const text = JSON.stringify({ version: "https://jsonfeed.org/version/1.1", items });
      for (const read of jsonFeed(text, CONTEXT.documentUrl)?.entries ?? []) read();
    },
  ],
  [
    "elements of XML",
    300,
    (n) =>
      tree(
        made(
          "a",
          many(n, () => made("b", ["c"], { d: "e" })),
        ),
      ),
  ],
  ["elements in elements of XML", 300, (n) => tree(within("a", n))],
  ["attributes of XML", 300, (n) => tree(made("a", [], Object.fromEntries(many(n, (at) => [`b${at}`, "c"]))))],
  ["texts of XML", 300, (n) => tree(made("a", [" ".repeat(n), ...many(n, () => " a ")]))],
  [
    "an article",
    200,
    (n) => article(...many(n, () => made("p", ["a", made("a", ["b"], { href: "c" }), made("font")]))),
  ],
  ["pictures of an article", 200, (n) => article(...many(n, () => made("img", [], { srcset: "a 1x, b 2x" })))],
  ["candidates of an article's picture", 500, (n) => article(made("img", [], { srcset: "a 1x,".repeat(n) }))],
  ["nested elements of an article", 200, (n) => article(within("div", n))],
  ["a text that is found nearly", 500, (n) => search(`${"a".repeat(n)}b`, "a".repeat(4 * n))],
  ["a text that is found often", 500, (n) => search("ab", "ab".repeat(n))],
  ["a label of spaces", 4_000, (n) => shown(`text/html; charset=${" ".repeat(n)}(`)],
  ["labels", 1_000, (n) => shown("charset = '".repeat(n))],
  ["parameters of a type", 1_000, (n) => shown(`text/html${"; a=b".repeat(n)}`)],
  [
    "a document's first bytes, one by one",
    500,
    (n) => {
      const document = new DocumentBytes("gbk", false);
      for (let at = 0; at < n; at++) document.write(document.read(Uint8Array.of(at % 2 === 0 ? 0x81 : 0x61)));
    },
  ],
  ["Content-Disposition", 2_000, (n) => asAttachment(`inline${";  filename".repeat(n)}`)],
  [
    "a file's name",
    2_000,
    (n) => fileName([["content-disposition", `inline${";  filename".repeat(n)}`]], "", CONTEXT.documentUrl),
  ],
  ["a file's name of dots", 2_000, (n) => fileName([], `${" . ".repeat(n)}x`, CONTEXT.documentUrl)],
  ["a script in an address", 2_000, (n) => dataScript(`data:${";  base64".repeat(n)},${"%61".repeat(n)}`)],
  ["the looks of an address", 1_000, (n) => toTemplate(`https://a.example/${"7/.a".repeat(n)}`, ["7", "a"])],
  ["the kind of a page", 1_000, (n) => patternOf(`https://a.example/${"a-7.b/".repeat(n)}?${"a=b&".repeat(n)}`)],
  [
    "cookies of scripts",
    200,
    (n) => {
      const cookies = new ScriptCookies(() => 0);
      const cookie = { domain: "a.example", hostOnly: true, path: "/", secure: false, expires: null };
      cookies.apply(Array.from({ length: n }, (_, at) => ({ ...cookie, name: `c${at}`, value: "" })));
      return cookies.read(CONTEXT.documentUrl);
    },
  ],
];

it.each(cases)("%s: no more than twice the steps for twice as much", async (_, size, work) => {
  expect(await growthOf(work, size)).toBeLessThanOrEqual(2.2);
});
