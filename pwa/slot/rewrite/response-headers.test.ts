import { describe, expect, it } from "vitest";
import type { HeaderList } from "../../../shared/http/heads.ts";
import { type HeaderContext, pageHeaders } from "./response-headers.ts";

const context: HeaderContext = {
  slotOrigin: "http://s1.localhost:8787",
  realOrigin: "https://example.org",
  slotSources: "http://*.localhost:8787",
  nonce: "n0",
  kind: "resource",
  url: "https://example.org/dir/page",
};

function rewrite(headers: HeaderList, kind: HeaderContext["kind"] = "resource"): HeaderList {
  return pageHeaders(headers, { ...context, kind }).headers;
}

describe("pageHeaders", () => {
  it("keeps what describes the content", () => {
    const headers: HeaderList = [
      ["content-type", "image/png"],
      ["content-disposition", 'attachment; filename="x"'],
      ["etag", '"1"'],
      ["x-custom", "1"],
    ];
    expect(rewrite(headers)).toEqual(headers);
  });

  it.each([
    "clear-site-data",
    "content-encoding",
    "cross-origin-embedder-policy",
    "nel",
    "set-cookie",
    "speculation-rules",
    "strict-transport-security",
    "x-frame-options",
    "attribution-reporting-register-source",
  ])("drops %s", (name) => expect(rewrite([[name, "x"]])).toEqual([]));

  it("drops links that act past the service worker", () => {
    expect(rewrite([["link", '<x;rel=icon>; rel=preconnect, "y, <z>; rel=dns-prefetch, <w>; rel=icon']])).toEqual([
      ["link", '"y, <w>; rel=icon'],
    ]);
    const value = '<https://cdn.example>; rel=preconnect, </a,b.css>; rel="preload"; as=style; title="x, y"';
    expect(rewrite([["link", value]])).toEqual([["link", '</a,b.css>; rel="preload"; as=style; title="x, y"']]);
    expect(rewrite([["link", "<x>; rel=dns-prefetch"]])).toEqual([]);
  });

  it("maps location and refresh", () => {
    expect(rewrite([["location", "other?x"]])).toEqual([["location", "http://s1.localhost:8787/dir/other?x"]]);
    expect(rewrite([["location", "https://b.example/"]])).toEqual([["location", "https://b.example/"]]);
    expect(rewrite([["refresh", "0; url=https://b.example/"]])).toEqual([
      ["refresh", "0; url=/.ropeway/go?url=https%3A%2F%2Fb.example%2F"],
    ]);
    expect(rewrite([["refresh", "1;url=/here"]])).toEqual([["refresh", "1; url=http://s1.localhost:8787/here"]]);
    expect(rewrite([["refresh", "30"]])).toEqual([["refresh", "30"]]);
  });

  it("shows scripts what they read of a response that nothing acts on", () => {
    const headers: HeaderList = [
      ["content-encoding", "unheard-of"],
      ["content-security-policy", "default-src 'self'"],
      ["x-frame-options", "deny"],
      ["location", "/other?x"],
    ];
    expect(rewrite(headers, "read")).toEqual(headers);
    expect(rewrite([["location", "https://example.org/x"]], "read")).toEqual([
      ["location", "http://s1.localhost:8787/x"],
    ]);
    expect(rewrite([["set-cookie", "x"]], "read")).toEqual([]);
  });

  it("gives documents both policies, the permissions and no DNS prefetch", () => {
    const headers = rewrite(
      [
        ["content-security-policy", "img-src 'self'"],
        ["permissions-policy", "sync-xhr=*"],
        ["connection-allowlist", "(response-origin)"],
      ],
      "document",
    );
    expect(headers.filter(([name]) => name === "content-security-policy").map(([, value]) => value)).toEqual([
      "img-src 'self' https://example.org",
      expect.stringContaining("object-src 'none'"),
    ]);
    expect(headers).toContainEqual(["permissions-policy", expect.stringMatching(/^sync-xhr=\*, sync-xhr=\(\)/)]);
    expect(headers.filter(([name]) => name === "connection-allowlist")).toEqual([
      ["connection-allowlist", expect.stringMatching(/^\("\*:.*;webrtc=block$/)],
    ]);
    expect(headers).toContainEqual(["x-dns-prefetch-control", "off"]);
  });

  it("closes the network to documents in opaque origins", () => {
    const result = pageHeaders([["content-security-policy", "sandbox allow-scripts"]], {
      ...context,
      kind: "document",
    });
    expect(result.opaque).toBe(true);
    expect(result.headers).toContainEqual(["content-security-policy", expect.stringMatching(/^default-src data:/)]);
  });

  it("gives workers the policies but no permissions", () => {
    const headers = rewrite([], "worker");
    expect(headers.map(([name]) => name)).toEqual(["content-security-policy"]);
  });

  it("says the referrer policy", () => {
    expect(pageHeaders([["referrer-policy", "foo, origin"]], context).referrerPolicy).toBe("origin");
  });
});
