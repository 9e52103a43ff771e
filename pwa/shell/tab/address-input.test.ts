import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAddress } from "./address-input.ts";

const SEARCH = "https://search.example/?q=%s&source=ropeway";

function parse(input: string): string {
  const parsed = parseAddress(input, SEARCH);
  if (parsed.kind === "unsupported") return `unsupported ${parsed.scheme}`;
  return parsed.kind === "url" ? parsed.url : `search ${new URL(parsed.url).searchParams.get("q")}`;
}

describe("addresses", () => {
  it.each([
    ["https://example.com/a?b#c", "https://example.com/a?b#c"],
    ["HTTP://Example.COM", "http://example.com/"],
    ["https://example.com/a b", "https://example.com/a%20b"],
    ["http:example.com", "http://example.com/"],
    ["example.com", "https://example.com/"],
    ["  example.com\n", "https://example.com/"],
    ["example.com.", "https://example.com./"],
    ["en.wikipedia.org/wiki/Ropeway#History", "https://en.wikipedia.org/wiki/Ropeway#History"],
    ["example.com?q=1", "https://example.com/?q=1"],
    ["example.com#part", "https://example.com/#part"],
    ["//example.com/x", "https://example.com/x"],
    ["example.com:8443/x", "https://example.com:8443/x"],
    ["example.com:443", "https://example.com/"],
    ["example.com:80", "https://example.com:80/"],
    ["nas:5000", "https://nas:5000/"],
    ["data:8000/x", "https://data:8000/x"],
    ["intranet/", "https://intranet/"],
    ["intranet/wiki", "https://intranet/wiki"],
    ["my_host.example.com", "https://my_host.example.com/"],
    ["name:secret@example.com", "https://name:secret@example.com/"],
    ["name@example.com/inbox", "https://name@example.com/inbox"],
    ["bücher.example", "https://xn--bcher-kva.example/"],
    ["例え.テスト", "https://xn--r8jz45g.xn--zckzah/"],
  ])("%s", (input, url) => expect(parse(input)).toBe(url));

  it.each([
    ["localhost", "http://localhost/"],
    ["LOCALHOST:8787", "http://localhost:8787/"],
    ["localhost:8787/#key=a", "http://localhost:8787/#key=a"],
    ["news.localhost:8080/a", "http://news.localhost:8080/a"],
    ["127.0.0.1", "http://127.0.0.1/"],
    ["192.168.1.1:8080/admin", "http://192.168.1.1:8080/admin"],
    ["[::1]", "http://[::1]/"],
    ["[2001:db8::1]:81/x", "http://[2001:db8::1]:81/x"],
  ])("%s is asked without TLS", (input, url) => expect(parse(input)).toBe(url));
});

describe("searches", () => {
  it.each([
    ["ropeway", "ropeway"],
    ["what is a ropeway?", "what is a ropeway?"],
    ["example.com is down", "example.com is down"],
    ["? example.com", "example.com"],
    ["define:ropeway", "define:ropeway"],
    ["javascript: the good parts", "javascript: the good parts"],
    ["data:", "data:"],
    ["name@example.com", "name@example.com"],
    ["node.js", "node.js"],
    ["1.5", "1.5"],
    ["3.14159", "3.14159"],
    ["1/2", "1/2"],
    ["2130706433", "2130706433"],
    ["256.1.1.1", "256.1.1.1"],
    ["v1.2", "v1.2"],
    ["e.g.", "e.g."],
    [".com", ".com"],
    ["a..com", "a..com"],
    ["foo,bar.com", "foo,bar.com"],
    ["example.com:99999", "example.com:99999"],
    ["https://", "https://"],
    ["http://two words/", "http://two words/"],
    ["[::1", "[::1"],
    ["100% & more = $& +", "100% & more = $& +"],
    ["", ""],
  ])("%s", (input, words) => expect(parse(input)).toBe(`search ${words}`));

  it("replaces a lone surrogate", () => expect(parse("a\ud800b")).toBe("search a\ufffdb"));
  it("encodes words once, and spaces as %20", () =>
    expect(parseAddress("a b", SEARCH)).toEqual({
      kind: "search",
      url: "https://search.example/?q=a%20b&source=ropeway",
    }));
});

describe("schemes that Ropeway cannot load", () => {
  it.each([
    ["about:blank", "about"],
    ["file:///etc/passwd", "file"],
    ["javascript:alert(1)", "javascript"],
    ["JavaScript:alert(1)", "javascript"],
    ["data:text/html,hi", "data"],
    ["mailto:name@example.com", "mailto"],
    ["tel:112", "tel"],
    ["ftp://example.com/", "ftp"],
    ["wss://example.com/", "wss"],
    ["web+thing://x", "web+thing"],
  ])("%s", (input, scheme) => expect(parseAddress(input, SEARCH)).toEqual({ kind: "unsupported", scheme, input }));
});

describe("properties", () => {
  const anything = fc.oneof(fc.string({ unit: "binary" }), fc.webUrl(), fc.domain(), fc.ipV4(), fc.ipV6());

  it("never throws, and answers with http: or https: only", () => {
    fc.assert(
      fc.property(anything, (input) => {
        const parsed = parseAddress(input, SEARCH);
        if (parsed.kind === "unsupported") return;
        expect(new URL(parsed.url).protocol).toMatch(/^https?:$/);
      }),
    );
  });

  it("reads its own addresses as themselves", () => {
    fc.assert(
      fc.property(anything, (input) => {
        const parsed = parseAddress(input, SEARCH);
        if (parsed.kind !== "unsupported") expect(parse(parsed.url)).toBe(parsed.url);
      }),
    );
  });

  it("takes every address with scheme as it is", () => {
    fc.assert(
      fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (url) => {
        expect(parse(url)).toBe(new URL(url).href);
      }),
    );
  });
});
