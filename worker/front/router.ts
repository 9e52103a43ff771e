/**
 * What the edge serves over plain HTTP: the app's files, pairing, the tunnel's handshake, health. Runtime neutral; the
 * entry files bring assets and sockets. No page of the web is ever served from here.
 */
import { type Context, Hono } from "hono";
import { isStrongAccessKey, STRONGER_KEY } from "../../shared/access-key.ts";
import { DOWN_PATH, PROTOCOL_FIELD, UP_PATH } from "../../shared/fetch-road/exchange.ts";
import {
  CONFIG_PATH,
  type EdgeConfig,
  HEALTH_PATH,
  PAIR_PATH,
  parseOffer,
  RESERVED_PATH,
  SUBPROTOCOL,
  TUNNEL_PATH,
  type TunnelOffer,
} from "../../shared/subprotocol.ts";
import { VERSION } from "../../shared/version.ts";
import { equalSecrets, issueToken, verifyToken } from "./access-token.ts";
import type { EdgeOptions } from "./environment.ts";
import { forwardedAddress, requestedUrl } from "./forwarded.ts";
import { classifyHost, securityHeaders } from "./hosts.ts";
import { liteBoot } from "./lite-boot.ts";
import { PairingGuard } from "./pairing-guard.ts";
import { phonePage } from "./phone-page.ts";

export interface RouterRuntime<Env extends EdgeOptions> {
  /** A file of the built app by path, or a 404. */
  serveAsset(path: string, env: Env, request: Request): Promise<Response>;
  /**
   * Completes the handshake for a device whose token was verified: acts on the offer's opening first, then answers 101
   * with SUBPROTOCOL. The offer can be read.
   */
  openTunnel(deviceId: string, env: Env, request: Request): Promise<Response>;
  /** Answers a request of the fetch road of a device whose token was verified. An offer in it can be read. */
  serveFetchRoad(deviceId: string, env: Env, request: Request): Promise<Response>;
  /** The IP address that a request came from; null where the platform does not tell. */
  clientAddress(request: Request): string | null;
}

const BEARER = "Bearer ";

type Routes<Env extends EdgeOptions> = Hono<{ Bindings: Env }>;

export function createRouter<Env extends EdgeOptions & object>(runtime: RouterRuntime<Env>): Routes<Env> {
  const app: Routes<Env> = new Hono<{ Bindings: Env }>();

  // Slots hold pages of the web, which have no business with pairing and tunnels.
  for (const path of [PAIR_PATH, TUNNEL_PATH, TUNNEL_PATH + DOWN_PATH, TUNNEL_PATH + UP_PATH]) {
    app.use(path, (context, next) => {
      const { kind } = classifyHost(requestedUrl(context.req.raw, context.env), context.env.ROPEWAY_HOST);
      return kind === "slot" ? Promise.resolve(context.notFound()) : next();
    });
  }

  // Before whatever acts on a request.
  app.use((context, next) => {
    const url = new URL(context.req.url);
    const { kind } = classifyHost(url, context.env.ROPEWAY_HOST);
    if (kind !== "base") return next();
    const answer = liteBoot(url, context.req.raw, securityHeaders(url, kind, context.env.ROPEWAY_HOST));
    return answer === null ? next() : Promise.resolve(answer);
  });

  app.get(HEALTH_PATH, (context) => context.json({ status: "ok", version: VERSION, protocol: SUBPROTOCOL }));

  app.get(CONFIG_PATH, (context) => {
    const url = requestedUrl(context.req.raw, context.env);
    const config: EdgeConfig = {
      version: VERSION,
      slotHost: classifyHost(url, context.env.ROPEWAY_HOST).slotHost,
      demoUrl: context.env.ROPEWAY_DEMO_URL || null,
    };
    return context.json(config, 200, { "cache-control": "no-store" });
  });

  servePairing(app, runtime);
  serveTunnel(app, runtime);
  serveFiles(app, runtime);
  app.notFound((context) => context.json({ error: "Cannot find that" }, 404));
  return app;
}

function servePairing<Env extends EdgeOptions & object>(app: Routes<Env>, runtime: RouterRuntime<Env>): void {
  const guard = new PairingGuard({
    now: () => Date.now(),
    wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  });

  app.post(PAIR_PATH, async (context) => {
    const accessKey = context.env.ROPEWAY_ACCESS_KEY;
    const given = context.req.header("authorization") ?? "";
    if (!accessKey) return notConfigured(context);
    if (foreignOrigin(context.req.raw)) return context.json({ error: "Cannot pair: foreign origin" }, 403);
    const address = forwardedAddress(context.req.raw, context.env) ?? runtime.clientAddress(context.req.raw);
    const patience = guard.patienceFor(address);
    if (patience > 0) {
      const error = "Cannot pair: too many wrong keys came from this network; try again in a minute";
      return context.json({ error }, 429, { "retry-after": String(patience) });
    }
    if (!given.startsWith(BEARER) || !(await equalSecrets(given.slice(BEARER.length), accessKey))) {
      await guard.wrongKey(address);
      return context.json({ error: "Cannot pair: the access key is not accepted" }, 401);
    }
    if (!isStrongAccessKey(accessKey)) return context.json({ error: `Cannot pair: ${STRONGER_KEY}` }, 403);
    return context.json({ token: await issueToken(accessKey) }, 200, { "cache-control": "no-store" });
  });
}

function serveTunnel<Env extends EdgeOptions & object>(app: Routes<Env>, runtime: RouterRuntime<Env>): void {
  type RouteContext = Context<{ Bindings: Env }>;
  /** @param answer only where the edge has a key, and the request is not `isForeign`. */
  const guarded =
    (
      isForeign: (request: Request) => boolean,
      answer: (context: RouteContext, accessKey: string) => Promise<Response>,
    ) =>
    async (context: RouteContext): Promise<Response> => {
      const accessKey = context.env.ROPEWAY_ACCESS_KEY;
      if (!accessKey) return notConfigured(context);
      if (isForeign(context.req.raw)) return context.json({ error: "Cannot open a tunnel: foreign origin" }, 403);
      return answer(context, accessKey);
    };

  app.get(
    TUNNEL_PATH,
    guarded(foreignOrigin, async (context, accessKey) => {
      if (context.req.header("upgrade")?.toLowerCase() !== "websocket") return answerProbe(context, accessKey);
      const deviceId = await readOffer(context, accessKey, "sec-websocket-protocol");
      return typeof deviceId === "string" ? runtime.openTunnel(deviceId, context.env, context.req.raw) : deviceId;
    }),
  );

  app.post(
    TUNNEL_PATH + DOWN_PATH,
    guarded(foreignScript, async (context, accessKey) => {
      const deviceId = await readOffer(context, accessKey, PROTOCOL_FIELD);
      return typeof deviceId === "string" ? runtime.serveFetchRoad(deviceId, context.env, context.req.raw) : deviceId;
    }),
  );

  app.post(
    TUNNEL_PATH + UP_PATH,
    guarded(foreignScript, async (context, accessKey) => {
      const deviceId = await verifyToken(accessKey, bearerOf(context) ?? "");
      if (deviceId === null) return tokenRefused(context);
      return runtime.serveFetchRoad(deviceId, context.env, context.req.raw);
    }),
  );
}

function serveFiles<Env extends EdgeOptions & object>(app: Routes<Env>, runtime: RouterRuntime<Env>): void {
  app.get("*", async (context) => {
    const url = requestedUrl(context.req.raw, context.env);
    const { kind, baseOrigin } = classifyHost(url, context.env.ROPEWAY_HOST);
    if (kind === "other") {
      const answer = phonePage(url, context.env.ROPEWAY_HOST);
      return answer ?? context.redirect(`${baseOrigin}${url.pathname}${url.search}`, 302);
    }
    const headers = securityHeaders(url, kind, context.env.ROPEWAY_HOST);
    if (kind === "slot" && !url.pathname.startsWith(RESERVED_PATH)) return bootSlot(context, url, headers);
    const response = await runtime.serveAsset(url.pathname, context.env, context.req.raw);
    const answer = new Response(response.body, response);
    for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
    const freshness = freshnessOf(url.pathname);
    if (freshness !== null && (response.ok || response.status === 304)) answer.headers.set("cache-control", freshness);
    return answer;
  });
}

/** Browsers look for new ones whenever a page is opened, mostly over a slow link; at least every day whatever we say. */
const SERVICE_WORKERS: ReadonlySet<string> = new Set(["/sw.js", `${RESERVED_PATH}sw.js`]);

/** Files whose name has their content's hash, below which there is never anything else. */
const NAMED_BY_CONTENT = /-[0-9a-f]{20}\.js$/;

/** Cache-Control of a file of the app; null where the platform's own is right. */
function freshnessOf(path: string): string | null {
  if (SERVICE_WORKERS.has(path)) return "public, max-age=3600";
  return NAMED_BY_CONTENT.test(path) ? "public, max-age=31536000, immutable" : null;
}

/**
 * A browser does not say why a handshake failed, so the phone asks again by a plain GET, with its token where the
 * handshake has none: a token that is not accepted is told apart from an edge that is not there.
 */
async function answerProbe(context: Context, accessKey: string): Promise<Response> {
  const token = bearerOf(context);
  if (token !== null && (await verifyToken(accessKey, token)) === null) return tokenRefused(context);
  const error = "Cannot open a tunnel: this is not a WebSocket handshake";
  return context.json({ error }, 426, { upgrade: "websocket", "cache-control": "no-store" });
}

/** @returns the device that offers itself in a field as of Sec-WebSocket-Protocol, or how it is refused. */
async function readOffer(context: Context, accessKey: string, field: string): Promise<string | Response> {
  let offer: TunnelOffer;
  try {
    offer = parseOffer(context.req.header(field) ?? "");
  } catch (error) {
    return context.json({ error: `Cannot open a tunnel: ${(error as Error).message}` }, 400);
  }
  if (!offer.speaksVersion) {
    return context.json({ error: `Cannot open a tunnel: this edge speaks ${SUBPROTOCOL}` }, 400);
  }
  return (await verifyToken(accessKey, offer.token)) ?? tokenRefused(context);
}

/** "" for another scheme, null without the field. */
function bearerOf(context: Context): string | null {
  const given = context.req.header("authorization");
  if (given === undefined) return null;
  return given.startsWith(BEARER) ? given.slice(BEARER.length) : "";
}

function tokenRefused(context: Context): Response {
  const error = "Cannot open a tunnel: the token is not accepted";
  return context.json({ error }, 401, { "cache-control": "no-store" });
}

/**
 * A slot without its service worker (first visit, or the browser dropped it): documents go to the boot page, which
 * installs it and comes back. Anything else must not reach the edge this way.
 */
function bootSlot(context: Context, url: URL, headers: Record<string, string>): Response {
  const destination = context.req.header("sec-fetch-dest") ?? "document";
  if (!["document", "iframe", "frame"].includes(destination)) return context.text("", 404, headers);
  const then = encodeURIComponent(`${url.pathname}${url.search}`);
  return new Response(null, { status: 302, headers: { ...headers, location: `${RESERVED_PATH}boot?then=${then}` } });
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
