/**
 * What the edge serves over plain HTTP: the app's files, pairing, the tunnel's handshake, health. Runtime neutral; the
 * entry files bring assets and sockets. No page of the web is ever served from here.
 */
import { type Context, Hono } from "hono";
import {
  CONFIG_PATH,
  type EdgeConfig,
  HEALTH_PATH,
  PAIR_PATH,
  RESERVED_PATH,
  SUBPROTOCOL,
  TOKEN_PREFIX,
  TUNNEL_PATH,
} from "../shared/subprotocol.ts";
import { VERSION } from "../shared/version.ts";
import { equalSecrets, issueToken, verifyToken } from "./access-token.ts";
import type { EdgeOptions } from "./environment.ts";
import { classifyHost, securityHeaders } from "./hosts.ts";

export interface RouterRuntime<Env extends EdgeOptions> {
  /** A file of the built app by path, or a 404. */
  serveAsset(path: string, env: Env, request: Request): Promise<Response>;
  /** Completes the handshake for a device whose token was verified; answers 101 with SUBPROTOCOL. */
  openTunnel(deviceId: string, env: Env, request: Request): Promise<Response>;
}

const BEARER = "Bearer ";

export function createRouter<Env extends EdgeOptions & object>(runtime: RouterRuntime<Env>): Hono<{ Bindings: Env }> {
  const app = new Hono<{ Bindings: Env }>();

  // Slots hold pages of the web, which have no business with pairing and tunnels.
  for (const path of [PAIR_PATH, TUNNEL_PATH]) {
    app.use(path, (context, next) => {
      const { kind } = classifyHost(new URL(context.req.url), context.env.ROPEWAY_HOST);
      return kind === "slot" ? Promise.resolve(context.notFound()) : next();
    });
  }

  app.get(HEALTH_PATH, (context) => context.json({ status: "ok", version: VERSION, protocol: SUBPROTOCOL }));

  app.get(CONFIG_PATH, (context) => {
    const url = new URL(context.req.url);
    const config: EdgeConfig = {
      version: VERSION,
      slotHost: classifyHost(url, context.env.ROPEWAY_HOST).slotHost,
      demoUrl: context.env.ROPEWAY_DEMO_URL || null,
    };
    return context.json(config, 200, { "cache-control": "no-store" });
  });

  app.post(PAIR_PATH, async (context) => {
    const accessKey = context.env.ROPEWAY_ACCESS_KEY;
    const given = context.req.header("authorization") ?? "";
    if (!accessKey) return notConfigured(context);
    if (foreignOrigin(context.req.raw)) return context.json({ error: "Cannot pair: foreign origin" }, 403);
    if (!given.startsWith(BEARER) || !(await equalSecrets(given.slice(BEARER.length), accessKey))) {
      return context.json({ error: "Cannot pair: the access key is not accepted" }, 401);
    }
    return context.json({ token: await issueToken(accessKey) }, 200, { "cache-control": "no-store" });
  });

  app.get(TUNNEL_PATH, async (context) => {
    const accessKey = context.env.ROPEWAY_ACCESS_KEY;
    if (!accessKey) return notConfigured(context);
    if (foreignOrigin(context.req.raw)) return context.json({ error: "Cannot open a tunnel: foreign origin" }, 403);
    if (context.req.header("upgrade")?.toLowerCase() !== "websocket") {
      return answerProbe(context, accessKey);
    }
    const offered = (context.req.header("sec-websocket-protocol") ?? "").split(",").map((value) => value.trim());
    if (!offered.includes(SUBPROTOCOL)) {
      return context.json({ error: `Cannot open a tunnel: this edge speaks ${SUBPROTOCOL}` }, 400);
    }
    const token = offered.find((value) => value.startsWith(TOKEN_PREFIX))?.slice(TOKEN_PREFIX.length) ?? "";
    const deviceId = await verifyToken(accessKey, token);
    if (deviceId === null) return tokenRefused(context);
    return runtime.openTunnel(deviceId, context.env, context.req.raw);
  });

  app.get("*", async (context) => {
    const url = new URL(context.req.url);
    const { kind, baseOrigin } = classifyHost(url, context.env.ROPEWAY_HOST);
    if (kind === "other") return context.redirect(`${baseOrigin}${url.pathname}${url.search}`, 302);
    const headers = securityHeaders(url, kind, context.env.ROPEWAY_HOST);
    if (kind === "slot" && !url.pathname.startsWith(RESERVED_PATH)) return bootSlot(context, url, headers);
    const response = await runtime.serveAsset(url.pathname, context.env, context.req.raw);
    const answer = new Response(response.body, response);
    for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
    return answer;
  });

  app.notFound((context) => context.json({ error: "Cannot find that" }, 404));
  return app;
}

/**
 * A browser does not say why a handshake failed, so the phone asks again by a plain GET, with its token where the
 * handshake has none: a token that is not accepted is told apart from an edge that is not there.
 */
async function answerProbe(context: Context, accessKey: string): Promise<Response> {
  const given = context.req.header("authorization");
  if (given !== undefined) {
    const token = given.startsWith(BEARER) ? given.slice(BEARER.length) : "";
    if ((await verifyToken(accessKey, token)) === null) return tokenRefused(context);
  }
  const error = "Cannot open a tunnel: this is not a WebSocket handshake";
  return context.json({ error }, 426, { upgrade: "websocket", "cache-control": "no-store" });
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

function requestHost(request: Request): string {
  return request.headers.get("host") ?? new URL(request.url).host;
}

function notConfigured(context: Context): Response {
  return context.json({ error: "Cannot open a tunnel: set the secret ROPEWAY_ACCESS_KEY on the edge first" }, 503);
}
