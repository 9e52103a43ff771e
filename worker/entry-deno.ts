/**
 * Entry for Deno: binds the router to Deno's server and sockets. A process (or isolate) keeps the sessions of its
 * phones in memory; cookies go to Deno KV where it is there (Deno Deploy, or `--unstable-kv`).
 */
import { eTag, ifNoneMatch } from "@std/http/etag";
import { contentType } from "@std/media-types/content-type";
import { ErrorCode } from "../shared/errors.ts";
import { CLOSE_CODE_BASE, KEEP_ALIVE, SUBPROTOCOL } from "../shared/subprotocol.ts";
import type { Transport } from "../shared/transport.ts";
import { createEdgeHandler } from "./edge-handler.ts";
import type { EdgeOptions } from "./environment.ts";
import { openStore } from "./kv-store-deno.ts";
import { createRouter } from "./router.ts";
import { TunnelServer } from "./tunnel-server.ts";
import { createDenoUpstream } from "./upstream-deno.ts";

const APP_DIRECTORY = new URL("../dist/app", import.meta.url);

const options: EdgeOptions = {
  ...setting("ROPEWAY_ACCESS_KEY"),
  ...setting("ROPEWAY_HOST"),
  ...setting("ROPEWAY_ALLOW_PRIVATE"),
  ...setting("ROPEWAY_DEMO_URL"),
  ...setting("ROPEWAY_DEMO_ORIGINS"),
};
const store = await openStore(Deno.env.get("ROPEWAY_KV_PATH"));
const servers = new Map<string, TunnelServer>();

const app = createRouter<EdgeOptions>({
  async serveAsset(path, _env, request) {
    const file = withHtml(new URL(`.${path === "/" ? "/index.html" : path}`, `${APP_DIRECTORY.href}/`));
    const found = await Deno.stat(file).catch(() => null);
    if (!file.href.startsWith(`${APP_DIRECTORY.href}/`) || !found?.isFile) return new Response(null, { status: 404 });
    const etag = (await eTag(found)) ?? "";
    const headers = {
      etag,
      "cache-control": "public, max-age=0, must-revalidate",
      "content-type": contentType(file.pathname.slice(file.pathname.lastIndexOf("."))) ?? "application/octet-stream",
    };
    if (!ifNoneMatch(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
    return new Response(await Deno.readFile(file), { headers });
  },
  openTunnel: async (deviceId, _env, request) => openSocket(request, serverOf(deviceId)),
});

const [certFile, keyFile] = [Deno.env.get("ROPEWAY_TLS_CERT"), Deno.env.get("ROPEWAY_TLS_KEY")];
Deno.serve(
  {
    hostname: Deno.env.get("ROPEWAY_IP") ?? "127.0.0.1",
    port: Number(Deno.env.get("ROPEWAY_PORT") ?? "8787"),
    ...(certFile && keyFile ? { cert: Deno.readTextFileSync(certFile), key: Deno.readTextFileSync(keyFile) } : {}),
    onListen: () => {},
  },
  (request) => app.fetch(request, options),
);

function setting(name: keyof EdgeOptions): Partial<EdgeOptions> {
  const value = Deno.env.get(name);
  return value === undefined || value === "" ? {} : { [name]: value };
}

/** `/.ropeway/boot` is boot.html, as on Cloudflare's assets. */
function withHtml(file: URL): URL {
  const name = file.pathname.slice(file.pathname.lastIndexOf("/") + 1);
  return name.includes(".") ? file : new URL(`${file.href}.html`);
}

function serverOf(deviceId: string): TunnelServer {
  const known = servers.get(deviceId);
  if (known !== undefined) return known;
  const server = new TunnelServer({
    handle: createEdgeHandler(createDenoUpstream(options, store.forDevice(deviceId))),
    setTimer: (task, delay) => {
      const timer = setTimeout(task, delay);
      return () => clearTimeout(timer);
    },
  });
  servers.set(deviceId, server);
  return server;
}

function openSocket(request: Request, server: TunnelServer): Response {
  const { socket, response } = Deno.upgradeWebSocket(normalizedOffer(request), {
    protocol: SUBPROTOCOL,
    idleTimeout: 0,
  });
  socket.binaryType = "arraybuffer";
  const transport: Transport = {
    send(message) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(message as Uint8Array<ArrayBuffer>);
      return true;
    },
    close(code, reason) {
      if (socket.readyState <= WebSocket.OPEN) socket.close(code, reason);
    },
  };
  const connection = server.connect(transport);
  socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
    if (typeof event.data !== "string") connection.receive(new Uint8Array(event.data));
    else if (event.data === KEEP_ALIVE) socket.send(KEEP_ALIVE);
    else transport.close(CLOSE_CODE_BASE + ErrorCode.PROTOCOL_ERROR, "text message");
  };
  socket.onclose = () => connection.closed();
  socket.onerror = () => connection.closed();
  return response;
}

/** Deno looks for `protocol` in the offered list as browsers write it: separated by comma and space. */
function normalizedOffer(request: Request): Request {
  const offered = request.headers.get("sec-websocket-protocol") ?? "";
  const normal = offered
    .split(",")
    .map((value) => value.trim())
    .join(", ");
  if (normal !== offered) request.headers.set("sec-websocket-protocol", normal);
  return request;
}
