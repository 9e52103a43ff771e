import { describe, expect, it } from "vitest";
import type { ResolvedEdgeOptions } from "./options.ts";
import { type WorkerdConfigInput, workerdConfig } from "./workerd-config.ts";

const options: ResolvedEdgeOptions = {
  ips: ["127.0.0.1", "::1"],
  port: 8787,
  host: "localhost",
  slotHosts: "",
  allowPrivate: false,
  behindProxy: false,
  sharesCache: true,
  blockLists: "",
  plan: "paid",
  knownHosts: "0",
  accessKey: "key",
  demo: undefined,
  tls: undefined,
  build: undefined,
  stateDirectory: undefined,
  log: () => {},
};

function configFor(
  change: Partial<ResolvedEdgeOptions>,
  worker = "export default {};",
  more: Partial<WorkerdConfigInput> = {},
): string {
  return workerdConfig({
    ...more,
    options: { ...options, ...change },
    stateDirectory: "/state",
    settings: {
      compatibilityDate: "2026-08-01",
      compatibilityFlags: ["nodejs_compat"],
      durableObjects: [{ binding: "TUNNEL", className: "TunnelObject" }],
    },
    assets: {},
    appDirectory: "/app",
    sources: { worker, wasm: ["zstd.wasm"], assets: "", egress: "", cache: "" },
    trustedCertificates: ["-----BEGIN CERTIFICATE-----"],
  });
}

describe("workerdConfig", () => {
  it("reaches public addresses only, also those that embed an IPv4 address", () => {
    const config = configFor({});
    expect(config).toContain('network = (allow = ["0.0.0.0/0", "2000::/3", "64:ff9b::/96"], deny = ["0.0.0.0/8", ');
    for (const range of ["198.18.0.0/15", "64:ff9b::a00:0/104", "64:ff9b::c633:6400/120", "2002:a00::/24"]) {
      expect(config).toContain(`"${range}"`);
    }
  });

  it("reaches private addresses where that is allowed", () => {
    expect(configFor({ allowPrivate: true })).toContain('network = (allow = ["public", "private"]');
  });

  it("leads to the demo's origins without opening loopback", () => {
    const demo = {
      url: "http://demo.localhost:8788/",
      origins: ["http://demo.localhost:8788", "http://127.0.0.2:8788"],
    };
    const config = configFor({ demo });
    expect(config).toContain('network = (allow = ["0.0.0.0/0", ');
    expect(config).toContain('(name = "origin-0", external = (address = "127.0.0.1:8788", http = ()))');
    expect(config).toContain('(name = "origin-1", external = (address = "127.0.0.2:8788", http = ()))');
    expect(config).toContain('globalOutbound = "egress"');
  });

  it("sends names below localhost to the proxy that finds them, if there is one", () => {
    const config = configFor({ allowPrivate: true }, undefined, { loopbackProxy: "unix:/private/loopback.sock" });
    expect(config).toContain('external = (address = "unix:/private/loopback.sock", http = (style = proxy))');
    expect(config).toContain('(name = "LOOPBACK", service = "loopback")');
    expect(config).toContain('globalOutbound = "egress"');
    expect(configFor({})).toContain('globalOutbound = "network"');
  });

  it("listens on every address", () => {
    const config = configFor({});
    expect(config).toContain('address = "127.0.0.1:8787"');
    expect(config).toContain('address = "[::1]:8787"');
  });

  it("serves TLS with the given identity", () => {
    const config = configFor({ tls: { certificate: "CERT", key: "KEY" } });
    expect(config).toContain('keypair = (privateKey = "KEY", certificateChain = "CERT"), minVersion = tls1Dot3');
    expect(config).not.toContain("http = ()");
  });

  it("writes any source text as a string of Cap'n Proto", () => {
    expect(configFor({}, 'a"b\\c\nd\u0000é')).toContain('esModule = "a\\"b\\\\c\\nd\\x00é"');
  });
});
