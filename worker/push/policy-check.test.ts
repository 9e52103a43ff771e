import fc from "fast-check";
import { expect, it } from "vitest";
import type { Destination } from "../../shared/http/heads.ts";
import { sourceMatchesOrigin } from "../../shared/web/policies.ts";
import { Steps } from "./document-scanner.ts";
import { PagePolicies } from "./policy-check.ts";

const SELF = "https://site.example";

function policiesOf(value: string): PagePolicies {
  const policies = new PagePolicies(SELF, new Steps());
  policies.add(value);
  return policies;
}

it.each<[policy: string, destination: Destination, url: string, nonce: string, expected: boolean]>([
  ["img-src 'self'", "image", `${SELF}/a`, "", true],
  ["img-src 'self'", "image", "https://evil.example/?secret", "", false],
  ["img-src 'self'", "script", "https://cdn.example/a.js", "", true],
  ["default-src 'self'; img-src *", "image", "https://cdn.example/a", "", true],
  ["default-src 'self'", "font", "https://cdn.example/a", "", false],
  ["default-src 'none'", "image", `${SELF}/a`, "", false],
  ["img-src", "image", `${SELF}/a`, "", false],
  ["img-src data:", "image", `${SELF}/a`, "", false],
  ["img-src https:", "image", "https://cdn.example/a", "", true],
  ["img-src https:", "image", "http://cdn.example/a", "", false],
  ["img-src *.example", "image", "https://cdn.example/a", "", true],
  ["img-src https://cdn.example/pics/", "image", "https://cdn.example/pics/a", "", true],
  ["img-src https://cdn.example/pics/", "image", "https://cdn.example/other/a", "", false],
  ["img-src https://cdn.example/pics", "image", "https://cdn.example/pics/a", "", false],
  ["img-src https://cdn.example/pics", "image", "https://cdn.example/pics", "", true],
  ["script-src 'nonce-n'", "script", "https://cdn.example/a.js", "n", true],
  ["script-src 'nonce-n'", "script", "https://cdn.example/a.js", "m", false],
  ["script-src 'nonce-n'", "script", "https://cdn.example/a.js", "", false],
  ["img-src 'nonce-n'", "image", "https://cdn.example/a", "n", false],
  ["script-src 'strict-dynamic' https:", "script", "https://cdn.example/a.js", "", false],
  ["script-src-elem 'self'; script-src *", "script", "https://cdn.example/a.js", "", false],
  ["style-src-elem *; style-src 'none'", "style", "https://cdn.example/a.css", "", true],
  ["img-src *, img-src 'self'", "image", "https://cdn.example/a", "", false],
  ["frame-ancestors 'none'", "image", "https://cdn.example/a", "", true],
])("%s lets %s %s with the nonce %j: %s", (policy, destination, url, nonce, expected) => {
  expect(policiesOf(policy).allows({ destination, nonce }, new URL(url))).toBe(expected);
});

it.each<[policy: string, expected: boolean]>([
  ["img-src 'self'", true],
  ["style-src 'self'", false],
  ["default-src 'self'", false],
  ["style-src 'Unsafe-Inline'", true],
  ["style-src 'unsafe-inline' 'nonce-n'", false],
  ["style-src 'unsafe-inline' 'sha256-AA='", false],
  ["style-src-attr 'none'; style-src 'unsafe-inline'", false],
  ["style-src-attr 'unsafe-inline'; style-src 'self'", true],
  ["style-src-elem 'none'", true],
  ["style-src 'unsafe-inline', default-src 'self'", false],
])("%s lets style attributes hold: %s", (policy, expected) => {
  expect(policiesOf(policy).allowsStyleAttributes()).toBe(expected);
});

it("matches sources as they are matched one by one", () => {
  const hosts = ["site.example", "a.example", "b.a.example", "example", "a.example.org"];
  const origin = fc
    .tuple(fc.constantFrom("http", "https"), fc.constantFrom(...hosts), fc.constantFrom("", ":80", ":443", ":8443"))
    .map((parts) => `${parts[0]}://${parts[1]}${parts[2]}`);
  const host = fc
    .constantFrom(...hosts, "*", ...hosts.map((name) => `*.${name}`))
    .chain((name) =>
      fc
        .tuple(fc.constantFrom("", "http://", "https://", "ws://"), fc.constantFrom("", ":80", ":443", ":*", ":8443"))
        .map(([scheme, port]) => scheme + name + port),
    );
  const source = fc.oneof(host, fc.constantFrom("'self'", "*", "http:", "https:", "data:", "'none'", "'Self'", "wss:"));
  fc.assert(
    fc.property(fc.array(source, { maxLength: 3 }), origin, (sources, address) => {
      const url = new URL(address);
      const expected = sources.some((each) => sourceMatchesOrigin(each, url.origin, SELF));
      expect(policiesOf(`img-src ${sources.join(" ")}`).allows({ destination: "image", nonce: "" }, url)).toBe(
        expected,
      );
    }),
  );
});

it("knows documents without an origin of their own", () => {
  expect(policiesOf("sandbox allow-scripts").isOpaque).toBe(true);
  expect(policiesOf("img-src *, sandbox").isOpaque).toBe(true);
  expect(policiesOf("sandbox Allow-Same-Origin").isOpaque).toBe(false);
  expect(policiesOf("img-src *").isOpaque).toBe(false);
});

it.each([
  ["base-uri 'none'", `${SELF}/a/`, false],
  ["base-uri 'self'", `${SELF}/a/`, true],
  ["base-uri 'self'", "https://evil.example/", false],
  ["default-src 'none'", "https://cdn.example/", true],
])("%s lets %s be the base: %s", (policy, base, expected) => {
  expect(policiesOf(policy).allowsBase(new URL(base))).toBe(expected);
});

it.each<[policy: string, nonce: string, expected: boolean]>([
  ["img-src 'self'", "", true],
  ["style-src 'self'", "", false],
  ["style-src 'unsafe-inline'", "", true],
  ["style-src 'unsafe-inline' 'nonce-n'", "", false],
  ["style-src 'nonce-n'", "n", true],
  ["style-src 'nonce-n'", "m", false],
  ["style-src-elem 'unsafe-inline'; style-src 'none'", "", true],
  ["style-src-attr 'unsafe-inline'; style-src 'none'", "", false],
  ["default-src 'self'", "", false],
  ["style-src 'unsafe-inline', style-src 'self'", "", false],
])("%s lets a <style> with the nonce %j hold: %s", (policy, nonce, expected) => {
  expect(policiesOf(policy).allowsStyle(nonce)).toBe(expected);
});
