/** Paired devices and their tokens, on every edge. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import type { DeviceList, GuestLimits, PairedDevice, PairingCode } from "../../shared/devices.ts";
import { ErrorCode } from "../../shared/errors.ts";
import { CLOSE_CODE_BASE, DEVICES_PATH, TOKEN_PATH, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { issueFormerToken } from "../devices/testing/former-token.ts";
import { askEdge, until } from "../testing/contract.ts";
import { openTunnelSocket, pairPhone, type Road, TestPhone } from "../testing/test-phone.ts";

/** Two edges one after the other, which takes its time on a busy machine. */
const patience = { timeout: 90_000 };

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe.each(["workerd", "deno"] as const)("devices, with an edge on %s", (runtime) => {
  /** One whose state outlives it. */
  async function startLasting(): Promise<{ edge: RunningEdge; restart(): Promise<RunningEdge> }> {
    const stateDirectory = await mkdtemp(join(tmpdir(), "ropeway-devices-"));
    const start = (accessKey?: string) =>
      startEdge({
        runtime,
        port: 0,
        allowPrivate: true,
        stateDirectory,
        ...(accessKey === undefined ? {} : { accessKey }),
      });
    let edge = await start();
    onTestFinished(async () => {
      await edge.close();
      await rm(stateDirectory, { recursive: true, force: true });
    });
    return {
      edge,
      async restart() {
        await edge.close();
        edge = await start(edge.accessKey);
        return edge;
      },
    };
  }

  async function listOf(edge: RunningEdge, token: string): Promise<readonly PairedDevice[]> {
    const { status, text } = await askEdge(edge.url, DEVICES_PATH, { headers: bearer(token) });
    expect(status, text).toBe(200);
    return (JSON.parse(text) as DeviceList).devices;
  }

  const statusOf = async (edge: RunningEdge, token: string, path: string, method = "GET", body = "") =>
    (await askEdge(edge.url, path, { method, headers: bearer(token), body })).status;

  /** As a phone asks why it was not let in. */
  const isVoid = async (edge: RunningEdge, token: string) => (await statusOf(edge, token, TUNNEL_PATH)) === 401;

  async function connected(edge: RunningEdge, token: string, road: Road): Promise<TestPhone> {
    const phone = new TestPhone(edge.url, token, { road });
    onTestFinished(() => phone.close());
    await phone.connect();
    return phone;
  }

  const idOf = (token: string) => token.split(".")[0] ?? "";

  it("lists ten at once with what they used, renames them, and keeps all of it over a restart", patience, async () => {
    const { edge, restart } = await startLasting();
    const tokens = await Promise.all(Array.from({ length: 10 }, () => pairPhone(edge.url, edge.accessKey)));
    const phones = await Promise.all(tokens.map((token) => connected(edge, token, "websocket")));
    await Promise.all(phones.map((phone) => phone.fetch("ropeway:///site-data", { method: "DELETE" })));
    const [first = ""] = tokens;
    const listed = await listOf(edge, first);
    expect(listed.map(({ id }) => id).sort()).toEqual(tokens.map(idOf).sort());
    expect(listed.filter(({ isThis }) => isThis).map(({ id }) => id)).toEqual([idOf(first)]);
    for (const { usage, guest } of listed) {
      expect([usage?.isConnected, guest]).toEqual([true, null]);
      expect(usage?.bytes).toBeGreaterThan(100);
      expect(Math.abs((usage?.seenAt ?? 0) - Date.now())).toBeLessThan(60_000);
    }
    const path = `${DEVICES_PATH}/${idOf(tokens[1] ?? "")}`;
    expect(await statusOf(edge, first, path, "PATCH", JSON.stringify({ name: " Küche  1 " }))).toBe(204);
    expect(await statusOf(edge, first, path, "PATCH", JSON.stringify({ name: " " }))).toBe(400);
    for (const phone of phones) phone.close();
    await until(async () => (await listOf(edge, first)).every(({ usage }) => usage?.isConnected === false));

    const again = await restart();
    const after = await listOf(again, first);
    expect(after.map(({ id }) => id).sort()).toEqual(tokens.map(idOf).sort());
    expect(after.find(({ id }) => id === idOf(tokens[1] ?? ""))?.name).toBe("Küche 1");
    await connected(again, tokens[9] ?? "", "websocket");
  });

  it.each(["websocket", "fetch"] as const)(
    "unpairs a phone at once, over %s: its sockets close, its token is void, others go on",
    patience,
    async (road) => {
      const { edge, restart } = await startLasting();
      const [owner, lost] = await Promise.all([
        pairPhone(edge.url, edge.accessKey),
        pairPhone(edge.url, edge.accessKey),
      ]);
      const phone = await connected(edge, lost, road);
      await phone.fetch("ropeway:///site-data", { method: "DELETE" });
      const fresh = await openTunnelSocket(edge.url, lost, road);
      const other = await connected(edge, owner, road);
      expect(await statusOf(edge, owner, `${DEVICES_PATH}/${idOf(lost)}`, "DELETE")).toBe(204);
      expect(await fresh.closed).toBe(CLOSE_CODE_BASE + ErrorCode.KEY_NOT_ACCEPTED);
      await until(() => phone.ended !== null);
      expect(phone.ended?.code).toBe(ErrorCode.KEY_NOT_ACCEPTED);
      await expect(openTunnelSocket(edge.url, lost, road)).rejects.toThrow("the handshake failed");
      expect(await isVoid(edge, lost)).toBe(true);
      await other.fetch("ropeway:///site-data", { method: "DELETE" });
      expect((await listOf(edge, owner)).map(({ id }) => id)).toEqual([idOf(owner)]);
      expect(await statusOf(edge, lost, DEVICES_PATH)).toBe(401);
      expect(await statusOf(edge, owner, `${DEVICES_PATH}/${idOf(lost)}`, "DELETE")).toBe(404);

      const again = await restart();
      expect([await isVoid(again, lost), await isVoid(again, owner)]).toEqual([true, false]);
    },
  );

  it("renews a token; the former holds until the next is renewed, also over a restart", patience, async () => {
    const { edge, restart } = await startLasting();
    const renew = async (token: string): Promise<string> => {
      const { text } = await askEdge(edge.url, TOKEN_PATH, { method: "POST", headers: bearer(token) });
      return (JSON.parse(text) as { token: string }).token;
    };
    const first = await pairPhone(edge.url, edge.accessKey);
    const second = await renew(first);
    expect([await isVoid(edge, first), await isVoid(edge, second)]).toEqual([false, false]);
    const third = await renew(second);
    const again = await restart();
    expect(await Promise.all([first, second, third].map((token) => isVoid(again, token)))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("takes a phone that was paired before there was a list, and lists it", patience, async () => {
    const { edge } = await startLasting();
    const former = issueFormerToken(edge.accessKey);
    await connected(edge, former, "websocket");
    expect((await listOf(edge, former)).map(({ id, isThis }) => [id, isThis])).toEqual([[idOf(former), true]]);
    expect(await statusOf(edge, former, `${DEVICES_PATH}/${idOf(former)}`, "DELETE")).toBe(204);
    expect(await isVoid(edge, former)).toBe(true);
  });

  async function asked<Answer>(edge: RunningEdge, token: string, path: string, body: object): Promise<Answer> {
    const headers = bearer(token);
    const { status, text } = await askEdge(edge.url, path, { method: "POST", headers, body: JSON.stringify(body) });
    expect(status, text).toBe(200);
    return JSON.parse(text) as Answer;
  }

  const codeFor = async (edge: RunningEdge, token: string, guest: GuestLimits | null) =>
    (await asked<PairingCode>(edge, token, `${DEVICES_PATH}/codes`, guest === null ? {} : { guest })).code;

  it("pairs one more device by a code, once, also over a restart", patience, async () => {
    const { edge, restart } = await startLasting();
    const owner = await pairPhone(edge.url, edge.accessKey);
    const [first, second] = [await codeFor(edge, owner, null), await codeFor(edge, owner, null)];
    const added = await pairPhone(edge.url, first.toLowerCase());
    await expect(pairPhone(edge.url, first)).rejects.toThrow("401");
    const again = await restart();
    await expect(pairPhone(again.url, first)).rejects.toThrow("401");
    await pairPhone(again.url, second);
    await connected(again, added, "websocket");
    expect(await listOf(again, added)).toHaveLength(3);
  });

  it("ends a guest by its limit of data, and by that of time; it manages nobody", patience, async () => {
    const { edge } = await startLasting();
    const owner = await pairPhone(edge.url, edge.accessKey);
    expect(await statusOf(edge, owner, `${DEVICES_PATH}/codes`, "POST", JSON.stringify({ guest: {} }))).toBe(400);
    const limits = [
      { lastsFor: null, mostBytes: 2_000 },
      { lastsFor: 2_000, mostBytes: null },
    ];
    for (const guest of limits) {
      const token = await pairPhone(edge.url, await codeFor(edge, owner, guest));
      const phone = await connected(edge, token, "websocket");
      const listed = (await listOf(edge, owner)).find(({ id }) => id === idOf(token));
      expect(listed?.guest?.mostBytes).toBe(guest.mostBytes);
      expect(await statusOf(edge, token, DEVICES_PATH)).toBe(403);
      // Until it is over.
      await until(async () => {
        const value = randomBytes(500).toString("hex");
        await phone.fetch("ropeway:///site-data", { method: "DELETE", headers: [["x", value]] }).catch(() => {});
        return phone.ended !== null;
      });
      expect(phone.ended?.code).toBe(ErrorCode.KEY_NOT_ACCEPTED);
      expect(await isVoid(edge, token)).toBe(true);
      await until(async () => (await listOf(edge, owner)).length === 1);
    }
  });

  it("changes the access key, with and without unpairing others; says what became of all", patience, async () => {
    const { edge, restart } = await startLasting();
    const [owner, other] = [await pairPhone(edge.url, edge.accessKey), await pairPhone(edge.url, edge.accessKey)];
    const path = `${DEVICES_PATH}/key`;
    const { accessKey } = await asked<{ accessKey: string }>(edge, owner, path, {});
    await expect(pairPhone(edge.url, edge.accessKey)).rejects.toThrow("401");
    const added = await pairPhone(edge.url, accessKey);
    expect([await isVoid(edge, owner), await isVoid(edge, other)]).toEqual([false, false]);
    await asked(edge, owner, path, { unpairsOthers: true });
    await expect(pairPhone(edge.url, accessKey)).rejects.toThrow("401");
    const again = await restart();
    expect(await Promise.all([owner, other, added].map((token) => isVoid(again, token)))).toEqual([false, true, true]);
    const { text } = await askEdge(again.url, DEVICES_PATH, { headers: bearer(owner) });
    const kinds = (JSON.parse(text) as DeviceList).events.map(({ kind }) => kind);
    const turnedAway = kinds.filter((kind) => kind === "turned-away");
    expect([turnedAway.length, kinds.filter((kind) => kind !== "turned-away")]).toEqual([
      2,
      // What was refused soon after another waits for the next.
      ["unpaired", "unpaired", "key-changed", "paired", "refused", "key-changed", "paired", "paired"],
    ]);
  });

  it("tells devices to nobody else", patience, async () => {
    const { edge } = await startLasting();
    const token = await pairPhone(edge.url, edge.accessKey);
    const ask = async (headers: Record<string, string>, host?: string) =>
      (await askEdge(edge.url, DEVICES_PATH, { headers, ...(host === undefined ? {} : { host }) })).status;
    expect(await ask({})).toBe(401);
    expect(await ask(bearer(edge.accessKey))).toBe(401);
    expect(await ask({ ...bearer(token), origin: "http://evil.example" })).toBe(403);
    expect(await ask({ ...bearer(token), "sec-fetch-site": "same-site" })).toBe(403);
    expect(await ask(bearer(token), "s7k2.ropeway.localhost")).toBe(404);
    expect(await ask(bearer(token))).toBe(200);
  });
});
