import fc from "fast-check";
import { expect, test } from "vitest";
import { isKnownUrl, KNOWN_URLS, knownUrls, knownUrlsField, parseKnownUrls } from "./phone-fields.ts";

test("what is said is what is read", () => {
  fc.assert(
    fc.property(fc.array(fc.webUrl(), { maxLength: 128 }), (urls) => {
      const [name, value] = knownUrlsField(knownUrls(urls));
      const known = parseKnownUrls([[name, value]]);
      expect(urls.every((url) => known !== undefined && isKnownUrl(known, url))).toBe(true);
    }),
  );
});

test("of sixty URLs that are known, hardly another is taken for one", () => {
  const known = knownUrls(Array.from({ length: 60 }, (_, index) => `https://site.example/${index}.png`));
  const others = Array.from({ length: 10_000 }, (_, index) => `https://site.example/other/${index}.png`);
  expect(others.filter((url) => isKnownUrl(known, url)).length).toBeLessThan(30);
});

test("is short", () => {
  const urls = Array.from({ length: 1000 }, (_, index) => `https://site.example/${index}`);
  expect(knownUrlsField(knownUrls(urls.slice(0, 60)))[1].length).toBeLessThanOrEqual(160);
  expect(knownUrlsField(knownUrls(urls))[1].length).toBeLessThanOrEqual(342);
});

test("says nothing where it cannot be read", () => {
  for (const value of ["A", "AAA*", "AAAA", "AA".repeat(400)])
    expect(parseKnownUrls([[KNOWN_URLS, value]])).toBe(undefined);
  expect(parseKnownUrls([])).toBe(undefined);
  expect(parseKnownUrls([[KNOWN_URLS, ""]])).toEqual(new Set());
});
