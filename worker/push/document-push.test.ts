import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import { fieldsToPush } from "../../shared/http/exchange.ts";
import type { RequestHead } from "../../shared/http/heads.ts";
import { knownUrls, withDefaultAccept } from "../../shared/http/phone-fields.ts";
import * as limits from "../../shared/limits.ts";
import { responseHead } from "../../shared/testing/http/exchange-rig.ts";
import { linkSessions } from "../../shared/testing/mux/linked-sessions.ts";
import { settle } from "../../shared/testing/turns.ts";
import { pushObserver, SCANNED_DOCUMENT_BYTES } from "./document-push.ts";
import { STEPS } from "./document-scanner.ts";
import { UnsentResponse } from "./push-order.ts";
import {
  type Circumstances,
  DOCUMENT_STREAM,
  load,
  NAVIGATION,
  openOrder,
  requestsFor,
  urlsFor,
} from "./testing/push-rig.ts";

describe("a pushed request", () => {
  it("is what the tunnel would send for the page, and is announced in those words", async () => {
    const rig = load();
    rig.write("<img src='../a.png?x#y'>");
    const expected: RequestHead = {
      method: "GET",
      url: "https://site.example/a.png?x",
      headers: withDefaultAccept([], "image"),
      destination: "image",
      mode: "no-cors",
      credentials: "include",
      redirect: "follow",
      referrer: "https://site.example/dir/page?q",
      origin: "https://site.example",
      topLevelOrigin: "https://site.example",
    };
    expect(rig.asked).toMatchObject([{ head: expected, body: null }]);
    await settle();
    const [push] = rig.pushes;
    expect(push?.events).toEqual(["head", "head", "data 4", "end"]);
  });

  it("says what the phone's browser would", () => {
    const accept = { image: "image/webp,*/*;q=0.5" };
    expect(requestsFor("<img src=a><script src=b></script>", { accept }).map(({ headers }) => headers)).toEqual([
      [["accept", "image/webp,*/*;q=0.5"]],
      [["accept", "*/*"]],
    ]);
  });

  it("is announced before anything else can be sent", () => {
    const announced: string[] = [];
    const linked = linkSessions({
      phone: {
        onPush(stream) {
          stream.handler = {
            onHead: (fields) => announced.push(fieldsToPush(fields).head.url),
            onData() {},
            onEnd() {},
            onReset() {},
          };
        },
      },
      defer: (task) => task(),
    });
    const observeBody = pushObserver(
      { head: NAVIGATION, body: null, signal: new AbortController().signal },
      DOCUMENT_STREAM,
      {
        openPush: (priority) => linked.edge.streams.openPush(priority),
        isUnwanted: () => false,
        offer: (pushed) =>
          new UnsentResponse(
            pushed,
            () => new Promise(() => {}),
            () => {},
          ),
        most: 256,
        slotScheme: "https",
        accept: {},
        openOrder,
      },
    );
    const observe = observeBody?.({ ...responseHead, headers: [["content-type", "text/html"]] });
    observe?.(new TextEncoder().encode("<img src=/a><img src=/b>"));
    while (linked.link.deliver("up") || linked.link.deliver("down"));
    expect(announced).toEqual(["https://a.example/a", "https://a.example/b"]);
  });

  it("is without credentials where an isolated document embeds what is of another origin", () => {
    const headers = [["document-isolation-policy", "isolate-and-credentialless"]] as const;
    const markup =
      "<img src=a><img src=https://cdn.site.example/b><link rel=preload as=font href=//x.example/c crossorigin>";
    expect(requestsFor(markup, { headers }).map(({ credentials }) => credentials)).toEqual([
      "include",
      "omit",
      "same-origin",
    ]);
    expect(requestsFor(markup).map(({ credentials }) => credentials)).toEqual(["include", "include", "same-origin"]);
  });

  it("has the top-level origin of the page that a frame is in", () => {
    const frame = {
      destination: "iframe",
      origin: "https://top.example",
      topLevelOrigin: "https://top.example",
    } as const;
    expect(requestsFor("<img src=a>", { request: frame })).toMatchObject([
      { origin: "https://site.example", topLevelOrigin: "https://top.example" },
    ]);
  });

  it.each<[string, string, Circumstances, string]>([
    ["by default", "", {}, "https://site.example/"],
    [
      "by a field",
      "",
      { headers: [["referrer-policy", "no-referrer, unsafe-url"]] },
      "https://site.example/dir/page?q",
    ],
    ["by markup", "<meta name=referrer content=no-referrer>", {}, ""],
    ["by its element", "", { headers: [["referrer-policy", "no-referrer"]] }, ""],
  ])("has the referrer that the page decides on %s", (_, html, circumstances, expected) => {
    expect(requestsFor(`${html}<img src=https://other.example/a>`, circumstances)).toMatchObject([
      { referrer: expected },
    ]);
  });

  it("resolves against the first base that the policy allows", () => {
    expect(urlsFor("<base href=/b/c><base href=/no/><img src=a>")).toEqual(["https://site.example/b/a"]);
    const policy: Circumstances = { headers: [["content-security-policy", "base-uri 'none'"]] };
    expect(urlsFor("<base href=https://evil.example><img src=a>", policy)).toEqual(["https://site.example/dir/a"]);
  });

  it("is upgraded as browser and service worker do", () => {
    const html = "<img src=http://other.example/a><img src=http://site.example/b><img src=http://localhost/c>";
    const secure = ["https://other.example/a", "https://site.example/b", "http://localhost/c"];
    expect(urlsFor(html)).toEqual(secure);
    expect(urlsFor(html, { slotScheme: "http" })).toEqual(secure);
    const plain = { url: "http://site.example/" };
    expect(urlsFor(html, { response: plain })).toEqual([
      "https://other.example/a",
      "http://site.example/b",
      "http://localhost/c",
    ]);
    expect(urlsFor(html, { response: plain, slotScheme: "http" })).toEqual([
      "http://other.example/a",
      "http://site.example/b",
      "http://localhost/c",
    ]);
  });
});

it("is made of links in the response's fields, whatever base the markup sets, within its policies", () => {
  const link =
    "</a.css>; rel=preload; as=style, <b.js>; rel=modulepreload, <https://evil.example/>; rel=preload; as=image";
  const policy = ["content-security-policy", "img-src 'self'"] as const;
  const headers = [["link", link], policy] as const;
  expect(requestsFor("<base href=/no/>", { headers }).map(({ url, mode }) => `${mode} ${url}`)).toEqual([
    "no-cors https://site.example/a.css",
    "cors https://site.example/dir/b.js",
  ]);
  expect(
    urlsFor("<p>", {
      headers: [
        ["link", link],
        ["content-security-policy", "sandbox"],
      ],
    }),
  ).toEqual([]);
});

it("is not made for scripts of a page that runs none, nor what they would ask for", () => {
  const html =
    "<script src=a.js></script><script type=module src=b.js></script><link rel=modulepreload href=c.js>" +
    "<link rel=preload as=script href=d.js><noscript><img src=e.png></noscript><link rel=stylesheet href=f.css>";
  const learned = JSON.stringify([
    ["", "cors", "same-origin", "", "/api"],
    ["script", "no-cors", "include", "", "/later.js"],
    ["font", "cors", "same-origin", "", "/g.woff2"],
  ]);
  const urls = urlsFor(`${html}<p>`, { request: { isScriptless: true, learned } });
  expect(urls.map((url) => url.replace("https://site.example", "")).sort()).toEqual([
    "/dir/e.png",
    "/dir/f.css",
    "/g.woff2",
  ]);
});

it("is not made of what the phone has said it has", () => {
  const known = knownUrls(["https://site.example/dir/a.png"]);
  expect(urlsFor("<img src=a.png><img src=b.png>", { request: { known } })).toEqual(["https://site.example/dir/b.png"]);
});

describe("a push's priority", () => {
  it.each([
    ["<link rel=stylesheet href=a>", 5, 1],
    ["<link rel=stylesheet fetchpriority=low href=a>", 7, 4],
    ["<link rel=preload as=font crossorigin href=a>", 7, 1],
    ["<script src=a></script>", 6, 2],
    ["<script type=module src=a></script>", 6, 2],
    ["<script defer src=a></script>", 7, 3],
    ["<script async src=a></script>", 7, 3],
    ["<script async fetchpriority=high src=a></script>", 6, 2],
    ["<script fetchpriority=low src=a></script>", 7, 4],
    ["<img src=a>", 7, 3],
    ["<img fetchpriority=HIGH src=a>", 6, 2],
    ["<img fetchpriority=low src=a>", 7, 4],
  ])("of %s is %i, and %i once the page has asked for it", async (html, pushed, claimed) => {
    const rig = load({ answer: () => new Promise(() => {}) });
    rig.write(html);
    expect(rig.sent.map(({ priority }) => priority.urgency)).toEqual([pushed]);
    await settle();
    const [head] = rig.asked.map((request) => request.head);
    // What the phone says, which knows the destination only.
    const urgency = { style: 1, font: 1, script: 2, image: 3 }[
      head?.destination as "style" | "font" | "script" | "image"
    ];
    rig.pushes[0]?.stream.reprioritize({ urgency, incremental: false });
    await settle();
    expect(rig.sent.map(({ priority }) => priority.urgency)).toEqual([claimed]);
    expect(rig.pushes.map(({ stream }) => stream.priority.urgency)).toEqual([urgency]);
  });
});

describe("nothing is pushed", () => {
  it.each<[string, Circumstances]>([
    ["a form that was sent", { request: { method: "POST" } }],
    ["what a script asked for", { request: { mode: "cors", destination: "" } }],
    ["a reload that goes past caches", { request: { headers: [["pragma", "no-cache"]] } }],
    ["a failure", { response: { status: 404 } }],
    ["part of a document", { response: { status: 206 } }],
    ["another type", { response: { headers: [["content-type", "text/htmlx"]] } }],
    ["what is shown as text", { response: { headers: [["ropeway-document", "text text/plain"]] } }],
    ["a download", { headers: [["content-disposition", "Attachment; filename=a.html"]] }],
  ])("for %s", (_, circumstances) => {
    expect(load(circumstances).isWatched).toBe(false);
  });

  it.each<[string, string, Circumstances]>([
    [
      "what the policy denies",
      "<img src=https://evil.example/?secret>",
      { headers: [["content-security-policy", "img-src 'self'"]] },
    ],
    [
      "what a policy in markup denies",
      "<meta http-equiv=Content-Security-Policy content=\"img-src 'self'\"><img src=https://evil.example>",
      {},
    ],
    [
      "what a style attribute says that the policy denies",
      "<p style='background:url(https://evil.example/?secret)'>",
      { headers: [["content-security-policy", "style-src 'self'"]] },
    ],
    [
      "a document without an origin",
      "<img src=a>",
      { headers: [["content-security-policy", "sandbox allow-scripts"]] },
    ],
    [
      "other schemes",
      "<img src=data:,><img src=ftp://a.example/><img src=ropeway:///site-data><script src=javascript:1>",
      {},
    ],
    ["addresses with a password", "<img src=https://user:password@site.example/>", {}],
    ["what is no address", "<img src=https://>", {}],
    ["what the page has at hand", "<img src=kept>", {}],
    ["the document itself", "<img src='#a'><img src=https://site.example/dir/page?q>", {}],
    ["a longer address than a head may have", `<img src=/${"a".repeat(limits.headListBytes)}>`, {}],
  ])("of %s", (_, html, circumstances) => {
    expect(urlsFor(html, circumstances)).toEqual([]);
  });

  it("twice, however it is written", () => {
    const html = "<img src=a><img src=./a#b><link rel=preload as=image href=a><img crossorigin src=a>";
    expect(requestsFor(html).map(({ url, mode }) => `${mode} ${url}`)).toEqual([
      "no-cors https://site.example/dir/a",
      "cors https://site.example/dir/a",
    ]);
  });

  it("where the document is not in UTF-8 and its addresses are not ASCII", () => {
    const rig = load();
    rig.write(Buffer.from("<img src=b\u00e9><img src=c>", "latin1"));
    expect(rig.asked.map(({ head }) => head.url)).toEqual(["https://site.example/dir/c"]);
  });
});

describe("bounds", () => {
  const images = (count: number) => Array.from({ length: count }, (_, index) => `<img src=${index}>`).join("");

  it("pushes so many resources of a document and no more", async () => {
    const rig = load();
    rig.write(images(limits.pushesPerDocument + 10));
    await settle();
    rig.write(`<p>${images(limits.pushesPerDocument + 20)}`);
    await settle();
    expect(rig.asked).toHaveLength(limits.pushesPerDocument);
    expect(rig.linked.ended).toEqual({ phone: null, edge: null });
  });

  it("pushes no more than the edge's plan has room for", () => {
    expect(urlsFor(images(30), { most: 24 })).toHaveLength(24);
    expect(urlsFor(images(30), { most: 24, request: { pushes: 3 } })).toHaveLength(3);
  });

  it("pushes no more than the phone takes", () => {
    expect(urlsFor(images(10), { request: { pushes: 3 } })).toHaveLength(3);
    expect(urlsFor(images(300), { request: { pushes: 300 } }).length).toBeLessThanOrEqual(limits.pushesPerDocument);
  });

  it("has so many under way in a session and no more", () => {
    const rig = load({ answer: () => new Promise(() => {}) });
    for (let open = 0; open < limits.concurrentPushes - 2; open += 1)
      rig.linked.edge.streams.openPush({ urgency: 7, incremental: false });
    rig.write(images(10));
    expect(rig.asked).toHaveLength(2);
  });

  it("looks at the beginning of a very long document only", () => {
    const rig = load();
    rig.write(`<img src=first>${" ".repeat(SCANNED_DOCUMENT_BYTES)}<img src=last>`);
    rig.write("<img src=later>");
    expect(rig.asked).toHaveLength(1);
  });

  it("looks at what is nested up to 512 elements, where authors close them", () => {
    expect(urlsFor(`${"<div>".repeat(512)}<img src=a>`)).toHaveLength(1);
    expect(urlsFor(`${"<div>".repeat(513)}</div><img src=a>`)).toEqual([]);
    expect(urlsFor(`${"<div></div>".repeat(600)}${"<li><p><br>".repeat(600)}<img src=a>`)).toHaveLength(1);
    expect(urlsFor(`<svg>${"<path/>".repeat(600)}</svg><img src=a>`)).toHaveLength(1);
  });

  it.each([
    ["tags", "<b></b>".repeat(STEPS / 2 + 1)],
    ["attributes", `<img ${"a ".repeat(STEPS)}>`],
    ["sources of a policy", `<meta http-equiv=content-security-policy content="img-src ${"* ".repeat(STEPS)}">`],
    ["policies", `<meta http-equiv=content-security-policy content="${"img-src *,".repeat(STEPS / 2)}">`],
    ["addresses", "<img src=kept>".repeat(STEPS / 8)],
    ["long addresses", `<base href=/${"a".repeat(16_000)}>${"<img src=kept>".repeat(STEPS / 256)}`],
    ["an address that is too long", `<base href=/${"a".repeat(17_000)}>`],
  ])("pushes nothing more where %s have spent what a document may cost", (_, html) => {
    expect(urlsFor(`<img src=before>${html.slice(0, html.length / 2)}`)).toHaveLength(1);
    expect(urlsFor(`<img src=before>${html}<img src=after>`)).toEqual(["https://site.example/dir/before"]);
  });

  it("has looked at each of a page's pictures before it looks at sources of its policy", () => {
    const policy = `img-src ${Array.from({ length: 10_000 }, (_, at) => `h${at}.example`).join(" ")} 'self'`;
    const headers = [["content-security-policy", policy]] as const;
    expect(urlsFor(images(1_000), { headers })).toHaveLength(limits.pushesPerDocument);
  });

  it("stops with the document, but for what the page has asked for", async () => {
    const rig = load({ answer: () => new Promise(() => {}) });
    rig.write("<img src=a><img src=b>");
    await settle();
    rig.pushes[1]?.stream.reprioritize({ urgency: 3, incremental: false });
    await settle();
    rig.abort.abort();
    rig.write("<img src=c>");
    await settle();
    expect(rig.asked.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    expect(rig.pushes.map(({ error }) => error?.code ?? null)).toEqual([ErrorCode.REFUSED_STREAM, null]);
  });

  it("stops asking when the phone does not want it", async () => {
    const rig = load({ answer: () => new Promise(() => {}) });
    rig.write("<img src=a>");
    await settle();
    rig.pushes[0]?.stream.reset(ErrorCode.CANCEL);
    await settle();
    expect(rig.asked[0]?.signal.aborted).toBe(true);
  });
});
