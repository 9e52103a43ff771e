import { PAIR_PATH, TUNNEL_PATH } from "../../../shared/subprotocol.ts";
import { DeviceDirectory } from "../../devices/device-directory.ts";
import { newDeviceId, issueToken as tokenFor } from "../../devices/device-token.ts";
import { answerPhone } from "../../devices/phone-door.ts";
import { memoryRecordStore } from "../../devices/record-store.ts";
import type { EdgeOptions } from "../edge-settings.ts";
import { createRouter } from "../router.ts";

export const KEY = "kept-to-itself-in-32-characters.";
export const BASE = "https://ropeway.example";
export const SLOT = "https://s7k2.ropeway.example";
export const CONFIGURED: EdgeOptions = { ROPEWAY_ACCESS_KEY: KEY, ROPEWAY_HOST: "ropeway.example" };

/** A router over files and tunnels that write down who came. @param status of all files. @param texts of some. */
export function routerOf(
  environment: EdgeOptions = CONFIGURED,
  status = 200,
  texts: Readonly<Record<string, string>> = {},
) {
  const served: string[] = [];
  const tunnels: string[] = [];
  const directory = new DeviceDirectory({
    accessKey: environment.ROPEWAY_ACCESS_KEY ?? "",
    store: memoryRecordStore(),
    deviceOf: () => ({ enroll: async () => {}, usage: async () => null, unpair: async () => {} }),
    now: Date.now,
  });
  const app = createRouter<EdgeOptions>({
    async serveAsset(path, _env, request) {
      served.push(path);
      if (request.headers.get("if-none-match") === '"1"')
        return new Response(null, { status: 304, headers: { etag: '"1"' } });
      return new Response(texts[path] ?? `file ${path}`, {
        status,
        headers: { "content-type": "text/plain", etag: '"1"' },
      });
    },
    async askPhone(deviceId, env, request) {
      const device = { admit: async () => ({ kind: "full" }) as const, isAdmitted: async () => true };
      const take = (answer: Response): Response => {
        tunnels.push(deviceId);
        return answer;
      };
      return answerPhone(request, {
        accessKey: env.ROPEWAY_ACCESS_KEY ?? "",
        device: { ...device, renew: async () => "renewed" },
        directory,
        roads: {
          // Fetch's Response takes no 101.
          openSocket: () => take(new Response(null, { status: 204 })),
          answerFetchRoad: async ({ url }) => take(new Response(new URL(url).pathname)),
        },
      });
    },
    pair: (request) => directory.pair(request),
    peerAddress: (request) => request.headers.get("x-test-address"),
  });
  const ask = async (url: string, headers: Record<string, string> = {}, method = "GET") =>
    app.request(url, { method, headers: { host: new URL(url).host, ...headers } }, environment);
  return { ask, served, tunnels };
}

/** Of a device that was never seen before. */
export const issueToken = async (accessKey: string) =>
  (await tokenFor(accessKey, { deviceId: newDeviceId(), isGuest: false })).token;
export type Ask = ReturnType<typeof routerOf>["ask"];
export const pair = (ask: Ask, headers: Record<string, string>, base = BASE) => ask(base + PAIR_PATH, headers, "POST");
export const upgrade = (ask: Ask, protocols: string, headers: Record<string, string> = {}, base = BASE) =>
  ask(base + TUNNEL_PATH, { upgrade: "websocket", "sec-websocket-protocol": protocols, ...headers });
export const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
