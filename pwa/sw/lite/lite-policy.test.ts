import { expect, test } from "vitest";
import { liteHeaders } from "./lite-document.ts";
import { liteContext } from "./lite-request.ts";

const context = { ...liteContext("https://ropeway.example", "http://a.example"), nonce: "" };

test("a document has a sandbox and no scripts, whatever its own policy says", () => {
  const headers = liteHeaders(
    [
      ["content-security-policy", "sandbox allow-scripts; script-src *; img-src 'self'; form-action https://x.example"],
      ["content-security-policy", "script-src 'unsafe-inline'"],
    ],
    context,
  );
  const policies = headers.get("content-security-policy")?.split(", ") ?? [];
  expect(policies[0]).toContain("sandbox allow-same-origin allow-forms allow-modals; ");
  expect(policies[0]).toContain("script-src 'none'");
  expect(policies.slice(1)).toEqual([
    "img-src 'self' http://a.example",
    // http: addresses would be blocked on the place's https: host.
    "upgrade-insecure-requests",
  ]);
});

test("where a policy names the page's own host, it means its place", () => {
  const policy = "img-src http://a.example/i/ http://x.example; style-src http://a.example";
  const headers = liteHeaders([["content-security-policy", policy]], context);
  const place = "https://ropeway.example/~http:a.example/";
  expect(headers.get("content-security-policy")).toContain(
    `img-src http://a.example/i/ http://x.example ${place}i/; style-src http://a.example ${place}`,
  );
});

test("none of an origin's fields acts on the app's origin", () => {
  const headers = liteHeaders(
    [
      ["set-cookie", "a=b"],
      ["clear-site-data", `"*"`],
      ["refresh", "0;url=/x"],
      ["link", "</x>; rel=preload"],
      ["service-worker-allowed", "/"],
      ["speculation-rules", `"/x"`],
      ["strict-transport-security", "max-age=1"],
      ["referrer-policy", "origin"],
    ],
    context,
  );
  expect([...headers.keys()].sort()).toEqual([
    "connection-allowlist",
    "content-security-policy",
    "content-type",
    "cross-origin-resource-policy",
    "permissions-policy",
    "referrer-policy",
    "x-content-type-options",
    "x-dns-prefetch-control",
  ]);
});
