import { describe, expect, it } from "vitest";
import { classifyHost, securityHeaders } from "./hosts.ts";

const BASE = "ropeway.example";
const hostsOf = (base: string | undefined, listed: readonly string[] = []) => ({ base, listed });
const classify = (url: string, base: string | undefined) => classifyHost(new URL(url), hostsOf(base));
const kindOf = (url: string, base: string | undefined = BASE) => classify(url, base).kind;

describe("hosts of a deployment", () => {
  it("knows the base host on any port and scheme", () => {
    expect(classify("https://ropeway.example/x", BASE)).toEqual({
      kind: "base",
      baseOrigin: "https://ropeway.example",
      slotHost: "ropeway.example",
      slotOrigins: [],
    });
    expect(classify("http://ropeway.example:8787/", "Ropeway.Example")).toEqual({
      kind: "base",
      baseOrigin: "http://ropeway.example:8787",
      slotHost: "ropeway.example:8787",
      slotOrigins: [],
    });
  });

  it("takes exactly one label below the base host for a slot", () => {
    expect(kindOf("https://s7k2.ropeway.example/")).toBe("slot");
    for (const url of [
      "https://a.b.ropeway.example/",
      "https://abc.ropeway.example/",
      "https://under_score.ropeway.example/",
      "https://evilropeway.example/",
      "https://ropeway.example.evil.example/",
      "https://example/",
      "http://127.0.0.1/",
    ]) {
      expect(kindOf(url), url).toBe("other");
    }
  });

  it("sends what is neither to the base host on the same port", () => {
    expect(classify("http://localhost:8787/x", "ropeway.localhost").baseOrigin).toBe("http://ropeway.localhost:8787");
  });

  it("has no slots where there is only one host", () => {
    for (const base of [undefined, ""]) {
      expect(classify("https://x.workers.dev/", base)).toEqual({
        kind: "base",
        baseOrigin: "https://x.workers.dev",
        slotHost: null,
        slotOrigins: [],
      });
    }
  });

  it("has slots on the hosts of a list alone, where there is one", () => {
    const hosts = hostsOf(BASE, ["a.example", "b.ropeway.example"]);
    const kinds = ["a.example", "b.ropeway.example", BASE, "s7k2.ropeway.example", "c.example"].map(
      (name) => classifyHost(new URL(`https://${name}/`), hosts).kind,
    );
    expect(kinds).toEqual(["slot", "slot", "base", "other", "other"]);
    expect(classifyHost(new URL("http://a.example:8787/"), hosts)).toEqual({
      kind: "slot",
      baseOrigin: "http://ropeway.example:8787",
      slotHost: null,
      slotOrigins: ["http://a.example:8787", "http://b.ropeway.example:8787"],
    });
  });
});

describe("headers of the app's own files", () => {
  const headersOf = (url: string, base: string | undefined = BASE) =>
    securityHeaders(new URL(url), kindOf(url, base), hostsOf(base));

  it("lets the shell frame slots, open its socket, and nothing else", () => {
    const headers = headersOf("http://ropeway.example:8787/");
    const policy = headers["content-security-policy"];
    expect(policy).toContain("frame-src 'self' http://*.ropeway.example:8787;");
    expect(policy).toContain("connect-src 'self' ws://ropeway.example:8787;");
    expect(policy).toContain("frame-ancestors 'self'");
    expect(policy).toContain("form-action http://*.ropeway.example:8787;");
    expect(policy).not.toContain("unsafe");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["referrer-policy"]).toBe("no-referrer");
    expect(headers["origin-agent-cluster"]).toBe("?1");
    expect(headers["cross-origin-resource-policy"]).toBe("same-site");
  });

  it("speaks TLS to its socket where the shell is served by TLS", () => {
    expect(headersOf("https://ropeway.example/")["content-security-policy"]).toContain("wss://ropeway.example;");
  });

  it("lets only the shell and other slots frame a slot", () => {
    const headers = headersOf("https://s7k2.ropeway.example/.ropeway/boot");
    const policy = headers["content-security-policy"];
    expect(policy).toContain("default-src 'none'");
    // What all slots have in common comes from the shell's host.
    expect(policy).toContain("script-src 'self' https://ropeway.example/.ropeway/;");
    expect(policy).toContain("connect-src 'self' https://ropeway.example/.ropeway/;");
    expect(policy).toMatch(/frame-ancestors https:\/\/ropeway\.example https:\/\/\*\.ropeway\.example$/);
    expect(headers["cross-origin-resource-policy"]).toBe("same-origin");
  });

  it("gives a service worker's script the whole host", () => {
    expect(headersOf("https://s7k2.ropeway.example/.ropeway/sw.js")["service-worker-allowed"]).toBe("/");
    expect(headersOf("https://s7k2.ropeway.example/.ropeway/boot")).not.toHaveProperty("service-worker-allowed");
  });

  it("lets the tunnel's worker compile wasm, and no window", () => {
    const policyOf = (path: string) => headersOf(`https://ropeway.example${path}`)["content-security-policy"];
    expect(policyOf("/.ropeway/tunnel-0123456789abcdef0123.js")).toContain("script-src 'self' 'wasm-unsafe-eval';");
    for (const path of ["/", "/.ropeway/tunnel.js", "/.ropeway/store-0123456789abcdef0123.js"])
      expect(policyOf(path)).not.toContain("wasm");
  });

  it("frames no slots where there are none, and has the way back to what forms led to", () => {
    const policy = headersOf("https://x.workers.dev/", "")["content-security-policy"];
    expect(policy).toContain("frame-src 'self';");
    expect(policy).toContain("form-action 'self';");
  });

  it("names the hosts of a list, and clears the storage of one where it is asked to", () => {
    const hosts = hostsOf(BASE, ["a.example", "b.example"]);
    const of = (url: string, kind: "base" | "slot") => securityHeaders(new URL(url), kind, hosts);
    const both = "https://a.example https://b.example";
    const shell = of("https://ropeway.example/", "base")["content-security-policy"];
    expect(shell).toContain(`frame-src 'self' ${both};`);
    expect(shell).toContain(`form-action ${both};`);
    const { "content-security-policy": policy } = of("https://a.example/.ropeway/boot", "slot");
    expect(policy?.endsWith(`frame-ancestors https://ropeway.example ${both}`)).toBe(true);
    expect(of("https://a.example/.ropeway/cleared", "slot")["clear-site-data"]).toBe('"storage"');
    for (const headers of [
      of("https://a.example/.ropeway/boot", "slot"),
      of("https://ropeway.example/.ropeway/cleared", "base"),
      headersOf("https://s7k2.ropeway.example/.ropeway/cleared"),
    ])
      expect(headers).not.toHaveProperty("clear-site-data");
  });
});
