/** Settings of a deployment (docs/options.md), and how they are read. A value that cannot be meant is refused in a sentence that says the mend. */
import { isStrongAccessKey, STRONGER_KEY } from "../../shared/access-key.ts";

/** Settings of a deployment: docs/options.md. */
export interface EdgeOptions {
  /** Without it nobody gets a tunnel. */
  readonly ROPEWAY_ACCESS_KEY?: string;
  /** Base host under which slots live (no port); unset where there is only one host. */
  readonly ROPEWAY_HOST?: string;
  /** Hosts of slots where there is no wildcard: `readSlotHosts`. */
  readonly ROPEWAY_SLOT_HOSTS?: string;
  /** "1": the edge may reach loopback and private addresses. */
  readonly ROPEWAY_ALLOW_PRIVATE?: string;
  /** "0": phones of this edge share no responses. */
  readonly ROPEWAY_SHARED_CACHE?: string;
  /** Addresses of block lists, parted by spaces; "0" for none, EasyPrivacy by default. */
  readonly ROPEWAY_BLOCK_LISTS?: string;
  /** "1": a proxy of one's own says who asks (`forwarded.ts`). */
  readonly ROPEWAY_BEHIND_PROXY?: string;
  /** "free" or "paid": what the platform's plan leaves room for; "paid" by default. */
  readonly ROPEWAY_PLAN?: string;
  /** Hosts that are there as long as the internet is, with spaces between; "0": the edge does not find out whether it is. */
  readonly ROPEWAY_KNOWN_HOSTS?: string;
  /** URL of the demo site when the edge runs locally. */
  readonly ROPEWAY_DEMO_URL?: string;
  /** Origins of the demo site, separated by spaces: reachable even though they are on loopback. */
  readonly ROPEWAY_DEMO_ORIGINS?: string;
}

/** Settings as an edge goes by them. Each is read where it is asked for. @throws Error that says what to set instead. */
export class EdgeSettings {
  readonly #options: EdgeOptions;

  constructor(options: EdgeOptions) {
    this.#options = options;
  }

  get plan(): PlanFeatures {
    return readPlan(this.#options.ROPEWAY_PLAN);
  }

  /** Addresses of block lists. */
  get blockLists(): readonly string[] {
    return readBlockLists(this.#options);
  }

  /** Whether phones of this edge share responses. */
  get sharesCache(): boolean {
    return this.plan.sharesCache && readSharedCache(this.#options.ROPEWAY_SHARED_CACHE);
  }

  /** Addresses that are not public, and that the edge may reach all the same. */
  get destinations(): { readonly allowPrivate: boolean; readonly isExempt: (url: URL) => boolean } {
    return {
      allowPrivate: this.#options.ROPEWAY_ALLOW_PRIVATE === "1",
      isExempt: demoExemption(this.#options.ROPEWAY_DEMO_ORIGINS),
    };
  }
}

/**
 * Where an edge with a server of its own listens. All settings are read, so that it does not start with one that cannot be meant.
 *
 * @param variable of the environment.
 * @throws Error that says what to set instead.
 */
export async function readListening(
  options: EdgeOptions,
  variable: (name: string) => string | undefined,
  readFile: (path: string) => Promise<string>,
) {
  if (options.ROPEWAY_HOST !== undefined) readBaseHost(options.ROPEWAY_HOST);
  for (const name of ["ROPEWAY_ALLOW_PRIVATE", "ROPEWAY_BEHIND_PROXY"] as const) readSwitch(name, options[name]);
  readSharedCache(options.ROPEWAY_SHARED_CACHE);
  // 0: any free port; the edge says which.
  const portText = variable("ROPEWAY_PORT");
  const port = portText === "0" ? 0 : readPort("ROPEWAY_PORT", portText, 8787);
  readPlan(options.ROPEWAY_PLAN);
  readBlockLists(options);
  const [certFile, keyFile] = [variable("ROPEWAY_TLS_CERT"), variable("ROPEWAY_TLS_KEY")];
  const tls = await readTls({ certFile, keyFile }, readFile);
  return { hostname: variable("ROPEWAY_IP") || "127.0.0.1", port, tls };
}

/** @param text ROPEWAY_HOST: a host name. */
export function readBaseHost(text: string): string {
  const refuse = (mend: string): Error => new Error(`Cannot start: ROPEWAY_HOST is "${text}": ${mend}`);
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (url === null || url.hostname === "" || !/^[\w.-]+$/.test(url.hostname))
    throw refuse("that is no host name; set one such as ropeway.example");
  if (/^[\d.]+$/.test(url.hostname))
    throw refuse("that is an address, and every site needs a name below it; set a name such as ropeway.example");
  // A host as URLs have it: xn--… for letters that DNS does not have.
  if (text.toLowerCase() === url.hostname) return url.hostname;
  const port = url.port === "" ? "" : `, and the port as ROPEWAY_PORT=${url.port}`;
  throw refuse(`set the name alone, ROPEWAY_HOST=${url.hostname}${port}`);
}

/** @param name of a variable that is 1, or not set. */
export function readSwitch(name: string, text: string | undefined): boolean {
  if (text === "1") return true;
  if (!text || text === "0") return false;
  throw new Error(`Cannot start: ${name} is "${text}": set it to 1, or not at all`);
}

/** @param text ROPEWAY_SHARED_CACHE. */
export function readSharedCache(text: string | undefined): boolean {
  if (text === "0") return false;
  if (!text || text === "1") return true;
  throw new Error(`Cannot start: ROPEWAY_SHARED_CACHE is "${text}": set it to 0, or not at all`);
}

/** @param name of the variable. */
export function readPort(name: string, text: string | undefined, fallback: number): number {
  if (!text) return fallback;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new Error(`Cannot start: ${name} is "${text}": set it to a port number, 1 to 65535`);
}

interface TlsFiles {
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
}

/**
 * @param files ROPEWAY_TLS_CERT and ROPEWAY_TLS_KEY.
 * @returns PEM texts, or null where none is set.
 */
export async function readTls(
  { certFile, keyFile }: TlsFiles,
  readFile: (path: string) => Promise<string>,
): Promise<{ readonly certificate: string; readonly key: string } | null> {
  if (!certFile && !keyFile) return null;
  if (!certFile || !keyFile) {
    const [set, missing] = certFile ? ["CERT", "KEY"] : ["KEY", "CERT"];
    throw new Error(`Cannot start: ROPEWAY_TLS_${set} is set without ROPEWAY_TLS_${missing}: set both, or neither`);
  }
  const certificate = await readPem("ROPEWAY_TLS_CERT", certFile, readFile);
  const key = await readPem("ROPEWAY_TLS_KEY", keyFile, readFile);
  if (!certificate.includes("-----BEGIN CERTIFICATE-----"))
    throw new Error(`Cannot start: ROPEWAY_TLS_CERT is no certificate: set it to the file of one, not to ${certFile}`);
  if (key.includes("ENCRYPTED"))
    throw new Error(`Cannot start: ROPEWAY_TLS_KEY has a password: take it away (openssl pkey -in ${keyFile} -out …)`);
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key))
    throw new Error(`Cannot start: ROPEWAY_TLS_KEY is no private key: set it to the file of one, not to ${keyFile}`);
  return { certificate, key };
}

async function readPem(name: string, file: string, readFile: (path: string) => Promise<string>): Promise<string> {
  const text = await readFile(file).catch((error: Error) => {
    throw new Error(`Cannot start: ${name} is set to a file that cannot be read: ${error.message}`);
  });
  if (text.includes("-----BEGIN ")) return text;
  throw new Error(`Cannot start: ${name} is no PEM file: set it to a file that has "-----BEGIN", not to ${file}`);
}

/** @param host without port. */
export function isLocalName(host: string): boolean {
  return /(?:^|\.)localhost\.?$/i.test(host) || /^127(?:\.\d+){3}$/.test(host) || host === "[::1]" || host === "::1";
}

/**
 * Faults that keep phones from the edge, for the person who starts it, with the mends.
 *
 * @param ip address that it listens on.
 */
export function startAdvice({ ROPEWAY_ACCESS_KEY = "", ROPEWAY_HOST = "" }: EdgeOptions, ip: string): string[] {
  return [keyAdvice(ROPEWAY_ACCESS_KEY), phoneAdvice(ip, ROPEWAY_HOST)].filter((line) => line !== null);
}

/** @returns null where the key pairs phones; else why it does not, and the mend. */
export function keyAdvice(accessKey: string): string | null {
  if (accessKey === "")
    return "Ropeway is not ready: no phone can be paired without an access key; set ROPEWAY_ACCESS_KEY";
  return isStrongAccessKey(accessKey) ? null : `Ropeway is not ready: no phone can be paired, since ${STRONGER_KEY}`;
}

/**
 * Advice for people who start an edge that listens beyond this machine, under a name that ends there.
 *
 * @param ip address that it listens on.
 * @returns null where phones can use it, or are not meant to.
 */
export function phoneAdvice(ip: string, baseHost: string): string | null {
  if (isLocalName(ip) || !isLocalName(baseHost)) return null;
  return `On other devices than this one, ${baseHost} means the device itself: none can use this edge yet. Phones need https and a name with a wildcard: set ROPEWAY_HOST to a name that leads here, as *.NAME does, and ROPEWAY_TLS_CERT and ROPEWAY_TLS_KEY to a certificate for both`;
}

// Block lists of an edge.

/** The list against trackers that browsers' blockers have on by default. */
const EASY_PRIVACY = "https://easylist.to/easylist/easyprivacy.txt";

/**
 * @returns their addresses; none where nothing is to be blocked, or the plan has no room for that.
 * @throws Error that says what to set instead.
 */
export function readBlockLists({ ROPEWAY_BLOCK_LISTS, ROPEWAY_PLAN }: EdgeOptions): readonly string[] {
  const text = ROPEWAY_BLOCK_LISTS?.trim() || EASY_PRIVACY;
  const urls = text === "0" ? [] : text.split(/\s+/);
  const wrong = urls.find((url) => !/^https?:$/.test(URL.parse(url)?.protocol ?? ""));
  if (wrong !== undefined) {
    const mend = "set it to addresses of lists, https://…, with spaces between them, or to 0";
    throw new Error(`Cannot start: ROPEWAY_BLOCK_LISTS has "${wrong}": ${mend}`);
  }
  return readPlan(ROPEWAY_PLAN).blocksTrackers ? urls : [];
}

/**
 * Work that is left out where the platform gives little. Cloudflare's free plan has 10 ms of processor time and 50 subrequests
 * an invocation, which each message of a WebSocket is (developers.cloudflare.com/workers/platform/limits, November 2026);
 * the paid one has 30 s by default, and 10,000. Both have 128 MB. Machines of one's own have no such limits.
 */
export type Plan = "free" | "paid";

interface PlanFeatures {
  /** The shared cache: to look something up, and to store it, are subrequests, too. */
  readonly sharesCache: boolean;
  /**
   * Coding against what the phone has: some milliseconds of zstd in wasm, and as many to seal and store the bodies for
   * it.
   */
  readonly codesAgainst: boolean;
  /** Coding pictures anew: tens to hundreds of milliseconds each. */
  readonly recodesPictures: boolean;
  /** Marking scripts' reads of where they are: a millisecond for each kilobyte or two of a script. */
  readonly marksReads: boolean;
  /** Block lists: some milliseconds to open one, and some hundred each week to compile it. */
  readonly blocksTrackers: boolean;
  /** All that are announced while one piece of a document is read belong to one invocation. */
  readonly pushes: number;
}

const PLANS: Readonly<Record<Plan, PlanFeatures>> = {
  free: {
    sharesCache: false,
    codesAgainst: false,
    recodesPictures: false,
    marksReads: false,
    blocksTrackers: false,
    pushes: 24,
  },
  paid: {
    sharesCache: true,
    codesAgainst: true,
    recodesPictures: true,
    marksReads: true,
    blocksTrackers: true,
    pushes: Number.POSITIVE_INFINITY,
  },
};

/**
 * @param text ROPEWAY_PLAN.
 * @throws Error that says what to set instead.
 */
export function readPlan(text: string | undefined): PlanFeatures {
  if (!text || text === "paid") return PLANS.paid;
  if (text === "free") return PLANS.free;
  throw new Error(`Cannot start: ROPEWAY_PLAN is "${text}": set it to free or paid, or not at all`);
}

/**
 * The demo site runs on loopback beside a local edge, so its origins, and only those, are exempt from the rule that
 * loopback is not reached.
 *
 * @param origins ROPEWAY_DEMO_ORIGINS: serialized origins, separated by spaces.
 */
export function demoExemption(origins: string | undefined): (url: URL) => boolean {
  const exempt = new Set((origins ?? "").split(" ").filter((origin) => origin !== ""));
  return (url) => exempt.has(url.origin);
}
