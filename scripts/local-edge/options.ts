import type { Plan } from "../../worker/front/edge-settings.ts";

/**
 * Base host of an edge that serves this machine only. Not `localhost` itself: a browser takes `x.localhost` for another
 * site than `localhost`, and forbids service workers in frames of other sites where it blocks third-party cookies (a
 * private window does). Hosts below `ropeway.localhost` are one site with it.
 */
export const LOCAL_HOST = "ropeway.localhost";

export type EdgeRuntime = "workerd" | "deno";

export interface EdgeOptions {
  readonly runtime: EdgeRuntime;
  /** Address to listen on; 127.0.0.1 by default, and then ::1 as well where there is one. */
  readonly ip?: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Base host under which slots live; LOCAL_HOST by default. "": there is only one host, whatever it is asked by. */
  readonly host?: string;
  /** Where slots live if not at any label below the base host, as ROPEWAY_SLOT_HOSTS. */
  readonly slotHosts?: string;
  /** Lets the edge reach loopback and private addresses. */
  readonly allowPrivate?: boolean;
  /** A proxy of one's own takes the requests for it, on https and its usual port. */
  readonly behindProxy?: boolean;
  /** Whether phones share public responses; they do by default. */
  readonly sharesCache?: boolean;
  /** Addresses of block lists; those of the edge by default. */
  readonly blockLists?: readonly string[];
  /** As the platform's plan would have it; "paid" by default. */
  readonly plan?: Plan;
  /** What is there as long as the internet is, on workerd with ports; by default the edge does not find out. */
  readonly knownHosts?: readonly string[] | "usual";
  /** A fresh one by default. */
  readonly accessKey?: string;
  /** The demo site, which may be reached although it is on loopback. */
  readonly demo?: DemoSite;
  /** PEM texts. */
  readonly tls?: TlsIdentity;
  /** A build, laid out as `dist`, of a former release say; that of this source by default. For workerd only. */
  readonly build?: string;
  /** Where cookies and other state are kept; nowhere beyond the edge's life by default. */
  readonly stateDirectory?: string;
  /** `address:port` where DevTools may attach to the edge; nowhere by default. */
  readonly inspector?: string;
  /** Takes what the edge's process says. */
  readonly log?: (line: string) => void;
}

export interface DemoSite {
  readonly url: string;
  /** Serialized http: origins. */
  readonly origins: readonly string[];
}

export interface TlsIdentity {
  readonly certificate: string;
  readonly key: string;
}

export interface RunningEdge {
  /** By a name that every program resolves, such as `http://localhost:8787`; the edge sends browsers on to `appUrl`. */
  readonly url: string;
  /**
   * Origin of the app, such as `http://ropeway.localhost:8787`. For people: its service worker is there, so that it starts
   * without the edge.
   */
  readonly appUrl: string;
  readonly accessKey: string;
  /** Of the process that is the edge: workerd or Deno. */
  readonly pid: number;
  /** Settles when the process has ended, however it came to that; the value says why. */
  readonly exited: Promise<string>;
  close(): Promise<void>;
}

/** Options with everything decided. */
export interface ResolvedEdgeOptions {
  /** Listening addresses, all on the same port. */
  readonly ips: readonly string[];
  readonly port: number;
  readonly host: string;
  readonly slotHosts: string;
  readonly allowPrivate: boolean;
  readonly behindProxy: boolean;
  readonly sharesCache: boolean;
  /** As ROPEWAY_BLOCK_LISTS has them. */
  readonly blockLists: string;
  readonly plan: Plan;
  /** As ROPEWAY_KNOWN_HOSTS has them. */
  readonly knownHosts: string;
  readonly accessKey: string;
  readonly demo: DemoSite | undefined;
  readonly tls: TlsIdentity | undefined;
  readonly build: string | undefined;
  readonly stateDirectory: string | undefined;
  readonly inspector?: string | undefined;
  readonly log: (line: string) => void;
}

/** The edge's settings by name, as bindings (workerd) or environment (Deno): docs/options.md. */
export function edgeSettings(options: ResolvedEdgeOptions): Record<string, string> {
  return {
    ROPEWAY_ACCESS_KEY: options.accessKey,
    ROPEWAY_HOST: options.host,
    ROPEWAY_SLOT_HOSTS: options.slotHosts,
    ROPEWAY_ALLOW_PRIVATE: options.allowPrivate ? "1" : "",
    ROPEWAY_BEHIND_PROXY: options.behindProxy ? "1" : "",
    ROPEWAY_SHARED_CACHE: options.sharesCache ? "" : "0",
    ROPEWAY_BLOCK_LISTS: options.blockLists,
    ROPEWAY_PLAN: options.plan,
    ROPEWAY_KNOWN_HOSTS: options.knownHosts,
    ROPEWAY_DEMO_URL: options.demo?.url ?? "",
    ROPEWAY_DEMO_ORIGINS: options.demo?.origins.join(" ") ?? "",
  };
}
