/** Hosts of a deployment that requests come to, and the headers that keep them apart in the browser. */
import { RESERVED_PATH } from "../../shared/subprotocol.ts";
import { isPublicSuffix, ownerOf } from "../upstream/site.ts";
import type { EdgeOptions } from "./edge-settings.ts";

type HostKind = "base" | "slot" | "other";

/** Names without ports, as ROPEWAY_HOST and ROPEWAY_SLOT_HOSTS have them (`deploymentHosts`). */
interface DeploymentHosts {
  /** Undefined or "" where there is only one host. */
  readonly base: string | undefined;
  /** Where slots live; empty where they do at any label below the base host. */
  readonly listed: readonly string[];
}

interface ClassifiedHost {
  readonly kind: HostKind;
  /** Origin of the shell. */
  readonly baseOrigin: string;
  /** Host and port below which slots live, or null where there is only one host, or a list. */
  readonly slotHost: string | null;
  /** Origins of slots, where there is a list. */
  readonly slotOrigins: readonly string[];
}

const SLOT_LABEL = /^[a-z0-9]{4,32}$/;

/** Its name tells its content. */
const TUNNEL_SCRIPT = /^\/\.ropeway\/tunnel-[0-9a-f]{20}\.js$/;

/** Files that slots load of the app's host, and read: their names tell their content. */
const FOR_SLOTS = /^\/\.ropeway\/(?:view|pdf|pdf-worker|words[\w-]{0,9})-[0-9a-f]{20}\.js$/;

/** Its answer clears a slot's storage, but for cookies (`pwa/slot/documents/wipe.ts`). */
const CLEARED_PATH = `${RESERVED_PATH}cleared`;

export function classifyHost(url: URL, hosts: DeploymentHosts): ClassifiedHost {
  if (!hosts.base) return { kind: "base", baseOrigin: url.origin, slotHost: null, slotOrigins: [] };
  const port = url.port === "" ? "" : `:${url.port}`;
  const base = hosts.base.toLowerCase();
  const isListed = hosts.listed.length > 0;
  const known = {
    baseOrigin: `${url.protocol}//${base}${port}`,
    slotHost: isListed ? null : `${base}${port}`,
    slotOrigins: hosts.listed.map((host) => `${url.protocol}//${host}${port}`),
  };
  if (url.hostname === base) return { kind: "base", ...known };
  if (isListed) return { kind: hosts.listed.includes(url.hostname) ? "slot" : "other", ...known };
  const label = url.hostname.endsWith(`.${base}`) ? url.hostname.slice(0, -base.length - 1) : "";
  return { kind: SLOT_LABEL.test(label) ? "slot" : "other", ...known };
}

/** Sources of all slots, for a policy; "" for none. */
function slotSources(url: URL, { slotHost, slotOrigins }: ClassifiedHost): string {
  return slotHost === null ? slotOrigins.join(" ") : `${url.protocol}//*.${slotHost}`;
}

/** Response headers for the app's own files, by the kind of host they are served on. */
export function securityHeaders(url: URL, kind: HostKind, hosts: DeploymentHosts): Record<string, string> {
  const classified = classifyHost(url, hosts);
  const { baseOrigin, slotOrigins } = classified;
  const slots = ` ${slotSources(url, classified)}`.trimEnd();
  const socket = baseOrigin.replace(/^http/, "ws");
  // The tunnel's worker decodes by wasm; no window does.
  const wasm = TUNNEL_SCRIPT.test(url.pathname) ? " 'wasm-unsafe-eval'" : "";
  const common = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "origin-agent-cluster": "?1",
    "cross-origin-resource-policy": kind === "slot" ? "same-origin" : "same-site",
  };
  // The app has no form. The way back to what a page's form led to is one of the app's, as browsers count.
  const policy =
    kind === "slot"
      ? `default-src 'none'; script-src 'self' ${baseOrigin}${RESERVED_PATH}; style-src 'self' 'unsafe-inline'; worker-src 'self'; connect-src 'self' ${baseOrigin}${RESERVED_PATH}; base-uri 'none'; form-action 'none'; frame-ancestors ${baseOrigin}${slots}`
      : `default-src 'self'; script-src 'self'${wasm}; style-src 'self'; img-src 'self' data: blob:; connect-src 'self' ${socket}; worker-src 'self'; frame-src 'self'${slots}; object-src 'none'; base-uri 'none'; form-action${slots || " 'self'"}; frame-ancestors 'self'`;
  // No page that opens the app gets a handle on its window.
  const opener: Record<string, string> = kind === "slot" ? {} : { "cross-origin-opener-policy": "same-origin" };
  const scope: Record<string, string> = url.pathname.endsWith("/sw.js") ? { "service-worker-allowed": "/" } : {};
  // No other value: "cookies" is for all hosts of the site, "cache" holds Chromium up.
  const clears = kind === "slot" && slotOrigins.length > 0 && url.pathname === CLEARED_PATH;
  const cleared: Record<string, string> = clears ? { "clear-site-data": '"storage"' } : {};
  const shared: Record<string, string> = FOR_SLOTS.test(url.pathname) ? { "access-control-allow-origin": "*" } : {};
  return { ...common, ...shared, ...opener, ...scope, ...cleared, "content-security-policy": policy };
}

// ROPEWAY_SLOT_HOSTS: hosts for slots where there is no wildcard.

/** The app's policy names each of them, and phones get that with the app: some 40 bytes a host. */
const MOST_HOSTS = 100;

/** A host for the page that is left, and one for the page that comes. */
const FEWEST_HOSTS = 2;

/** `s[01-24].example` */
const RANGE = /^(?<before>[^[\]]*)\[(?<first>\d+)-(?<last>\d+)\](?<after>[^[\]]*)$/;

/**
 * @param text hosts without ports, between commas or spaces; one with a range in it stands for each number of that, with
 *   as many digits as the first has.
 * @param baseHost ROPEWAY_HOST.
 * @returns none where there is no list.
 * @throws Error that says the mend.
 */
export function readSlotHosts(text: string | undefined, baseHost: string | undefined): readonly string[] {
  const entries = (text ?? "").split(/[\s,]+/).filter((entry) => entry !== "");
  if (entries.length === 0) return [];
  if (!baseHost) throw refusal("is set without ROPEWAY_HOST: set that too, to the host that the app is opened at");
  const base = baseHost.toLowerCase();
  if (isPublicSuffix(base))
    throw refusal(
      `cannot be one site with ${base}, which is on the public suffix list: set ROPEWAY_HOST to a host below`,
    );
  const hosts = entries.flatMap(expanded);
  for (const [index, host] of hosts.entries()) {
    if (host === base) throw refusal(`names ${host}, which is the app's own: take it out`);
    if (hosts.indexOf(host) !== index) throw refusal(`names ${host} twice: take one out`);
    if (ownerOf(host) !== ownerOf(base))
      throw refusal(`names ${host}, which is another site than ${base}: take hosts below ${ownerOf(base)}`);
  }
  if (hosts.length < FEWEST_HOSTS) throw refusal(`names ${hosts.length} host: name ${FEWEST_HOSTS} or more, better 24`);
  if (hosts.length > MOST_HOSTS) throw refusal(`names ${hosts.length} hosts: name ${MOST_HOSTS} at most`);
  return hosts;
}

let latest: { readonly text: string | undefined; readonly hosts: DeploymentHosts } | null = null;

/**
 * As an edge is set up; read once.
 *
 * @throws Error as `readSlotHosts`.
 */
export function deploymentHosts({ ROPEWAY_HOST: base, ROPEWAY_SLOT_HOSTS: text }: EdgeOptions): DeploymentHosts {
  if (latest !== null && latest.text === text && latest.hosts.base === base) return latest.hosts;
  latest = { text, hosts: { base, listed: readSlotHosts(text, base) } };
  return latest.hosts;
}

/** @throws Error where it cannot be a host. */
function expanded(entry: string): string[] {
  const { before = "", first = "", last = "", after = "" } = RANGE.exec(entry)?.groups ?? {};
  const [from, to] = [Number(first), Number(last)];
  if (first === "") return [hostName(entry)];
  if (to < from) throw refusal(`has ${entry}, a range that ends before it begins: turn it round`);
  if (to - from >= MOST_HOSTS) throw refusal(`has ${entry}: name ${MOST_HOSTS} hosts at most`);
  return Array.from({ length: to - from + 1 }, (_, index) =>
    hostName(`${before}${String(from + index).padStart(first.length, "0")}${after}`),
  );
}

function hostName(text: string): string {
  const url = URL.parse(`https://${text}`);
  const isName = url !== null && /^[\w.-]+$/.test(url.hostname) && !/^[\d.]+$/.test(url.hostname);
  if (isName && url.hostname === text.toLowerCase()) return url.hostname;
  const mend = isName ? `write ${url.hostname}` : "write names such as s1.ropeway.example or s[1-8].ropeway.example";
  throw refusal(`has ${text}, which is no host name: ${mend}`);
}

function refusal(why: string): Error {
  return new Error(`Cannot start: ROPEWAY_SLOT_HOSTS ${why}`);
}

// Facts that files of the app are told where slots have a list of hosts: it is not in their names, as with a wildcard. The app's
// page gets the list, so that page and policy have the same one, and its service worker what tells one list from another:
// it fetches the page anew. A slot's files get the origin of the app.

type Tell = (text: string, hosts: ClassifiedHost) => string;

const inPage: Tell = (text, { slotOrigins }) =>
  text.replace("<head>", () => `<head>\n    <meta name="ropeway-slots" content="${slotOrigins.join(" ")}" />`);

const inAppWorker: Tell = (text, hosts) => `self.ropewayList=${JSON.stringify(versionOf(hosts))};\n${text}`;

const inSlotPage: Tell = (text, { baseOrigin }) =>
  text.replace("<script ", () => `<script data-shell="${baseOrigin}" `);

const inSlotWorker: Tell = (text, { baseOrigin, slotOrigins }) =>
  `self.ropewayShell=${JSON.stringify(baseOrigin)};self.ropewaySlots=${JSON.stringify(slotOrigins.join(" "))};\n${text}`;

const TOLD: Readonly<Record<HostKind, ReadonlyMap<string, Tell>>> = {
  base: new Map([
    ["/", inPage],
    ["/sw.js", inAppWorker],
  ]),
  slot: new Map([
    [`${RESERVED_PATH}boot`, inSlotPage],
    [`${RESERVED_PATH}frame`, inSlotPage],
    [`${RESERVED_PATH}wipe`, inSlotPage],
    [`${RESERVED_PATH}sw.js`, inSlotWorker],
  ]),
  other: new Map(),
};

interface Telling {
  /** Differs where what is told does. */
  readonly version: string;
  /** @returns the file's text with what it is told. */
  tell(text: string): string;
}

/** @returns null for a file that is as it was built. */
export function tellingOf(path: string, hosts: ClassifiedHost): Telling | null {
  const tell = hosts.slotOrigins.length === 0 ? undefined : TOLD[hosts.kind].get(path);
  return tell === undefined ? null : { version: versionOf(hosts), tell: (text) => tell(text, hosts) };
}

/** @param serve answers with the file as it was built. */
export async function serveTold(
  { version, tell }: Telling,
  request: Request,
  serve: (request: Request) => Promise<Response>,
): Promise<Response> {
  const ending = `.${version}"`;
  const known = request.headers.get("if-none-match");
  const headers = new Headers(request.headers);
  for (const name of ["if-none-match", "if-modified-since"]) headers.delete(name);
  if (known?.endsWith(ending) === true) headers.set("if-none-match", `${known.slice(0, -ending.length)}"`);
  const file = await serve(new Request(request, { headers }));
  const answer = new Response(file.ok ? tell(await file.text()) : null, file);
  const etag = file.headers.get("etag");
  if (etag !== null) answer.headers.set("etag", etag.replace(/"$/, ending));
  for (const name of ["content-length", "last-modified"]) answer.headers.delete(name);
  return answer;
}

/** FNV-1a, 32 bits: nobody gains by another list of the same. */
function versionOf({ baseOrigin, slotOrigins }: ClassifiedHost): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode([baseOrigin, ...slotOrigins].join(" ")))
    hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

// How long browsers may keep a file of the app without a look at the edge.

/** Browsers look for new ones whenever a page is opened, mostly over a slow link; at least every day whatever we say. */
const SERVICE_WORKERS: ReadonlySet<string> = new Set(["/sw.js", `${RESERVED_PATH}sw.js`]);

/** Files whose name has their content's hash, below which there is never anything else. */
const NAMED_BY_CONTENT = /-[0-9a-f]{20}\.(?:js|css|json)$/;

/** Cache-Control of a file of the app; null where the platform's own is right. */
export function freshnessOf(path: string): string | null {
  if (SERVICE_WORKERS.has(path)) return "public, max-age=3600";
  return NAMED_BY_CONTENT.test(path) ? "public, max-age=31536000, immutable" : null;
}
