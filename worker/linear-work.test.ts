/** Whatever reads an origin's bytes at the edge takes time that is linear in them: twice the input, at most 2.2 times the steps. */
import { expect, it } from "vitest";
import {
  cacheControl,
  clears,
  invalidatedUrls,
  parseHttpDate,
  selectingFields,
  toStored,
} from "../shared/http-cache/cache-rules.ts";
import { growthOf } from "../shared/testing/count-steps.ts";
import { requestHead } from "../shared/testing/http/request-heads.ts";
import { readImageFacts, scansOf } from "../shared/web/image-facts.ts";
import { parsePolicies, parseReferrerPolicy } from "../shared/web/policies.ts";
import { compile, openCompiled } from "./blocking/tracker-blocker.ts";
import { documentOf } from "./delivery/document-stage.ts";
import { markReads } from "./delivery/names/script-reads.ts";
import { importsOfModule, importsOfStyle } from "./push/document-push.ts";
import { DocumentScanner, linksOf, Steps } from "./push/document-scanner.ts";
import { load } from "./push/testing/push-rig.ts";
import { RobotsRules } from "./shared-cache/page-warmer.ts";
import { CookiePartition } from "./upstream/cookie-jar.ts";
import { exposedFields, PreflightCache } from "./upstream/cors.ts";
import { endToEndFields, fittingFields } from "./upstream/fields.ts";
import { fetchLeniently } from "./upstream/lenient-http.ts";
import { responseJudge, typeClass } from "./upstream/opaque.ts";
import { openOverConnection } from "./upstream/origin-socket.ts";
import { locationOf, nextHop, TransportSecurity } from "./upstream/redirects.ts";

type Case = readonly [name: string, size: number, work: (size: number) => unknown];

const list = (size: number, each: (index: number) => string, by = ""): string =>
  Array.from({ length: size }, (_, index) => each(index)).join(by);
const bytes = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
const PHONE = { width: 400, height: 800, density: 2 };
const URL_A = new URL("https://a.example/");
const ASKED = { ...requestHead, cacheMode: "default" } as const;
const now = (): number => 1_700_000_000_000;

/** A document on its way, pushes and all, in pieces of so many characters. */
function show(html: string, piece = 4096, headers: readonly (readonly [string, string])[] = []): void {
  const rig = load({ headers });
  for (let at = 0; at < html.length; at += piece) rig.write(html.slice(at, at + piece));
}

/** The head of an answer that the platform's fetch refused. */
async function readLeniently(lines: string): Promise<void> {
  const readable = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes(`HTTP/1.1 204 No\r\n${lines}\r\n\r\n`));
      controller.close();
    },
  });
  await fetchLeniently(new Request(URL_A), async () => ({ readable, writable: new WritableStream(), close() {} }));
}

/** The head of an answer to a page's socket, of which each byte comes alone. */
async function readHandshake(lines: string): Promise<void> {
  const all = bytes(`HTTP/1.1 403 No\r\n${lines}\r\n\r\n`);
  let at = 0;
  const read = async () => (at < all.length ? all.slice(at, ++at) : null);
  const connection = { read, write: async () => {}, close() {} };
  await openOverConnection({ url: URL_A, headers: new Headers() }, connection, new AbortController().signal);
}

/** What a document names, where steps do not end it. */
function scan(html: string, piece = 4096): void {
  const nothing = (): void => {};
  const handler = { onResource: nothing, onBase: nothing, onReferrerPolicy: nothing };
  const scanner = new DocumentScanner(
    { ...handler, onContentSecurityPolicy: nothing, onStyle: nothing },
    new Steps(Number.POSITIVE_INFINITY),
    PHONE,
  );
  for (let at = 0; at < html.length; at += piece) scanner.write(html.slice(at, at + piece));
}

const PICTURE = (index: number) => `<img src=https://x${index}.example/a>`;

const kindOf = (type: string) => documentOf(200, [["content-type", type]], async () => new Uint8Array(0));

const documents: Case[] = [
  ["types of a document", 500, (n) => kindOf("text/html; a=b,".repeat(n))],
  ["parameters of its type", 1_000, (n) => kindOf(`text/html${"; a=b".repeat(n)}`)],
  ["quotes in its type", 1_000, (n) => kindOf(`text/html; a=${'"\\'.repeat(n)}`)],
  ["elements, and ends of none", 2_000, (n) => show("<div>".repeat(n) + "</p>".repeat(2 * n))],
  ["nested tables and links", 500, (n) => show("<table><tr><td><a href=x>".repeat(n))],
  [
    "sources of a policy beside pictures",
    300,
    (n) =>
      show(
        `<meta http-equiv=content-security-policy content="img-src ${list(10 * n, (at) => `h${at}.example`, " ")}">` +
          list(n, PICTURE),
      ),
  ],
  [
    "sources of one host, paths apart",
    200,
    (n) => {
      const sources = list(n, (at) => `x0.example/${at}/`, " ");
      show(
        list(n, () => PICTURE(0)),
        4096,
        [["content-security-policy", `img-src ${sources}`]],
      );
    },
  ],
  ["pictures, each once", 100, (n) => show(list(n, PICTURE))],
  ["pictures with a long base", 200, (n) => show(`<base href=/${"a/".repeat(5_000)}>${"<img src=kept>".repeat(n)}`)],
  ["a tag that never ends, in pieces", 4_000, (n) => scan(`<img alt="${"x".repeat(n)}`, 8)],
  ["a tag of attributes that end in each piece", 2_000, (n) => scan(`<img ${'a="" '.repeat(n)}`, 5)],
  ["a name that never ends", 4_000, (n) => scan(`<i${"x".repeat(n)}`, 8)],
  ["a declaration that never ends", 4_000, (n) => scan(`<!doctype ${"x".repeat(n)}`, 8)],
  ["comments that never end", 4_000, (n) => scan(`<!--${"--!".repeat(n)}`, 8)],
  ["less-than signs", 4_000, (n) => scan("<".repeat(n), 8)],
  ["scripts in escaped text", 1_000, (n) => scan(`<script>${"<!--<script></script>-->".repeat(n)}`, 8)],
  ["a style in pieces", 4_000, (n) => scan(`<style>${"</styl".repeat(n)}`, 8)],
  ["references", 2_000, (n) => scan(`<img src="${"&amp;&#x".repeat(n)}">`)],
  ["attributes of one name", 2_000, (n) => scan(`<img ${"src=a ".repeat(n)}>`)],
  ["a style attribute without an address", 2_000, (n) => scan(`<p style="${"background:".repeat(n)}">`)],
  ["a style attribute of addresses", 2_000, (n) => scan(`<p style="${"background:url(\\".repeat(n)}">`)],
  ["a style attribute of an address behind", 2_000, (n) => scan(`<p style="${"background:;".repeat(n)}url(a)">`)],
  [
    "candidates of pictures",
    100,
    (n) => scan(`<img srcset="${"a 1w,".repeat(n)}" sizes="${"(x) 1px,".repeat(n / 5)}1px">`),
  ],
  ["spaces behind candidates", 500, (n) => scan(`<img srcset="${"a,".repeat(n)}${" ".repeat(n)}">`)],
  ["a media query of spaces", 70, (n) => scan(`<link rel=stylesheet href=a media="all${" ".repeat(2 * n)}x">`)],
  ["what templates hold", 400, (n) => scan("<template>".repeat(n) + "</template>".repeat(n))],
  ["Link fields", 1_500, (n) => linksOf(`${"<a>; rel=x;".repeat(n / 5)},`)],
  ["a Link that never ends", 3_000, (n) => linksOf("<a>;".repeat(n / 4) + " ".repeat(n))],
  ["imports of a style sheet", 1_000, (n) => importsOfStyle('@import "a" (x) '.repeat(n), PHONE)],
  ["space before imports", 3_000, (n) => importsOfStyle("/* *".repeat(n) + '@charset "'.repeat(n), undefined)],
  ["imports of a module", 1_000, (n) => importsOfModule('import {a} from "./b";'.repeat(n))],
  ["reads of a script", 300, (n) => markReads("location.href;".repeat(n))],
  ["reads of a chain", 300, (n) => markReads(`a?.b${".location".repeat(n)}`)],
  ["a script that is not read", 3_000, (n) => markReads(`${"== top".repeat(n)}${"=(".repeat(n)} `)],
  ["a script that nests", 200, (n) => markReads(`${"(".repeat(n)}location${")".repeat(n)}`)],
  ["patterns in each other", 100, (n) => markReads(`location;${"[".repeat(n)}a${"]=b".repeat(n)}`)],
  ["names in blocks", 100, (n) => markReads(`location;${"{".repeat(n)}${"a;".repeat(n)}${"}".repeat(n)}`)],
  ["ways out of loops", 100, (n) => markReads(`location;a:${"for(;;)".repeat(n)}{${"break a;".repeat(9 * n)}}`)],
  ["labels in each other", 100, (n) => markReads(`location;${list(n, (at) => `a${at}:`)};`)],
  ["a beginning of an import", 3_000, (n) => importsOfModule(`import {${" from ".repeat(n)}`)],
];

const store = { get: async () => undefined, put: async () => {}, delete: async () => {}, list: async () => new Map() };
const secureBy = (field: string) => new TransportSecurity({ store, now }).take("https://a.example", URL_A, field);
const setting = { url: new URL("http://a.example/"), now: now(), http: true, takesSameSite: true };
const setCookies = (lines: readonly string[]) => new CookiePartition(null, "a.example").setAll(lines, setting);
const answer = (name: string, value: string) => ({ status: 200, headers: [[name, value] as const] });

const fields: Case[] = [
  ["HSTS of spaces and quotes", 1_000, (n) => secureBy(`max-age=${" ".repeat(n)}"b"c`)],
  ["HSTS of directives", 1_000, (n) => secureBy(list(n, (at) => `a${at}`, ";"))],
  ["Set-Cookie lines", 1_000, (n) => setCookies(Array.from({ length: n }, (_, at) => `c${at}=1`))],
  ["Set-Cookie attributes", 1_000, (n) => setCookies([`a=1;${"path=/;max-age=1;domain= x".repeat(n)}`])],
  ["a Set-Cookie line of blanks", 1_000, (n) => setCookies([`${" ".repeat(n)}a${"\t".repeat(n)}=1${" ".repeat(n)}x`])],
  ["dates of cookies", 30, (n) => setCookies([`a=1; expires=${"1 jan ".repeat(n)}`])],
  [
    "a preflight's names",
    300,
    (n) => {
      const names = Array.from({ length: n }, (_, at) => `x${at}`);
      const headers = new Headers({
        "access-control-allow-origin": "*",
        "access-control-allow-headers": list(n, (at) => `y${at}`, ",").concat(",", names.join()),
      });
      const request = {
        partition: "p",
        url: URL_A,
        origin: "https://b.example",
        method: "GET",
        withCredentials: false,
      };
      new PreflightCache(now).accept({ ...request, unsafeNames: names }, new Response(null, { headers }));
    },
  ],
  [
    "exposed fields",
    300,
    (n) =>
      exposedFields(
        Array.from({ length: n }, (_, at) => [`x${at}`, ""] as const),
        list(n, (at) => `x${at}`, ","),
        { destination: "", credentials: "omit" },
      ),
  ],
  [
    "fields that Connection names",
    500,
    (n) => endToEndFields(new Headers({ connection: list(n, (at) => `a${at}`, ",") })),
  ],
  ["codings", 1_000, (n) => endToEndFields(new Headers({ "content-encoding": "gzip,".repeat(n) }))],
  ["Vary", 500, (n) => selectingFields(ASKED, [["vary", list(n, (at) => `x${at}`, ",")]])],
  ["Cache-Control", 500, (n) => cacheControl([["cache-control", list(n, (at) => `x${at}="\\"`, ",")]])],
  ["Cache-Control without an end", 2_000, (n) => cacheControl([["cache-control", `a="${'\\"'.repeat(n)}`]])],
  [
    "what may be stored",
    500,
    (n) => toStored(ASKED, answer("cache-control", "max-age=1,".repeat(n)), { requestTime: 0, responseTime: 0 }),
  ],
  [
    "Clear-Site-Data",
    500,
    (n) => clears("cache", { url: URL_A.href, headers: [["clear-site-data", '"x",'.repeat(n)]] }),
  ],
  [
    "a location",
    2_000,
    (n) => invalidatedUrls({ method: "POST", url: URL_A.href }, answer("location", "../".repeat(n))),
  ],
  ["a redirect", 2_000, (n) => nextHop({ url: URL_A, method: "GET" }, 302, "/\xc3\xa4".repeat(n), 0)],
  ["Location lines", 1_000, (n) => locationOf(new Headers({ location: list(n, () => "/a", ", ") }))],
  ["dates", 2_000, (n) => parseHttpDate(`Sun, ${" ".repeat(n)}06 Nov 1994 08:49:37 GMT`)],
  ["types", 1_000, (n) => typeClass("application/vnd.ces-quick-;,".repeat(n))],
  ["a long type", 2_000, (n) => typeClass(`application/vnd.openxmlformats-${"-".repeat(n)} `)],
  ["Referrer-Policy", 1_000, (n) => parseReferrerPolicy("origin, x,".repeat(n))],
  ["policies", 500, (n) => parsePolicies("img-src a b;,".repeat(n))],
];

const jpeg = (segments: string) => readImageFacts(bytes(`\xff\xd8${segments}`));
const sniff = (text: string) =>
  responseJudge({ status: 200, headers: new Headers({ "content-type": "text/plain" }) })(bytes(text), true);

const bodies: Case[] = [
  ["a JPEG of short segments", 1_000, (n) => jpeg("\xff\xe0\x00\x02".repeat(n))],
  ["a JPEG of filling", 2_000, (n) => jpeg("\xff".repeat(n))],
  ["a JPEG of EXIF", 300, (n) => jpeg(`\xff\xe1\x00\x20Exif\0\0MM\0*\0\0\0\x08\0\x01${"\0".repeat(14)}`.repeat(n))],
  ["a JPEG of profiles", 300, (n) => jpeg(`\xff\xe2\x00\x10ICC_PROFILE\0\0\0`.repeat(n))],
  ["scans", 2_000, (n) => scansOf(bytes("\xff".repeat(n)))],
  [
    "a PNG of short chunks",
    1_000,
    (n) =>
      readImageFacts(bytes(`\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR${"\0".repeat(17)}${"\0\0\0\0iCCP\0\0\0\0".repeat(n)}`)),
  ],
  ["an answer to a handshake", 900, (n) => readHandshake(`X: ${"a".repeat(n)}`)],
  ["an answer of folded lines", 500, (n) => readLeniently(`X: a\r\n${" \t b\r\n".repeat(n)}`)],
  ["an answer of lines that are none", 500, (n) => readLeniently(`${"a b\r\n".repeat(n)}${": \r\n".repeat(n)}`)],
  ["an answer of blanks", 900, (n) => readLeniently(`X${" ".repeat(4 * n)}:${" ".repeat(4 * n)}`)],
  ["an answer of lengths", 500, (n) => readLeniently(`Content-Length: ${"1,".repeat(n)}1\r\n`)],
  [
    "fields that are too many for the link",
    500,
    (n) => fittingFields(Array.from({ length: n }, (_, at) => [`x-${at}`, "y".repeat(at % 900)])),
  ],
  ["text to sniff", 200, (n) => sniff(`${"<!-- -->".repeat(n / 4)}<!--`)],
  ["text that may be JSON", 400, (n) => sniff(`{"${"\\".repeat(n)}`)],
  ["robots.txt of rules", 900, (n) => new RobotsRules(`User-agent: *\n${"Allow: /*a*b$\n".repeat(n)}`, ["*"])],
  [
    "robots.txt of agents with rules",
    900,
    (n) => new RobotsRules("User-agent: *\n".repeat(n) + "Allow: /\n".repeat(n), ["*"]),
  ],
  [
    "robots.txt of other agents with rules",
    900,
    (n) => new RobotsRules(list(n, (at) => `User-agent: a${"b".repeat(at % 7)}\n`) + "Allow: /\n".repeat(n), ["*"]),
  ],
  [
    "what robots.txt allows",
    400,
    (n) => new RobotsRules(`User-agent: *\n${"Allow: /*a*a*b$\n".repeat(n)}`, ["*"]).allows("*", URL_A),
  ],
  ["robots.txt in one line", 3_000, (n) => new RobotsRules(`User-agent: *\nAllow: ${"%e4*".repeat(n)}`, ["*"])],
];

it.each([...documents, ...fields, ...bodies])(
  "%s: no more than twice the steps for twice as much",
  async (_, size, work) => {
    expect(await growthOf(work, size)).toBeLessThanOrEqual(2.2);
  },
);

it("block lists: no more than twice the steps for twice the rules, or an address twice as long", async () => {
  expect(await growthOf((n) => compile(list(n, (at) => `||t${at}.example^\n`)), 300)).toBeLessThanOrEqual(2.2);
  const tracked = await openCompiled(await compile("||t.example/a*b*c^\n/track*.gif\nads.js\n"));
  const ask = (n: number) => tracked.names(requestHead, new URL(`https://t.example/${"a/b?track-".repeat(n)}`));
  expect(await growthOf(ask, 200)).toBeLessThanOrEqual(2.2);
});
