import { type Context, Hono } from "hono";
import { STRONGER_KEY } from "../../shared/access-key.ts";
import { BoundedMap } from "../../shared/bounded-map.ts";
import { type Clock, epochClock, pause } from "../../shared/clock.ts";
import { later } from "../../shared/errors.ts";
import { DOWN_PATH, PROTOCOL_FIELD, UP_PATH } from "../../shared/fetch-road/record.ts";
import {
  CONFIG_PATH,
  DEVICES_PATH,
  type EdgeConfig,
  HEALTH_PATH,
  LITE_PATH,
  PAIR_PATH,
  parseOffer,
  RESERVED_PATH,
  SUBPROTOCOL,
  TOKEN_PATH,
  TUNNEL_PATH,
} from "../../shared/subprotocol.ts";
import { VERSION } from "../../shared/version.ts";
import type { PairingAnswer, PairingRequest } from "../devices/device-directory.ts";
import { askedPhone, nameByUserAgent, tunnelIsThere, unavailable } from "../devices/phone-door.ts";
import { isPublic, parseAddress } from "../upstream/destination.ts";
import { type EdgeOptions, isLocalName, readBlockLists } from "./edge-settings.ts";
import { classifyHost, deploymentHosts, freshnessOf, securityHeaders, serveTold, tellingOf } from "./hosts.ts";

/**
 * Answers of the edge over plain HTTP: the app's files, pairing, the tunnel's handshake, health. Runtime neutral; the
 * entry files bring assets and sockets. No page of the web is ever served from here.
 */

interface RouterRuntime<Env extends EdgeOptions> {
  /** A file of the built app by path, or a 404. */
  serveAsset(path: string, env: Env, request: Request): Promise<Response>;
  /** Answers a request in the name of a device to which this edge has issued a token (`phone-door.ts`). */
  askPhone(deviceId: string, env: Env, request: Request): Promise<Response>;
  /** Asks the directory of devices. */
  pair(request: PairingRequest, env: Env): Promise<PairingAnswer>;
  peerAddress(request: Request): Peer;
}

const BEARER = "Bearer ";

type Routes<Env extends EdgeOptions> = Hono<{ Bindings: Env }>;

export function createRouter<Env extends EdgeOptions & object>(runtime: RouterRuntime<Env>): Routes<Env> {
  const app: Routes<Env> = new Hono<{ Bindings: Env }>();

  // A platform that only runs requests has no start to check settings at.
  app.use((context, next) => {
    try {
      deploymentHosts(context.env);
    } catch (error) {
      return Promise.resolve(context.json({ error: (error as Error).message }, 500));
    }
    return next();
  });

  const askedUrl = urlOf(runtime);

  // Slots hold pages of the web, which have no business with pairing and tunnels.
  for (const path of [PAIR_PATH, TOKEN_PATH, TUNNEL_PATH, `${TUNNEL_PATH}/*`, `${DEVICES_PATH}/*`]) {
    app.use(path, (context, next) => {
      const { kind } = classifyHost(askedUrl(context), deploymentHosts(context.env));
      return kind === "slot" ? Promise.resolve(context.notFound()) : next();
    });
  }

  // Runs before everything that acts on a request.
  app.use((context, next) => {
    const url = askedUrl(context);
    const hosts = deploymentHosts(context.env);
    const { kind } = classifyHost(url, hosts);
    if (kind !== "base") return next();
    const answer = liteBoot(url, context.req.raw, securityHeaders(url, kind, hosts));
    return answer === null ? next() : Promise.resolve(answer);
  });

  app.get(HEALTH_PATH, (context) => context.json({ status: "ok", version: VERSION, protocol: SUBPROTOCOL }));

  app.get(CONFIG_PATH, (context) => {
    const url = askedUrl(context);
    const config: EdgeConfig = {
      version: VERSION,
      slotHost: classifyHost(url, deploymentHosts(context.env)).slotHost,
      demoUrl: context.env.ROPEWAY_DEMO_URL || null,
      blocksTrackers: readBlockLists(context.env).length > 0,
      takesLinksOnce: true,
    };
    return context.json(config, 200, { "cache-control": "no-store" });
  });

  servePairing(app, runtime);
  serveTunnel(app, runtime);
  serveDevices(app, runtime);
  serveFiles(app, runtime);
  app.notFound((context) => context.json({ error: "Cannot find that" }, 404));
  return app;
}

/** The URL that the browser asked for. */
function urlOf<Env extends EdgeOptions & object>(runtime: RouterRuntime<Env>) {
  return ({ req, env }: Context<{ Bindings: Env }>): URL => requestedUrl(req.raw, env, runtime.peerAddress(req.raw));
}

function servePairing<Env extends EdgeOptions & object>(app: Routes<Env>, runtime: RouterRuntime<Env>): void {
  const guard = new PairingGuard(epochClock);

  app.post(PAIR_PATH, async (context) => {
    const accessKey = context.env.ROPEWAY_ACCESS_KEY;
    const given = context.req.header("authorization") ?? "";
    if (!accessKey) return notConfigured(context);
    if (foreignScript(context.req.raw)) return context.json({ error: "Cannot pair: foreign origin" }, 403);
    const { raw } = context.req;
    const address = clientAddress(raw, context.env, runtime.peerAddress(raw));
    const patience = guard.patienceFor(address);
    if (patience > 0) {
      const error = `Cannot pair: ${later("too many wrong keys came from this network; try again in a minute")}`;
      return context.json({ error }, 429, { "retry-after": String(patience) });
    }
    const secret = given.startsWith(BEARER) ? given.slice(BEARER.length) : "";
    const name = nameByUserAgent(context.req.header("user-agent") ?? null);
    const answer = await runtime.pair({ secret, name }, context.env).catch(unavailable);
    if (answer instanceof Response) return answer;
    if (answer.kind === "paired") return context.json({ token: answer.token }, 200, { "cache-control": "no-store" });
    if (answer.why === "not-accepted") await guard.wrongKey(address);
    return context.json({ error: `Cannot pair: ${REFUSALS[answer.why]}` }, answer.why === "not-accepted" ? 401 : 403);
  });
}

const REFUSALS: Readonly<Record<Extract<PairingAnswer, { kind: "refused" }>["why"], string>> = {
  "not-accepted": "the access key is not accepted",
  "weak-key": STRONGER_KEY,
  "too-many": later("too many devices are paired; unpair one first"),
};

/** A request that names a device by its token. */
type DeviceRoute<Env extends EdgeOptions> = (context: Context<{ Bindings: Env }>) => Promise<Response>;

/**
 * To the phone's own object, once this edge is known to have issued the token.
 *
 * @param refusal of what comes from another page, or is no request of this kind; null for what may go on.
 */
function forPhone<Env extends EdgeOptions & object>(
  runtime: RouterRuntime<Env>,
  refusal: (context: Context) => Response | null,
): DeviceRoute<Env> {
  return async (context) => {
    const accessKey = context.env.ROPEWAY_ACCESS_KEY;
    if (!accessKey) return notConfigured(context);
    const refused = refusal(context);
    if (refused !== null) return refused;
    const phone = await askedPhone(accessKey, context.req.raw);
    if (phone instanceof Response) return phone;
    return runtime.askPhone(phone, context.env, context.req.raw).catch(unavailable);
  };
}

function serveTunnel<Env extends EdgeOptions & object>(app: Routes<Env>, runtime: RouterRuntime<Env>): void {
  const handshake = (context: Context): Response | null => {
    if (foreignOrigin(context.req.raw)) return fromElsewhere(context);
    if (context.req.header("upgrade")?.toLowerCase() === "websocket")
      return offerRefusal(context, "sec-websocket-protocol");
    // A browser does not say why a handshake failed, so the phone asks again by a plain GET, with its token where the
    // handshake has none: a token that is not accepted is told apart from an edge that is not there.
    return context.req.header("authorization") === undefined ? tunnelIsThere() : null;
  };
  const script = (context: Context) => (foreignScript(context.req.raw) ? fromElsewhere(context) : null);
  app.get(TUNNEL_PATH, forPhone(runtime, handshake));
  app.post(
    TUNNEL_PATH + DOWN_PATH,
    forPhone(runtime, (context) => script(context) ?? offerRefusal(context, PROTOCOL_FIELD)),
  );
  app.post(TUNNEL_PATH + UP_PATH, forPhone(runtime, script));
}

function serveDevices<Env extends EdgeOptions & object>(app: Routes<Env>, runtime: RouterRuntime<Env>): void {
  const script = (context: Context) => (foreignScript(context.req.raw) ? fromElsewhere(context) : null);
  app.post(TOKEN_PATH, forPhone(runtime, script));
  app.on(["GET", "POST", "PATCH", "DELETE"], [DEVICES_PATH, `${DEVICES_PATH}/*`], forPhone(runtime, script));
}

function serveFiles<Env extends EdgeOptions & object>(app: Routes<Env>, runtime: RouterRuntime<Env>): void {
  const askedUrl = urlOf(runtime);
  app.get("*", async (context) => {
    const url = askedUrl(context);
    const hosts = deploymentHosts(context.env);
    const host = classifyHost(url, hosts);
    if (host.kind === "other") {
      const answer = phonePage(url, hosts.base);
      return answer ?? context.redirect(`${host.baseOrigin}${url.pathname}${url.search}`, 302);
    }
    const headers = securityHeaders(url, host.kind, hosts);
    if (host.kind === "slot" && !url.pathname.startsWith(RESERVED_PATH)) return bootSlot(context, url, headers);
    if (headers["clear-site-data"] !== undefined) return clearSlot(context, headers);
    const telling = tellingOf(url.pathname, host);
    const serve = (request: Request) => runtime.serveAsset(url.pathname, context.env, request);
    const response = await (telling === null ? serve(context.req.raw) : serveTold(telling, context.req.raw, serve));
    const answer = new Response(response.body, response);
    for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
    const freshness = freshnessOf(url.pathname);
    if (freshness !== null && (response.ok || response.status === 304)) answer.headers.set("cache-control", freshness);
    return answer;
  });
}

/** The offer in a field like Sec-WebSocket-Protocol, whatever the field's name. */
function offerRefusal(context: Context, field: string): Response | null {
  try {
    const offer = parseOffer(context.req.header(field) ?? "");
    if (offer.speaksVersion) return null;
  } catch (error) {
    return context.json({ error: `Cannot open a tunnel: ${(error as Error).message}` }, 400);
  }
  return context.json({ error: `Cannot open a tunnel: this edge speaks ${SUBPROTOCOL}` }, 400);
}

function fromElsewhere(context: Context): Response {
  return context.json({ error: "Cannot open a tunnel: foreign origin" }, 403);
}

/**
 * A slot without its service worker (first visit, or the browser dropped it): documents go to the boot page, which
 * installs it and comes back. Anything else must not reach the edge this way.
 */
function bootSlot(context: Context, url: URL, headers: Record<string, string>): Response {
  const answered = { ...headers, "cache-control": "no-store" };
  const destination = context.req.header("sec-fetch-dest") ?? "document";
  if (!["document", "iframe", "frame"].includes(destination)) return context.text("", 404, answered);
  const then = encodeURIComponent(`${url.pathname}${url.search}`);
  return new Response(null, { status: 302, headers: { ...answered, location: `${RESERVED_PATH}boot?then=${then}` } });
}

/** For the slot itself alone: the names of hosts in a list are no secret, and any site could empty them. */
function clearSlot(context: Context, headers: Record<string, string>): Response {
  const isAsked = context.req.header("sec-fetch-site") === "same-origin";
  return isAsked ? context.text("", 200, { ...headers, "cache-control": "no-store" }) : context.text("", 404);
}

function foreignOrigin(request: Request): boolean {
  const origin = request.headers.get("origin");
  // "null" is the origin of a page that hides its own.
  return origin !== null && URL.parse(origin)?.host !== requestHost(request);
}

/** A fetch that a script of another origin makes; browsers say so twice (Fetch Metadata section 2.3). */
function foreignScript(request: Request): boolean {
  const site = request.headers.get("sec-fetch-site") ?? "same-origin";
  return foreignOrigin(request) || (site !== "same-origin" && site !== "none");
}

function requestHost(request: Request): string {
  return request.headers.get("host") ?? new URL(request.url).host;
}

function notConfigured(context: Context): Response {
  return context.json({ error: "Cannot open a tunnel: set the secret ROPEWAY_ACCESS_KEY on the edge first" }, 503);
}

/** Wrong access keys of one address before it is not listened to: more than a person mistypes. */
export const WRONG_KEYS_PER_ADDRESS = 10;

/** Milliseconds after which one of them is forgiven: an address gets two guesses a minute. */
export const WRONG_KEY_TIME = 30_000;

/**
 * Slows down those who guess access keys. An address that sent several wrong ones is not listened to for a while. All
 * wrong keys together only delay the answers to wrong keys, so strangers with many addresses cannot keep the owner out.
 * The counts are in memory: they are lost when an isolate starts anew, which a key of 128 bits can bear.
 */
export class PairingGuard {
  #clock: Clock;
  /** Wrong keys of each address that were not forgiven by `since`; oldest first. */
  #addresses = new BoundedMap<string, Tally>(MOST_ADDRESSES);
  #all: Tally = { wrong: 0, since: 0 };
  #waiting = 0;

  /** @param clock milliseconds since the epoch. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Seconds for which this address is not listened to; 0 where it is. */
  patienceFor(address: string | null): number {
    const tally = address === null ? undefined : this.#addresses.get(groupOf(address));
    if (tally === undefined) return 0;
    const { wrong } = this.#forgiven(tally, WRONG_KEY_TIME);
    return wrong < WRONG_KEYS_PER_ADDRESS ? 0 : Math.ceil(WRONG_KEY_TIME / 1000);
  }

  /** Resolves when the answer to a wrong key may go out. */
  async wrongKey(address: string | null): Promise<void> {
    if (address !== null) this.#count(groupOf(address));
    this.#all = this.#forgiven(this.#all, ALL_TIME);
    this.#all.wrong += 1;
    const excess = this.#all.wrong - WRONG_KEYS_PER_ADDRESS;
    // With MOST_WAITING of them, further answers are not delayed: to keep more would only cost us.
    if (excess <= 0 || this.#waiting >= MOST_WAITING) return;
    this.#waiting += 1;
    await pause(this.#clock.setTimer, Math.min(MOST_DELAY, excess * DELAY_STEP));
    this.#waiting -= 1;
  }

  #count(group: string): void {
    const { wrong, since } = this.#forgiven(
      this.#addresses.get(group) ?? { wrong: 0, since: this.#clock.now() },
      WRONG_KEY_TIME,
    );
    this.#addresses.set(group, { wrong: wrong + 1, since });
  }

  /** A wrong key less for each `time` that has passed. */
  #forgiven({ wrong, since }: Tally, time: number): Tally {
    const forgiven = Math.max(0, Math.floor((this.#clock.now() - since) / time));
    if (forgiven >= wrong) return { wrong: 0, since: this.#clock.now() };
    return { wrong: wrong - forgiven, since: since + forgiven * time };
  }
}

interface Tally {
  wrong: number;
  /** When the next of them began to be forgiven, as `now`. */
  since: number;
}

/** Milliseconds after which one wrong key of all is forgiven. */
const ALL_TIME = 1_000;
/** Milliseconds that each wrong key beyond the usual adds to the answer of the next, and the most. */
const DELAY_STEP = 100;
const MOST_DELAY = 5_000;
/** Answers that wait at a time; and addresses that are remembered, some 100 bytes each. */
const MOST_WAITING = 100;
const MOST_ADDRESSES = 4_096;

/** An IPv6 subscriber has 2^64 addresses or more: those of a /64 count as one. */
function groupOf(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head = "", tail = ""] = address.split("::");
  const [before, after] = [head, tail].map((part) => part.split(":").filter((word) => word !== ""));
  const missing = Math.max(0, 8 - (before?.length ?? 0) - (after?.length ?? 0));
  const words = [...(before ?? []), ...Array<string>(missing).fill("0"), ...(after ?? [])];
  return words.slice(0, 4).join(":");
}

// A request as it was before a proxy of the deployment's own took it: where ROPEWAY_BEHIND_PROXY is "1", X-Forwarded-For
// and X-Forwarded-Proto are believed. Strangers can send those fields too, so only a peer whose address is not public is
// believed: a proxy on this machine, or in its own network.

/** The IP address at the other end of a request's connection; null where it is not known, and nothing is believed. */
type Peer = string | null;

/** As the browser asked for it; proxies pass the Host field on. */
export function requestedUrl(request: Request, options: EdgeOptions, peer: Peer): URL {
  const url = new URL(request.url);
  if (isProxy(options, peer) && request.headers.get("x-forwarded-proto") === "https") url.protocol = "https:";
  return url;
}

/**
 * Whose address it is that a request came from. Of a list it is the last, which the proxy added: browsers may begin it.
 *
 * @returns null where that is not known: whoever is nearer than the internet may be a proxy, which all phones share.
 */
export function clientAddress(request: Request, options: EdgeOptions, peer: Peer): string | null {
  if (isProxy(options, peer)) return request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() || null;
  return peer !== null && !isNear(peer) ? peer : null;
}

function isProxy({ ROPEWAY_BEHIND_PROXY }: EdgeOptions, peer: Peer): boolean {
  return ROPEWAY_BEHIND_PROXY === "1" && peer !== null && isNear(peer);
}

function isNear(peer: string): boolean {
  const address = parseAddress(peer);
  return address !== null && !isPublic(address);
}

// Answers in place of the app's service worker, which shows pages without scripts on the base host (decision 28), when
// that was away: the app sees what came into its frame, and sends the frame there again. Such a request is a page's, with
// its address and its form: nothing is done with it.

const FRAMES: ReadonlySet<string> = new Set(["iframe", "frame", "embed", "object"]);

/** @returns null for a request of the app's own. */
export function liteBoot(url: URL, request: Request, headers: Record<string, string>): Response | null {
  const destination = request.headers.get("sec-fetch-dest") ?? "";
  const isPlace = url.pathname.startsWith(LITE_PATH);
  // The app frames its start document, and places.
  if (!isPlace && (!FRAMES.has(destination) || url.pathname === "/blank")) return null;
  const answered = { ...headers, "cache-control": "no-store" };
  if (destination === "document") return new Response(null, { status: 302, headers: { ...answered, location: "/" } });
  if (destination !== "" && !FRAMES.has(destination)) return new Response("", { status: 404, headers: answered });
  const method = request.method === "GET" || request.method === "HEAD" ? "GET" : "POST";
  const html = `<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><meta name="ropeway-boot" content="${method}"><title></title>`;
  return new Response(html, {
    headers: {
      ...answered,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "sandbox allow-same-origin; default-src 'none'; frame-ancestors 'self'",
    },
  });
}

// The page that another device gets from an edge that is set up for its own machine only, in place of a way that ends nowhere.

/** @returns null where the base host leads to the edge for whoever asks. */
function phonePage(url: URL, baseHost: string | undefined): Response | null {
  if (!baseHost || !isLocalName(baseHost) || isLocalName(url.hostname)) return null;
  const here = escapeHtml(url.hostname);
  const base = escapeHtml(baseHost);
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Ropeway: not set up for this device</title>
<style>
body { max-width: 34rem; margin: 0 auto; padding: 2.5rem 1.5rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; }
pre, code { overflow-wrap: anywhere; white-space: pre-wrap; }
pre { padding: 1rem; border: 1px solid; border-radius: 0.75rem; }
</style>
<h1>This edge is not set up for other devices yet</h1>
<p>A Ropeway edge runs at ${here}. But it goes by the name ${base}, which means each device itself, so this one would look
for it in vain.</p>
<p>A phone needs <strong>https</strong> and <strong>a name with a wildcard</strong> that lead to the edge. Whoever runs it
can start it so:</p>
<pre>ROPEWAY_IP=0.0.0.0 \\
ROPEWAY_HOST=ropeway.example \\
ROPEWAY_TLS_CERT=cert.pem \\
ROPEWAY_TLS_KEY=key.pem \\
npm start</pre>
<p><code>ropeway.example</code> stands for a name of your own. It and <code>*.ropeway.example</code> lead to ${here}, and
the certificate is for both. docs/deploy.md says more, under “A laptop and a phone”.</p>
</html>
`;
  return new Response(html, {
    // RFC 9110 section 15.5.20: this server does not answer for that host.
    status: 421,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    },
  });
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}

/**
 * Name of the built app's file that a URL path stands for, as Cloudflare's assets choose it: `/` is index.html, and
 * `/.ropeway/boot` is `.ropeway/boot.html`.
 *
 * @param pathname of a parsed URL, so that it has no dot segments but encoded ones
 * @returns a relative path without any `..`, or null for a path that names no file
 */
export function assetFile(pathname: string): string | null {
  let path: string;
  try {
    path = decodeURIComponent(pathname.slice(1));
  } catch {
    return null;
  }
  const segments = path.split("/");
  const name = segments.pop() ?? "";
  if (/[\\\0]/.test(path) || segments.some((segment) => segment === "" || segment === "..") || name === "..")
    return null;
  if (name === "") return `${path}index.html`;
  return name.includes(".") ? path : `${path}.html`;
}
