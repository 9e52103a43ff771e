import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../../shared/errors.ts";
import { decodeReferences } from "../../../shared/web/html-tokens.ts";
import type { PageConfig } from "../../slot/documents/page-config.ts";
import { type Answered, type Asked, fakeExchange } from "../testing/fake-exchange.ts";
import { answerDownload, answerNavigation } from "./navigation.ts";

const ORIGIN = "https://example.org";
const SLOT = "http://s1.localhost:8787";
const HTML: Answered = {
  url: `${ORIGIN}/page`,
  headers: [["content-type", "text/html"]],
  body: "<!doctype html><head></head><p>Text",
};

const ASKED: Asked = { url: `${SLOT}/page`, realUrl: `${ORIGIN}/page`, mode: "navigate", destination: "document" };

async function navigate(answered: Partial<Answered>, asked: Partial<Asked> = {}) {
  const { exchange, log } = fakeExchange({ ...ASKED, ...asked }, { ...HTML, ...answered });
  const answer = await answerNavigation(exchange);
  return { answer, log, html: await answer.text() };
}

function dataOf(html: string, name: "config" | "notice"): unknown {
  const [, value = ""] = new RegExp(`data-${name}="([^"]*)"`).exec(html) ?? [];
  return JSON.parse(decodeReferences(value));
}

describe("answerNavigation", () => {
  it("puts the page script into a document", async () => {
    const { answer, html, log } = await navigate({}, { referrer: `${ORIGIN}/before` });
    expect(answer.headers.get("content-type")).toBe("text/html");
    expect(html).toMatch(/^<!doctype html><head><script src="\/\.ropeway\/page\.js"/);
    expect(html).toMatch(/<p>Text$/);
    expect(dataOf(html, "config")).toMatchObject({ documentUrl: `${ORIGIN}/page`, referrer: `${ORIGIN}/before` });
    expect(log).toEqual(["send", "finish"]);
  });

  it.each([
    ["what the navigation was sent with", "https://b.example/full?x", false, "https://b.example/full?x"],
    ["less after redirects", "https://b.example/full?x", true, "https://b.example/"],
    ["nothing when a person typed the address", "", false, ""],
  ])("tells the page of a navigation that began ahead %s", async (_what, referrer, redirected, told) => {
    const { html } = await navigate({ referrer, redirected }, { referrer: `${ORIGIN}/wrong` });
    expect((dataOf(html, "config") as PageConfig).referrer).toBe(told);
  });

  it.each([
    ["an error with nothing in it", 404, [], "", "HTTP error 404"],
    ["one whose length says so", 500, [["content-length", "0"]], "", "HTTP error 500"],
    [
      "one of a picture",
      503,
      [
        ["content-type", "image/png"],
        ["content-length", "0"],
      ],
      "",
      "HTTP error 503",
    ],
  ] as const)("shows the app's page for %s", async (_what, status, fields, body, said) => {
    const headers = [...(HTML.headers ?? []), ...fields];
    const { html, log } = await navigate({ status, headers: [...fields, ...headers], body });
    const message = expect.stringContaining(said);
    expect(dataOf(html, "notice")).toMatchObject({ kind: "failed", code: ErrorCode.NO_PAGE, message });
    expect(log).toEqual(["send", "cancel", "finish"]);
  });

  it("keeps an origin's own failure as it is", async () => {
    const { answer, html } = await navigate({ status: 404 });
    expect(answer.status).toBe(404);
    expect(html).toContain("<p>Text");
  });

  it.each([
    ["its field says", "text/html; charset=windows-1251", "", "<p>\xcf", "text/html; charset=windows-1251"],
    ["the edge has read", "text/html", "html text/html shift_jis", "<p>\x83\x5d", "text/html; charset=shift_jis"],
    ["nobody knows", "text/html", "html text/html", "<p>\xe4", "text/html"],
    ["XML has", "image/svg+xml", "xml image/svg+xml koi8-r", "\xe4</svg>", "image/svg+xml; charset=koi8-r"],
    ["an element in XML has", "text/xml", "xml text/xml koi8-r", "\xe4</a>", "text/xml; charset=koi8-r"],
  ])("leaves a document in the encoding that %s", async (_who, type, note, end, shown) => {
    const headers = [["content-type", type] as const, ...(note === "" ? [] : [["ropeway-document", note] as const])];
    const body = [new Uint8Array(Buffer.from(`<svg title='\xe4'>${end}`, "latin1"))];
    const { exchange } = fakeExchange(ASKED, { ...HTML, headers, body });
    const answer = await answerNavigation(exchange);
    const text = Buffer.from(await answer.arrayBuffer()).toString("latin1");
    expect(answer.headers.get("content-type")).toBe(shown);
    expect(answer.headers.has("ropeway-document")).toBe(false);
    expect(text).toMatch(/^(?:<script [^>]*><\/script>)?<svg title='\xe4'>/);
    expect(text.endsWith(end)).toBe(true);
    // In XML it is an element of HTML, in the root.
    const isXml = shown !== "text/html" && !shown.startsWith("text/html;");
    expect(text.includes('\'><script xmlns="http://www.w3.org/1999/xhtml" src="/.ropeway/page.js"')).toBe(isXml);
  });

  it("tells scripts of how many labels the suffix of their host is, and nobody by a field", async () => {
    const { answer, html } = await navigate({
      headers: [
        ["content-type", "text/html"],
        ["ropeway-suffix", "2"],
      ],
    });
    expect(html).toContain("&quot;suffix&quot;:2");
    expect(answer.headers.has("ropeway-suffix")).toBe(false);
    expect((await navigate({})).html).not.toContain("suffix");
  });

  it("makes UTF-8 of encodings that hide markup", async () => {
    const headers = [["content-type", "text/html; charset=utf-16le"]] as const;
    const { exchange } = fakeExchange(ASKED, {
      ...HTML,
      headers,
      body: [new Uint8Array(Buffer.from("<p>ü", "utf16le"))],
    });
    const answer = await answerNavigation(exchange);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(Buffer.from(await answer.arrayBuffer()).toString()).toMatch(/^\ufeff<script .*<p>ü$/);
  });

  it("shows text as Chromium does", async () => {
    const { html } = await navigate({ headers: [["content-type", "application/json"]], body: '{"a":"<"}' });
    const pre =
      '<body><pre>\n{&quot;a&quot;:&quot;&lt;&quot;}</pre><div class="json-formatter-container"></div></body></html>';
    expect(html.endsWith(pre)).toBe(true);
    expect(dataOf(html, "config")).toMatchObject({ viewed: "application/json", title: "page" });
  });

  it("shows a redirect within the origin to the browser", async () => {
    const { exchange, log } = fakeExchange(
      { url: `${SLOT}/page`, realUrl: `${ORIGIN}/page`, mode: "navigate", destination: "document" },
      { ...HTML, url: `${ORIGIN}/moved` },
    );
    const answer = await answerNavigation(exchange);
    expect([answer.status, answer.headers.get("location")]).toEqual([302, `${SLOT}/moved`]);
    expect(log).toEqual(["send", "hold", "finish"]);
  });

  it("shows the browser that a form was redirected, also to its own address", async () => {
    const posted = await navigate({ redirected: true }, { method: "POST" });
    expect([posted.answer.status, posted.answer.headers.get("location")]).toEqual([302, `${SLOT}/page`]);
    expect(posted.log).toEqual(["send", "hold", "finish"]);
    const claimed = await navigate({ redirected: true });
    expect([claimed.answer.status, claimed.log]).toEqual([200, ["send", "finish"]]);
  });

  it("tells a page whether a reload would send a form again", async () => {
    const posted = await navigate({}, { method: "POST" });
    expect(dataOf(posted.html, "config")).toMatchObject({ isPosted: true });
    expect(dataOf((await navigate({})).html, "config")).toMatchObject({ isPosted: false });
  });

  it("shows the browser the fragment of a redirect", async () => {
    const { exchange } = fakeExchange(
      { url: `${SLOT}/page`, realUrl: `${ORIGIN}/page`, mode: "navigate", destination: "document" },
      { ...HTML, url: `${ORIGIN}/moved`, fragment: "#part" },
    );
    const answer = await answerNavigation(exchange);
    expect(answer.headers.get("location")).toBe(`${SLOT}/moved#part`);
  });

  it("hands redirects to other origins to the shell", async () => {
    const given = await navigate({ status: 302, headers: [["location", "https://b.example/x"]] });
    expect(dataOf(given.html, "notice")).toEqual({
      kind: "moved",
      url: "https://b.example/x",
      from: "https://example.org/page",
      referrer: "",
    });
    expect(given.log).toEqual(["send", "cancel", "finish"]);
  });

  it.each([
    [[], {}, `${ORIGIN}/`],
    [[], { referrerPolicy: "unsafe-url" }, `${ORIGIN}/before`],
    [[["referrer-policy", "no-referrer"]], { referrerPolicy: "unsafe-url" }, ""],
  ] as const)("tells the shell with %j and %j the referrer %s", async (fields, asked, referrer) => {
    const headers = [["location", "https://b.example/x"], ...fields] as const;
    const { html } = await navigate({ status: 302, headers }, { referrer: `${ORIGIN}/before`, ...asked });
    expect(dataOf(html, "notice")).toMatchObject({ kind: "moved", referrer });
  });

  it.each([
    ["bytes of UTF-8", "https://b.example/\xc3\xa9", "https://b.example/%C3%A9"],
    ["two lines that say the same", "https://b.example/x, https://b.example/x", "https://b.example/x"],
  ])("reads %s as the edge does", async (_what, location, url) => {
    const { html } = await navigate({ status: 302, headers: [["location", location]] });
    expect(dataOf(html, "notice")).toMatchObject({ kind: "moved", url });
  });

  it("shows what leads nowhere, as browsers do", async () => {
    const headers = [
      ["location", ""],
      ["content-type", "text/html"],
    ] as const;
    const { answer, html } = await navigate({ status: 302, headers });
    expect(html).toMatch(/<p>Text$/);
    expect(answer.headers.has("location")).toBe(false);
  });

  it("lets the page stay where it is led to another app, and tells the shell", async () => {
    const headers = [["location", "tel:+49301234"]] as const;
    const { answer, log } = await navigate({ status: 302, headers });
    expect([answer.status, log]).toEqual([204, ["send", "cancel", "to tel:+49301234", "finish"]]);
    const { html } = await navigate({ status: 302, headers: [["location", "data:text/html,x"]] });
    expect(dataOf(html, "notice")).toMatchObject({ kind: "moved", url: "data:text/html,x" });
  });

  it("hands those of a frame to the placeholder", async () => {
    const headers = [["location", "https://b.example/x?$&"]] as const;
    const { html, answer } = await navigate({ status: 302, headers }, { topLevel: false });
    expect(html).toContain(`data-url="https://b.example/x?$&amp;" data-from="${ORIGIN}/page"`);
    expect(answer.headers.get("content-security-policy")).toContain("frame-src http://*.localhost:8787");
  });

  it.each(["http://s2.localhost:8787/x", "https://s2.localhost:8787/", "http://localhost:8787/"])(
    "shows nothing in a frame that a site sends to %s, a host of the edge",
    async (url) => {
      const { html } = await navigate({ status: 302, headers: [["location", url]] }, { topLevel: false });
      expect(html).toContain('data-url=""');
    },
  );

  it.each([
    ["http://s2.localhost:8787/", 200],
    [`${SLOT}/.ropeway/boot`, 200],
    [`${SLOT}/before`, 204],
  ])("answers a frame that comes from %s, and gets no document, with %i", async (from, status) => {
    const { answer, log } = await navigate({ status: 204 }, { topLevel: false, sentFrom: from });
    expect(answer.status).toBe(status);
    expect(log).toContain("no-document");
  });

  it("resends no form to another origin", async () => {
    const headers = [["location", "https://b.example/x"]] as const;
    const { html } = await navigate({ status: 307, headers }, { method: "POST" });
    expect(dataOf(html, "notice")).toMatchObject({ kind: "failed", method: "POST", url: `${ORIGIN}/page` });
  });

  it("shows no document in a frame that does not want to be in one", async () => {
    const headers = [...(HTML.headers ?? []), ["x-frame-options", "DENY"]] as const;
    expect((await navigate({ headers })).html).toContain("<p>Text");
    const framed = await navigate({ headers }, { topLevel: false });
    expect(dataOf(framed.html, "notice")).toMatchObject({ kind: "failed" });
  });

  it.each([
    ["x-frame-options", "DENY", false],
    ["x-frame-options", "SAMEORIGIN", true],
    ["content-security-policy", "frame-ancestors 'none'", false],
    ["content-security-policy", "frame-ancestors https://partner.example", false],
    ["content-security-policy", "frame-ancestors 'self'", true],
    ["x-other", "1", true],
  ] as const)("lets a page of the same site frame what says %s: %s: %s", async (name, value, isAllowed) => {
    for (const type of ["text/html", "image/png"]) {
      const headers = [
        ["content-type", type],
        [name, value],
      ] as const;
      const policy = (await navigate({ headers })).answer.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("frame-ancestors http://localhost:8787");
      expect(policy.includes(`frame-ancestors http://localhost:8787 ${SLOT}`)).toBe(isAllowed);
    }
  });

  it("escapes text", async () => {
    const { html } = await navigate({ headers: [["content-type", "text/plain"]], body: "<b>&" });
    expect(html).toContain("&lt;b>&amp;");
  });

  it("lets the viewer of a picture come back for it", async () => {
    const { html, log } = await navigate({ headers: [["content-type", "image/png"]] });
    expect(html).toContain(`src="${SLOT}/page"`);
    expect(log).toEqual(["send", "hold", "finish"]);
  });

  it("does not govern a viewer by the policy of what it shows", async () => {
    for (const type of ["image/png", "video/mp4"]) {
      const headers = [
        ["content-type", type],
        ["content-security-policy", "default-src 'none'; sandbox"],
      ] as const;
      const { answer, html } = await navigate({ headers });
      expect(answer.headers.get("content-security-policy")).not.toMatch(/default-src|sandbox/);
      expect(html).toContain("/.ropeway/page.js");
    }
  });

  it.each(["sandbox", "sandbox allow-scripts", "default-src 'none'; sandbox allow-same-origin"])(
    "tells of a document that cannot tell of itself: %s",
    async (policy) => {
      const headers = [
        ["content-type", "text/plain"],
        ["content-security-policy", policy],
      ] as const;
      const { log } = await navigate({ headers }, { url: `${SLOT}/page#part` });
      const told = `${ORIGIN}/page#part page`;
      expect(log).toEqual(["send", `silent loading ${told}`, "finish", `silent loaded ${told}`]);
    },
  );

  it("leaves what it cannot show to be saved", async () => {
    const { answer, log } = await navigate({ headers: [["content-type", "application/zip"]] });
    expect(answer.headers.get("content-disposition")).toBe("attachment");
    expect(log).toEqual(["send", "no-document", "finish"]);
  });

  const SENT_PDF = [["content-type", "application/pdf"]] as const;

  it("shows a PDF in a page where no script runs but the app's", async () => {
    const { answer, log } = await navigate({ headers: [...SENT_PDF, ["content-security-policy", "sandbox"]] });
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const own = `script-src ${SLOT}/.ropeway/; worker-src ${SLOT}/.ropeway/;`;
    expect(answer.headers.get("content-security-policy")).toContain(`default-src 'none'; ${own}`);
    expect(answer.headers.get("content-security-policy")).not.toContain("sandbox");
    expect(log).toEqual(["send", "hold", "finish"]);
  });

  it.each<[string, Partial<Answered>, Partial<Asked>]>([
    ["for keeping", { headers: [...SENT_PDF, ["content-disposition", "attachment"]] }, {}],
    ["the answer to a form", {}, { method: "POST" }],
    ["a part of one", { status: 206 }, {}],
  ])("leaves a PDF to be saved that is %s", async (_, answered, asked) => {
    const { answer, log } = await navigate({ headers: SENT_PDF, ...answered }, asked);
    expect(answer.headers.get("content-disposition")).toBe("attachment");
    expect(log).toEqual(["send", "no-document", "finish"]);
  });

  const FILE = [["content-type", "application/zip"]] as const;

  it.each([
    ["large", [...FILE, ["content-length", "1000001"]]],
    ["of a length that nobody knows", FILE],
  ] as const)("has the app keep a file that is %s, and leaves the page", async (_, headers) => {
    const { answer, log } = await navigate({ headers, isSavable: true });
    expect([answer.status, answer.body]).toEqual([204, null]);
    expect(log).toEqual(["send", "no-document", "save ", "finish"]);
  });

  it.each<[string, Partial<Answered>, Partial<Asked>]>([
    ["small", { headers: [...FILE, ["content-length", "1000000"]] }, {}],
    ["the answer to a form", {}, { method: "POST" }],
    ["an error", { status: 500 }, {}],
    ["for an app of before", { isSavable: false }, {}],
  ])("leaves a file to the browser that is %s", async (_, answered, asked) => {
    const { answer, log } = await navigate({ headers: FILE, isSavable: true, body: "x", ...answered }, asked);
    expect(answer.headers.get("content-disposition")).toBe("attachment");
    expect(log).toEqual(["send", "no-document", "finish"]);
  });

  it("keeps the name of what the origin meant to be shown", async () => {
    const { answer } = await navigate({
      headers: [
        ["content-type", "application/zip"],
        ["content-disposition", 'inline; filename="invoice.zip"'],
      ],
    });
    expect(answer.headers.get("content-disposition")).toBe('attachment; filename="invoice.zip"');
  });

  it("is finished with a body that is still to be read: the worker is the browser's to keep", async () => {
    for (const type of ["text/html", "application/zip"]) {
      const { exchange, log } = fakeExchange(
        { url: `${SLOT}/page`, realUrl: `${ORIGIN}/page`, mode: "navigate" },
        { ...HTML, headers: [["content-type", type]] },
      );
      expect((await answerNavigation(exchange)).bodyUsed).toBe(false);
      expect(log.at(-1)).toBe("finish");
    }
  });

  it("says why it failed", async () => {
    const { exchange, log } = fakeExchange({ url: `${SLOT}/page`, realUrl: `${ORIGIN}/page`, mode: "navigate" });
    const notice = dataOf(await (await answerNavigation(exchange)).text(), "notice");
    expect(notice).toMatchObject({ kind: "failed", message: "Cannot answer: none was expected" });
    expect(log).toEqual(["send", "finish"]);
  });
});

describe("answerNavigation, of an odd address", () => {
  it.each(["/sale-50%-off", "/caf%E9", "/%"])("shows %s", async (path) => {
    const realUrl = `${ORIGIN}${path}`;
    for (const type of ["text/html", "text/plain", "image/png"]) {
      const answered = { url: realUrl, headers: [["content-type", type]] as const, body: "Text" };
      const { answer, html } = await navigate(answered, { url: `${SLOT}${path}`, realUrl });
      expect([type, answer.status, html.includes("data-notice")]).toEqual([type, 200, false]);
    }
  });

  it("lets go of what it cannot show, and says so", async () => {
    const { html, log } = await navigate({ status: 999 });
    expect(dataOf(html, "notice")).toMatchObject({ kind: "failed", url: `${ORIGIN}/page` });
    expect(log).toEqual(expect.arrayContaining(["send", "cancel", "finish"]));
  });
});

describe("answerDownload", () => {
  it("leaves the page where it is when there is nothing to save", async () => {
    const { exchange, log } = fakeExchange({ url: `${SLOT}/x`, realUrl: `${ORIGIN}/x` });
    expect((await answerDownload(exchange, "a.bin")).status).toBe(204);
    expect(log).toEqual(["send", "finish"]);
  });

  it("hands a redirect to another site to the shell", async () => {
    const { exchange, log } = fakeExchange(
      { url: `${SLOT}/x`, realUrl: `${ORIGIN}/x` },
      { url: `${ORIGIN}/x`, status: 302, headers: [["location", "https://b.example/file"]] },
    );
    const answer = await answerDownload(exchange, "a.bin");
    expect(dataOf(await answer.text(), "notice")).toMatchObject({ kind: "moved", url: "https://b.example/file" });
    expect(log).toEqual(["send", "cancel", "finish"]);
  });

  it("has the app keep a large file, by the name that the link gives", async () => {
    const { exchange, log } = fakeExchange({ url: `${SLOT}/x`, realUrl: `${ORIGIN}/x` }, { ...HTML, isSavable: true });
    expect((await answerDownload(exchange, "a.bin")).status).toBe(204);
    expect(log).toEqual(["send", "no-document", "save a.bin", "finish"]);
  });

  it("names the file as the link does", async () => {
    const { exchange } = fakeExchange({ url: `${SLOT}/x`, realUrl: `${ORIGIN}/x` }, HTML);
    const answer = await answerDownload(exchange, "a b.html");
    expect(answer.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''a%20b.html");
  });

  it.each([
    [[], "attachment; filename*=UTF-8''page"],
    [[["content-disposition", 'attachment; filename="report.pdf"']], 'attachment; filename="report.pdf"'],
  ] as const)("names it by the origin's field or address where the link does not: %j", async (headers, expected) => {
    const { exchange } = fakeExchange({ url: `${SLOT}/x`, realUrl: `${ORIGIN}/x` }, { ...HTML, headers });
    const answer = await answerDownload(exchange, "");
    expect(answer.headers.get("content-disposition")).toBe(expected);
  });
});

it("tells the fragment of an address that failed, for the next try", async () => {
  const { exchange } = fakeExchange({
    url: `${SLOT}/page#part`,
    realUrl: `${ORIGIN}/page`,
    mode: "navigate",
    destination: "document",
  });
  const answer = await answerNavigation(exchange);
  expect(dataOf(await answer.text(), "notice")).toMatchObject({ kind: "failed", url: `${ORIGIN}/page#part` });
});
