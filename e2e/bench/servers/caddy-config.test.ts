import { describe, expect, it } from "vitest";
import type { Site } from "../model.ts";
import { type CaddyConfigInput, caddyConfig, hostsOf } from "./caddy-config.ts";

const SITE: Site = {
  name: "news",
  url: "https://news.test/",
  hosts: [
    {
      name: "news.test",
      root: "/sites/news",
      cacheControl: [
        { path: "*.png", value: "max-age=60" },
        { path: "*", value: "no-cache" },
      ],
    },
  ],
  objects: 1,
  bytes: 1,
  codedBytes: 1,
  depth: 1,
};

const INPUT: CaddyConfigInput = {
  sites: [SITE],
  proxied: [{ name: "api.test", upstream: "127.0.0.1:9000" }],
  addresses: ["10.77.1.1", "10.77.1.2"],
  certificates: [],
  socket: "/run/admin.sock",
  clock: null,
  isShort: false,
};

function serverOf(input: CaddyConfigInput) {
  const config = caddyConfig(input) as {
    apps: { http: { servers: { origins: { listen: string[]; routes: object[] } } } };
  };
  return config.apps.http.servers.origins;
}

describe("caddyConfig", () => {
  it("listens on each address, with TLS 1.3 and all versions of HTTP", () => {
    expect(serverOf(INPUT)).toMatchObject({
      listen: ["10.77.1.1:443", "10.77.1.2:443"],
      protocols: ["h1", "h2", "h3"],
      tls_connection_policies: [{ protocol_min: "tls1.3" }],
    });
  });

  it("serves a host's files with the first caching rule that matches", () => {
    const [route] = serverOf(INPUT).routes;
    expect(route).toMatchObject({
      match: [{ host: ["news.test"] }],
      handle: [
        {
          routes: [
            { group: "caching", match: [{ path: ["*.png"] }] },
            { group: "caching", match: [{ path: ["*"] }] },
            { handle: [{}, { handler: "file_server", root: "/sites/news", precompressed_order: ["br", "gzip"] }] },
          ],
        },
      ],
    });
  });

  it("passes a proxied host on", () => {
    const route = JSON.stringify(serverOf(INPUT).routes.at(-1));
    expect(route).toContain('"host":["api.test"]');
    expect(route).toContain('"dial":"127.0.0.1:9000"');
  });

  it("sends another date where it is told to", () => {
    const routes = serverOf({ ...INPUT, clock: new Date(0) }).routes;
    expect(routes).toHaveLength(3);
    expect(JSON.stringify(routes[0])).toContain('"Date":["Thu, 01 Jan 1970 00:00:00 GMT"]');
  });
});

describe("hostsOf", () => {
  it("lists a host that two sites share once", () => {
    expect(hostsOf([SITE, SITE]).map(({ name }) => name)).toEqual(["news.test"]);
  });

  it("refuses two directories for one host", () => {
    const other = { ...SITE, hosts: SITE.hosts.map((host) => ({ ...host, root: "/sites/other" })) };
    expect(() => hostsOf([SITE, other])).toThrow("Cannot serve news.test: two sites have different files for it");
  });
});
