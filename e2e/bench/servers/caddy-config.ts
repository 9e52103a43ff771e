/** Caddy's configuration (JSON) for the origins. Pure. */
import type { TestCertificate } from "../../fixtures/test-certificate.ts";
import type { Site, SiteHost } from "../model.ts";

/** A host whose answers come from an application server. */
export interface ProxiedHost {
  readonly name: string;
  /** `host:port` of a plain HTTP/1.1 server in the namespace of the origins. */
  readonly upstream: string;
}

export interface CaddyConfigInput {
  readonly sites: readonly Site[];
  readonly proxied: readonly ProxiedHost[];
  /** Addresses to listen on. */
  readonly addresses: readonly string[];
  readonly certificates: readonly TestCertificate[];
  /** Unix socket of the administration interface. */
  readonly socket: string;
  /** What all answers say of the time, or null for the truth. */
  readonly clock: Date | null;
  /** A connection ends with its answer, as in HTTP/1.0. For HTTP/1 alone. */
  readonly isShort: boolean;
}

/** What the administration interface expects as Host. */
export const ADMIN_HOST = "bench";

/** What a header says that any site may read the answer: fonts and modules of content networks need it. */
const SHARED = { "Access-Control-Allow-Origin": ["*"] };

export function caddyConfig(input: CaddyConfigInput): object {
  return {
    admin: { listen: `unix/${input.socket}`, origins: [ADMIN_HOST], config: { persist: false } },
    apps: {
      http: {
        grace_period: "1s",
        servers: {
          origins: {
            listen: input.addresses.map((address) => `${address}:443`),
            protocols: ["h1", "h2", "h3"],
            automatic_https: { disable: true },
            tls_connection_policies: [{ protocol_min: "tls1.3" }],
            routes: [
              ...clockRoute(input.clock),
              ...(input.isShort ? [{ handle: [setHeaders({ Connection: ["close"] })] }] : []),
              ...hostsOf(input.sites).map(fileRoute),
              ...input.proxied.map(proxyRoute),
            ],
          },
        },
      },
      tls: {
        certificates: { load_pem: input.certificates.map(({ cert, key }) => ({ certificate: cert, key })) },
      },
    },
  };
}

/** @throws Error when two sites want the same host from different directories. */
export function hostsOf(sites: readonly Site[]): SiteHost[] {
  const hosts = new Map<string, SiteHost>();
  for (const host of sites.flatMap((site) => site.hosts)) {
    const known = hosts.get(host.name);
    if (known !== undefined && known.root !== host.root) {
      throw new Error(`Cannot serve ${host.name}: two sites have different files for it`);
    }
    hosts.set(host.name, host);
  }
  return [...hosts.values()];
}

function clockRoute(clock: Date | null): object[] {
  return clock === null ? [] : [{ handle: [setHeaders({ Date: [clock.toUTCString()] })] }];
}

function fileRoute({ name, root, cacheControl }: SiteHost): object {
  const caching = cacheControl.map(({ path, value }) => ({
    // Of the routes of a group only the first that matches is taken.
    group: "caching",
    match: [{ path: [path] }],
    handle: [setHeaders({ "Cache-Control": [value] })],
  }));
  const files = {
    handler: "file_server",
    root,
    precompressed: { br: {}, gzip: {} },
    precompressed_order: ["br", "gzip"],
  };
  return hostRoute(name, [...caching, { handle: [setHeaders(SHARED), files] }]);
}

function proxyRoute({ name, upstream }: ProxiedHost): object {
  const proxy = { handler: "reverse_proxy", upstreams: [{ dial: upstream }], flush_interval: -1 };
  return hostRoute(name, [{ handle: [proxy] }]);
}

function hostRoute(name: string, routes: readonly object[]): object {
  return { match: [{ host: [name] }], terminal: true, handle: [{ handler: "subroute", routes }] };
}

function setHeaders(set: Readonly<Record<string, readonly string[]>>): object {
  return { handler: "headers", response: { set } };
}
