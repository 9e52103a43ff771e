/**
 * What the edge serves over plain HTTP: the app's files, pairing, the tunnel's handshake, health. Runtime neutral; the
 * entry files bring assets and sockets. No page of the web is ever served from here.
 */
import { type Context, Hono } from "hono";
import { STRONGER_KEY } from "../../shared/access-key.ts";
import { epochClock } from "../../shared/clock.ts";
import { DOWN_PATH, PROTOCOL_FIELD, UP_PATH } from "../../shared/fetch-road/record.ts";
import {
  CONFIG_PATH,
  DEVICES_PATH,
  type EdgeConfig,
  HEALTH_PATH,
  PAIR_PATH,
  parseOffer,
  RESERVED_PATH,
  SUBPROTOCOL,
  TOKEN_PATH,
  TUNNEL_PATH,
} from "../../shared/subprotocol.ts";
import { VERSION } from "../../shared/version.ts";
import type { PairingAnswer, PairingRequest } from "../devices/device-directory.ts";
import { nameByUserAgent, verifyToken } from "../devices/device-token.ts";
import { tokenOf, tokenRefused, tunnelIsThere, unavailable } from "../devices/phone-door.ts";
import { freshnessOf } from "./app-file-lifetimes.ts";
import { readBlockLists } from "./block-lists.ts";
import type { EdgeOptions } from "./environment.ts";
import { clientAddress, type Peer, requestedUrl } from "./forwarded.ts";
import { classifyHost, securityHeaders } from "./hosts.ts";
import { liteBoot } from "./lite-boot.ts";
import { PairingGuard } from "./pairing-guard.ts";
import { phonePage } from "./phone-page.ts";
import { deploymentHosts } from "./slot-host-list.ts";
import { serveTold, tellingOf } from "./told-files.ts";

export interface RouterRuntime<Env extends EdgeOptions> {
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
    if (foreignOrigin(context.req.raw)) return context.json({ error: "Cannot pair: foreign origin" }, 403);
    const { raw } = context.req;
    const address = clientAddress(raw, context.env, runtime.peerAddress(raw));
    const patience = guard.patienceFor(address);
    if (patience > 0) {
      const error = "Cannot pair: too many wrong keys came from this network; try again in a minute";
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
  "too-many": "too many devices are paired; unpair one first",
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
    const token = await verifyToken(accessKey, tokenOf(context.req.raw));
    if (token === null) return tokenRefused();
    return runtime.askPhone(token.deviceId, context.env, context.req.raw).catch(unavailable);
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
