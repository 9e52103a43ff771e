import { describe, expect, it } from "vitest";
import { headerValue } from "../../shared/http/head-fields.ts";
import { decodedLength, endToEndFields } from "./fields.ts";
import { fakeWeb, navigationTo, requestFor } from "./testing/fake-web.ts";

describe("endToEndFields", () => {
  it("drops the connection's, the edge's and the jar's", () => {
    const headers = new Headers([
      ["connection", "close, x-hop"],
      ["x-hop", "1"],
      ["keep-alive", "timeout=5"],
      ["transfer-encoding", "chunked"],
      ["cf-ray", "abc"],
      ["cf-cache-status", "HIT"],
      ["alt-svc", "h3"],
      ["nel", "{}"],
      ["report-to", "{}"],
      ["reporting-endpoints", "a"],
      ["set-cookie", "a=b"],
      ["ropeway-cleared", "https://bank.example"],
      ["content-type", "text/html"],
      ["etag", '"1"'],
    ]);
    expect(endToEndFields(headers)).toEqual([
      ["content-type", "text/html"],
      ["etag", '"1"'],
    ]);
  });

  it("drops what no field can be called, as workerd hands it out", () => {
    const names = ["age\u00ff", "étag", "a b", ":status", ""];
    const headers = Object.assign(new Headers({ etag: '"1"' }), {
      *[Symbol.iterator]() {
        for (const name of names) yield [name, "1"];
        yield ["etag", '"1"'];
      },
    });
    expect(endToEndFields(headers)).toEqual([["etag", '"1"']]);
  });

  it("keeps the length of a body that came as it is, and no length of one that was decoded", () => {
    const plain = new Headers({ "content-length": "5" });
    expect(endToEndFields(plain)).toEqual([["content-length", "5"]]);
    expect(decodedLength(plain)).toBe(5);
    for (const coding of ["gzip", "br", "GZIP ", "deflate", "x-gzip", "deflate, gzip"]) {
      const coded = new Headers({ "content-length": "5", "content-encoding": coding });
      expect(endToEndFields(coded)).toEqual([]);
      expect(decodedLength(coded)).toBeNull();
    }
  });

  it("knows no length where there is none, or nonsense", () => {
    expect(decodedLength(new Headers())).toBeNull();
    expect(decodedLength(new Headers({ "content-length": "5, 5" }))).toBeNull();
  });
});

describe("a document that asks to be isolated", () => {
  const isolationOf = async (url: string, fields: Record<string, string>, request = navigationTo(url)) => {
    const web = fakeWeb({ [url]: () => new Response("<p>", { headers: { "content-type": "text/html", ...fields } }) });
    const response = await web.upstream(request);
    return headerValue(response.head.headers, "document-isolation-policy");
  };
  const OPENER = { "cross-origin-opener-policy": 'same-origin; report-to="x"' };
  const EMBEDDER = { "cross-origin-embedder-policy": "require-corp" };

  it.each([
    ["https://x.example/", { ...OPENER, ...EMBEDDER }, "isolate-and-require-corp"],
    ["http://x.example/", { ...OPENER, ...EMBEDDER }, null],
    ["http://x.example/", { "document-isolation-policy": "isolate-and-require-corp" }, null],
    ["https://x.example/", OPENER, null],
    ["https://x.example/", EMBEDDER, null],
    [
      "https://x.example/",
      { ...OPENER, "cross-origin-embedder-policy": 'credentialless; report-to="x"' },
      "isolate-and-credentialless",
    ],
    ["https://x.example/", { ...OPENER, "cross-origin-embedder-policy": "credentialless, require-corp" }, null],
    ["https://x.example/", { "cross-origin-embedder-policy": "credentialless" }, null],
    ["https://x.example/", { ...OPENER, "cross-origin-embedder-policy": "require-corp, require-corp" }, null],
    ["https://x.example/", { ...EMBEDDER, "cross-origin-opener-policy": "same-origin-allow-popups" }, null],
    ["https://x.example/", { "document-isolation-policy": "isolate-and-credentialless" }, "isolate-and-credentialless"],
  ])("%s with %o: %s", async (url, fields, isolation) => {
    expect(await isolationOf(url, fields)).toBe(isolation);
  });

  it.each([
    ["cross-origin", "cross-origin"],
    ["same-site", "same-site"],
    ["nonsense", null],
    ["cross-origin, cross-origin", null],
  ])("embeds what says so: %s is told as %s", async (policy, told) => {
    const url = "https://cdn.x.example/a.png";
    const picture = { "content-type": "image/svg+xml", "cross-origin-resource-policy": policy };
    for (const destination of ["image", ""] as const) {
      const web = fakeWeb({ [url]: () => new Response("<svg/>", { headers: picture }) });
      const own = { origin: "https://x.example", topLevelOrigin: "https://x.example" };
      const { head } = await web.upstream(requestFor({ url, mode: "no-cors", destination, ...own }));
      expect(headerValue(head.headers, "cross-origin-resource-policy"), destination).toBe(told);
    }
  });

  it("is a document: nothing else is told so", async () => {
    const url = "https://x.example/data";
    const own = { url, origin: "https://x.example", topLevelOrigin: "https://x.example" };
    expect(await isolationOf(url, { ...OPENER, ...EMBEDDER }, requestFor(own))).toBeNull();
  });
});
