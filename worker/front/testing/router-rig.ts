import { PAIR_PATH, TUNNEL_PATH } from "../../../shared/subprotocol.ts";
import type { EdgeOptions } from "../environment.ts";
import { createRouter } from "../router.ts";

export const KEY = "kept-to-itself-in-32-characters.";
export const BASE = "https://ropeway.example";
export const SLOT = "https://s7k2.ropeway.example";
export const CONFIGURED: EdgeOptions = { ROPEWAY_ACCESS_KEY: KEY, ROPEWAY_HOST: "ropeway.example" };

/** A router over files and tunnels that write down who came. @param status of all files. */
export function routerOf(environment: EdgeOptions = CONFIGURED, status = 200) {
  const served: string[] = [];
  const tunnels: string[] = [];
  const app = createRouter<EdgeOptions>({
    async serveAsset(path) {
      served.push(path);
      return new Response(`file ${path}`, { status, headers: { "content-type": "text/plain", etag: '"1"' } });
    },
    async openTunnel(deviceId) {
      tunnels.push(deviceId);
      // Fetch's Response takes no 101.
      return new Response(null, { status: 204 });
    },
    async serveFetchRoad(deviceId, _env, request) {
      tunnels.push(deviceId);
      return new Response(new URL(request.url).pathname);
    },
    clientAddress: (request) => request.headers.get("x-test-address"),
  });
  const ask = async (url: string, headers: Record<string, string> = {}, method = "GET") =>
    app.request(url, { method, headers: { host: new URL(url).host, ...headers } }, environment);
  return { ask, served, tunnels };
}

export type Ask = ReturnType<typeof routerOf>["ask"];
export const pair = (ask: Ask, headers: Record<string, string>, base = BASE) => ask(base + PAIR_PATH, headers, "POST");
export const upgrade = (ask: Ask, protocols: string, headers: Record<string, string> = {}, base = BASE) =>
  ask(base + TUNNEL_PATH, { upgrade: "websocket", "sec-websocket-protocol": protocols, ...headers });
export const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
