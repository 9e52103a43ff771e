/** workerd's configuration (Cap'n Proto text) for a local edge. Pure: files are named, not read. */
import { isIPv6 } from "node:net";
import { join } from "node:path";
import { ALLOWED_RANGES, REFUSED_RANGES } from "../../worker/upstream/destination.ts";
import type { WorkerSettings } from "../build/worker.ts";
import { edgeSettings, type ResolvedEdgeOptions } from "./options.ts";

export interface AssetEntry {
  readonly etag: string;
  readonly contentType: string;
}

export interface WorkerdConfigInput {
  readonly options: ResolvedEdgeOptions;
  /** Where Durable Objects are kept. */
  readonly stateDirectory: string;
  readonly settings: WorkerSettings;
  /** By path below `appDirectory`. */
  readonly assets: Readonly<Record<string, AssetEntry>>;
  readonly appDirectory: string;
  /** The built workers' sources. */
  readonly sources: {
    readonly worker: string;
    /** What it imports beside its script: names of files that are beside the configuration. */
    readonly wasm: readonly string[];
    readonly assets: string;
    readonly egress: string;
    readonly cache: string;
  };
  /** Where requests for names below localhost go, if the edge may reach loopback. */
  readonly loopbackProxy?: string;
  /** PEM certificates to trust beside those that browsers trust. */
  readonly trustedCertificates: readonly string[];
}

/** A name that Cap'n Proto's schema defines, printed without quotes. */
class Enumerant {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** The contents of a file, by its path from the configuration. */
class Embedded {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }
}

type Value =
  | string
  | boolean
  | Embedded
  | Enumerant
  | readonly Value[]
  | { readonly [name: string]: Value | undefined };

export function workerdConfig(input: WorkerdConfigInput): string {
  const { options, settings } = input;
  const services: Value[] = [
    { name: "edge", worker: edgeWorker(input) },
    {
      name: "assets",
      worker: {
        modules: [{ name: "assets.js", esModule: input.sources.assets }],
        compatibilityDate: settings.compatibilityDate,
        bindings: [
          { name: "FILES", service: "files" },
          { name: "MANIFEST", json: JSON.stringify(input.assets) },
        ],
      },
    },
    ...cacheService(input),
    { name: "files", disk: { path: input.appDirectory, allowDotfiles: true } },
    { name: "state", disk: { path: input.stateDirectory, writable: true } },
    { name: "network", network: network(input) },
  ];
  if (hasEgress(input)) services.push(...egressServices(input));

  const config = { services, sockets: options.ips.map((ip, index) => socket(`listen-${index}`, ip, options)) };
  return `using Workerd = import "/workerd/workerd.capnp";\nconst config :Workerd.Config = ${print(config)};\n`;
}

function hasEgress({ options, loopbackProxy }: WorkerdConfigInput): boolean {
  return options.demo !== undefined || loopbackProxy !== undefined;
}

function edgeWorker(input: WorkerdConfigInput): Value {
  const { options, settings, sources } = input;
  return {
    modules: [
      { name: "worker.js", esModule: sources.worker },
      ...sources.wasm.map((name) => ({ name, wasm: new Embedded(name) })),
    ],
    compatibilityDate: settings.compatibilityDate,
    compatibilityFlags: settings.compatibilityFlags,
    bindings: [
      { name: "ASSETS", service: "assets" },
      ...settings.durableObjects.map(({ binding, className }) => ({
        name: binding,
        durableObjectNamespace: className,
      })),
      ...settings.durableObjects.map(({ binding, className }) => ({
        name: `${binding}_DIRECTORY`,
        text: join(input.stateDirectory, keyOf(className)),
      })),
      { name: "STATE_DISK", service: "state" },
      ...Object.entries(edgeSettings(options)).map(([name, text]) => ({ name, text })),
    ],
    durableObjectNamespaces: settings.durableObjects.map(({ className }) => ({
      className,
      uniqueKey: keyOf(className),
      enableSql: true,
    })),
    durableObjectStorage: { localDisk: "state" },
    globalOutbound: hasEgress(input) ? "egress" : "network",
    cacheApiOutbound: "cache",
  };
}

function cacheService({ settings, sources }: WorkerdConfigInput): Value[] {
  const { compatibilityDate } = settings;
  return [{ name: "cache", worker: { modules: [{ name: "cache.js", esModule: sources.cache }], compatibilityDate } }];
}

/** Names the directory of a class below that of the state. */
function keyOf(className: string): string {
  return `ropeway-${className}`;
}

/**
 * workerd applies the lists to addresses, after name resolution, so a public name cannot lead to a private address.
 * Where an address is in ranges of both, the smaller range decides. Its own "public" knows fewer special ranges.
 */
function network({ options, trustedCertificates }: WorkerdConfigInput): Value {
  return {
    ...(options.allowPrivate ? { allow: ["public", "private"] } : { allow: ALLOWED_RANGES, deny: REFUSED_RANGES }),
    tlsOptions: { trustBrowserCas: true, trustedCertificates },
  };
}

function egressServices({ options, settings, sources, loopbackProxy }: WorkerdConfigInput): Value[] {
  const hosts = (options.demo?.origins ?? []).map((origin) => new URL(origin).host);
  const loopback = loopbackProxy === undefined ? [] : [loopbackProxy];
  const bindingOf = (index: number): string => `ORIGIN_${index}`;
  return [
    {
      name: "egress",
      worker: {
        modules: [{ name: "egress.js", esModule: sources.egress }],
        compatibilityDate: settings.compatibilityDate,
        // Plain TCP (`cloudflare:sockets`) goes to the network unseen, under its list.
        compatibilityFlags: ["connect_pass_through", "experimental"],
        bindings: [
          { name: "ORIGINS", json: JSON.stringify(Object.fromEntries(hosts.map((host, i) => [host, bindingOf(i)]))) },
          ...hosts.map((_, index) => ({ name: bindingOf(index), service: `origin-${index}` })),
          ...loopback.map(() => ({ name: "LOOPBACK", service: "loopback" })),
        ],
        globalOutbound: "network",
      },
    },
    ...hosts.map((host, index) => ({
      name: `origin-${index}`,
      // Few systems resolve names below localhost; RFC 6761 section 6.3 says where they lead.
      external: { address: host.replace(/^[^:]*localhost(?=:|$)/, "127.0.0.1"), http: {} },
    })),
    ...loopback.map((address) => ({
      name: "loopback",
      external: { address, http: { style: new Enumerant("proxy") } },
    })),
  ];
}

function socket(name: string, ip: string, { port, tls }: ResolvedEdgeOptions): Value {
  const address = `${isIPv6(ip) ? `[${ip}]` : ip}:${port}`;
  const keypair = tls && { privateKey: tls.key, certificateChain: tls.certificate };
  const minVersion = new Enumerant("tls1Dot3");
  return {
    name,
    address,
    service: "edge",
    ...(keypair ? { https: { options: {}, tlsOptions: { keypair, minVersion } } } : { http: {} }),
  };
}

/** Cap'n Proto's text format takes JSON's strings but for their \u escapes. */
function print(value: Value): string {
  if (typeof value === "string") return quote(value);
  if (typeof value === "boolean") return String(value);
  if (value instanceof Enumerant) return value.name;
  if (value instanceof Embedded) return `embed ${quote(value.path)}`;
  if (Array.isArray(value)) return `[${value.map(print).join(", ")}]`;
  const fields = Object.entries(value).filter((field): field is [string, Value] => field[1] !== undefined);
  return `(${fields.map(([name, field]) => `${name} = ${print(field)}`).join(", ")})`;
}

function quote(text: string): string {
  const escapes: Readonly<Record<string, string>> = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those have to be escaped.
  const escaped = text.replace(/["\\\u0000-\u001f\u007f]/g, (char) => {
    return escapes[char] ?? `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
  return `"${escaped}"`;
}
