import { describe, expect, it } from "vitest";
import { allowsFrame, allowsSocket, heldPolicies, slotPolicy, transformPolicies } from "./policy.ts";

const context = {
  slotOrigin: "http://s1.localhost:8787",
  realOrigin: "https://example.org",
  slotSources: "http://*.localhost:8787",
  nonce: "n0",
};
const script = "http://s1.localhost:8787/.ropeway/page.js";

function transform(...values: string[]): string {
  return transformPolicies(values, context).policies.join(", ");
}

describe("transformPolicies", () => {
  it("lets 'self' and the real origin mean each other", () => {
    expect(transform("img-src 'self'")).toBe("img-src 'self' https://example.org");
    expect(transform("img-src example.org")).toBe("img-src example.org http://s1.localhost:8787");
    expect(transform("img-src https://example.org/pics/")).toContain("http://s1.localhost:8787/pics/");
    expect(transform("img-src https:")).toBe("img-src https: http://s1.localhost:8787");
    expect(transform("img-src cdn.example *")).toBe("img-src cdn.example *");
    expect(transform("img-src 'none'")).toBe("img-src 'none'");
  });

  it("admits the page script by its URL where 'unsafe-inline' may count", () => {
    expect(transform("script-src 'unsafe-inline'")).toBe(
      `script-src 'unsafe-inline'; script-src-elem 'unsafe-inline' ${script}`,
    );
  });

  it("admits the page script by nonce where nonces, hashes or strict-dynamic rule, or no inline script may run", () => {
    expect(transform("default-src 'none'")).toBe("default-src 'none'; script-src-elem 'nonce-n0'");
    expect(transform("script-src 'self'")).toContain("script-src-elem 'self' https://example.org 'nonce-n0'");
    for (const source of ["'nonce-x'", "'sha256-AAAA'", "'strict-dynamic'"])
      expect(transform(`script-src ${source}`)).toBe(`script-src ${source}; script-src-elem ${source} 'nonce-n0'`);
    expect(transform("script-src-elem 'nonce-x'; script-src *")).toBe(
      "script-src-elem 'nonce-x' 'nonce-n0'; script-src *",
    );
  });

  it("leaves policies alone that govern no scripts", () => {
    expect(transform("style-src 'unsafe-inline' a.example")).toBe("style-src 'unsafe-inline' a.example");
    expect(transform("base-uri 'none'; require-trusted-types-for 'script'")).toBe(
      "base-uri 'none'; require-trusted-types-for 'script'",
    );
  });

  it("drops what names the outside and what would break the slot", () => {
    const result = transformPolicies(
      ["report-uri /r; report-to g; frame-ancestors 'none'; upgrade-insecure-requests, img-src *"],
      context,
    );
    expect(result).toEqual({ policies: ["img-src *"], upgradesInsecureRequests: true, opaque: false, silent: false });
    const secure = { ...context, slotOrigin: "https://s1.ropeway.example" };
    expect(transformPolicies(["upgrade-insecure-requests"], secure)).toMatchObject({
      policies: ["upgrade-insecure-requests"],
      upgradesInsecureRequests: false,
    });
  });

  it("lets frames go to slots, unless there may be none", () => {
    expect(transform("frame-src video.example")).toBe("frame-src video.example 'self' http://*.localhost:8787");
    expect(transform("child-src video.example")).toContain("frame-src video.example 'self'");
    expect(transform("frame-src 'none'")).toBe("frame-src 'none'");
  });

  it("keeps the sandbox, and says when it makes the document opaque", () => {
    expect(transformPolicies(["sandbox allow-scripts"], context)).toMatchObject({
      policies: ["sandbox allow-scripts"],
      opaque: true,
    });
    expect(transformPolicies(["sandbox"], context)).toMatchObject({
      policies: ["sandbox allow-same-origin"],
      opaque: false,
    });
    expect(transformPolicies(["sandbox Allow-Scripts allow-same-origin"], context).opaque).toBe(false);
  });

  it.each([
    ["sandbox", true],
    ["sandbox allow-scripts", true],
    ["sandbox allow-same-origin", true],
    ["sandbox Allow-Scripts allow-same-origin", false],
    ["sandbox allow-scripts allow-same-origin, sandbox", true],
    ["script-src 'none'", false],
  ])("knows whether the page script can run under %j", (value, silent) => {
    expect(transformPolicies([value], context).silent).toBe(silent);
  });

  it("names the page script's Trusted Types policy", () => {
    expect(transform("trusted-types foo")).toBe("trusted-types foo ropeway");
    expect(transform("trusted-types 'none'")).toBe("trusted-types ropeway");
  });
});

describe("slotPolicy", () => {
  it("upgrades only where an https: slot shows an http: origin", () => {
    expect(slotPolicy(context)).not.toContain("upgrade");
    const mixed = { ...context, slotOrigin: "https://s1.ropeway.example", realOrigin: "http://example.org" };
    expect(slotPolicy(mixed)).toContain("upgrade-insecure-requests");
  });

  it("leaves no scheme that passes the service worker by", () => {
    const policy = slotPolicy(context);
    expect(policy).not.toMatch(/\bwss?:/);
    expect(policy).toMatch(/frame-src 'self' http:\/\/\*\.localhost:8787;/);
    expect(policy).toContain("object-src 'none'");
    expect(policy).not.toMatch(/worker-src[^;]*data:/);
  });
});

describe("sockets of a page", () => {
  const allows = (policy: string, url: string): boolean =>
    heldPolicies([policy]).every((each) => allowsSocket(each, url, "https://example.org"));

  it("are governed by connect-src, else by default-src, of each policy", () => {
    expect(
      heldPolicies(["default-src 'none'; connect-src 'self', script-src a.example", "default-src b.example"]),
    ).toEqual(["default-src 'none'; connect-src 'self'", "default-src b.example"]);
    expect(allows("default-src 'none'; connect-src 'self'", "wss://example.org/")).toBe(true);
    expect(allows("upgrade-insecure-requests", "wss://elsewhere.example/")).toBe(true);
    expect(allows("script-src 'none'", "wss://elsewhere.example/")).toBe(true);
  });

  it("may go where a source names them, or their host without a scheme", () => {
    for (const [sources, url] of [
      ["'self'", "wss://example.org/live"],
      ["*", "wss://elsewhere.example/"],
      ["wss:", "wss://elsewhere.example/"],
      ["ws:", "wss://elsewhere.example/"],
      ["wss://*.example:*", "wss://a.example:444/"],
      ["a.example", "wss://a.example/"],
    ] as const)
      expect([sources, allows(`connect-src ${sources}`, url)]).toEqual([sources, true]);
  });

  it("may go nowhere else", () => {
    for (const [sources, url] of [
      ["'none'", "wss://example.org/"],
      ["'self'", "wss://a.example.org/"],
      ["https:", "wss://a.example/"],
      ["https://a.example", "wss://a.example/"],
      ["wss://a.example", "ws://a.example/"],
      ["wss://a.example", "wss://a.example:444/"],
      ["", "wss://example.org/"],
    ] as const)
      expect([sources, allows(`connect-src ${sources}`, url)]).toEqual([sources, false]);
  });
});

describe("frames of other sites", () => {
  const allows = (policy: string, url: string) => allowsFrame(heldPolicies([policy]), url, "https://example.org");

  it("are shown where frame-src, else child-src, else default-src names them, in each policy", () => {
    for (const [policy, url] of [
      ["script-src 'none'", "https://a.example/"],
      ["frame-src a.example; child-src 'none'; default-src 'none'", "https://a.example/x"],
      ["child-src https://*.example; default-src 'none'", "https://b.a.example/"],
      ["default-src https:", "https://a.example/"],
      ["frame-src *", "http://a.example:81/"],
      ["frame-src http://a.example", "https://a.example/"],
      ["frame-src a.example/embed", "https://a.example/elsewhere"],
      ["frame-src https:; upgrade-insecure-requests", "http://a.example/"],
      ["frame-src 'self', default-src *", "https://example.org/"],
    ] as const)
      expect([policy, allows(policy, url)]).toEqual([policy, true]);
  });

  it("are not shown anywhere else", () => {
    for (const [policy, url] of [
      ["frame-src 'self'", "https://a.example/"],
      ["frame-src b.example; default-src *", "https://a.example/"],
      ["frame-src *, child-src b.example", "https://a.example/"],
      ["default-src 'self'", "https://a.example/"],
      ["frame-src https:", "http://a.example/"],
      ["frame-src a.example", "https://b.a.example/"],
      ["frame-src", "https://a.example/"],
    ] as const)
      expect([policy, allows(policy, url)]).toEqual([policy, false]);
  });
});
