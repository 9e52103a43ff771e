/** A phone's object, and sockets to it, for tests inside workerd. */
import { env, runInDurableObject, SELF } from "cloudflare:test";
import { expect, vi } from "vitest";
import { PAIR_PATH, SUBPROTOCOL, TOKEN_PREFIX, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import type { TunnelObject } from "../workerd/tunnel-object.ts";
import type { WorkerEnvironment } from "../workerd/worker-environment.ts";

const BASE = "https://ropeway.test";
const { ROPEWAY_ACCESS_KEY, TUNNEL } = env as unknown as WorkerEnvironment;

export interface Device {
  readonly token: string;
  readonly stub: DurableObjectStub<TunnelObject>;
}

export async function pairDevice(): Promise<Device> {
  const response = await SELF.fetch(BASE + PAIR_PATH, {
    method: "POST",
    headers: { authorization: `Bearer ${ROPEWAY_ACCESS_KEY}` },
  });
  const { token } = await response.json<{ token: string }>();
  const id = TUNNEL.idFromName(token.split(".")[0] ?? "");
  return { token, stub: TUNNEL.get(id) as unknown as DurableObjectStub<TunnelObject> };
}

export async function openSocket(token: string): Promise<WebSocket> {
  const response = await SELF.fetch(BASE + TUNNEL_PATH, {
    headers: { upgrade: "websocket", "sec-websocket-protocol": `${SUBPROTOCOL}, ${TOKEN_PREFIX}${token}` },
  });
  expect(response.status).toBe(101);
  expect(response.headers.get("sec-websocket-protocol")).toBe(SUBPROTOCOL);
  const socket = response.webSocket;
  if (socket === null) throw new Error("Cannot open the tunnel: there is no socket");
  socket.accept();
  return socket;
}

export const closing = (socket: WebSocket): Promise<number> =>
  new Promise((resolve) => socket.addEventListener("close", ({ code }) => resolve(code), { once: true }));

/** What the sockets of an object carry, by structured clone. */
export const attachmentsOf = ({ stub }: Device): Promise<unknown[]> =>
  runInDurableObject(stub, (_, state) => state.getWebSockets().map((socket) => socket.deserializeAttachment()));

export async function untilIdle(device: Device): Promise<void> {
  await vi.waitFor(async () => {
    for (const attachment of await attachmentsOf(device)) expect(attachment).not.toBeNull();
  }, 20_000);
}
