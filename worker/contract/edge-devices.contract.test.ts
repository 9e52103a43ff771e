/** Paired devices and their tokens, on every edge. */
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import type { DeviceList, GuestLimits, PairedDevice, PairingCode } from "../../shared/devices.ts";
import { ErrorCode } from "../../shared/errors.ts";
import { CLOSE_CODE_BASE, DEVICES_PATH, TOKEN_PATH, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { issueToken, newDeviceId } from "../devices/device-token.ts";
import { askEdge, until } from "../testing/contract.ts";
import { openTunnelSocket, pairPhone, type Road, TestPhone } from "../testing/test-phone.ts";

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** One edge, started anew once for all that has to outlive it, and once more. */
describe.each(["workerd", "deno"] as const)("devices, with an edge on %s", (runtime) => {
  let edge: RunningEdge;
  let stateDirectory: string;
  /** What is to hold once the edge was started anew. */
  const holdsLater: (() => Promise<void>)[] = [];

  async function start(accessKey?: string): Promise<void> {
    const kept = accessKey === undefined ? {} : { accessKey };
    edge = await startEdge({ runtime, port: 0, allowPrivate: true, stateDirectory, ...kept });
  }

  beforeAll(async () => {
    stateDirectory = await mkdtemp(join(tmpdir(), "ropeway-devices-"));
    await start();
  });

  afterAll(async () => {
    await edge.close();
    await rm(stateDirectory, { recursive: true, force: true });
  });

  async function listOf(token: string): Promise<DeviceList> {
    const { status, text } = await askEdge(edge.url, DEVICES_PATH, { headers: bearer(token) });
    expect(status, text).toBe(200);
    return JSON.parse(text) as DeviceList;
  }

  const devicesOf = async (token: string): Promise<readonly PairedDevice[]> => (await listOf(token)).devices;
  const pair = (secret = edge.accessKey): Promise<string> => pairPhone(edge.url, secret);

  const statusOf = async (token: string, path: string, method = "GET", body = "") =>
    (await askEdge(edge.url, path, { method, headers: bearer(token), body })).status;

  /** As a phone asks why it was not let in. */
  const isVoid = async (token: string) => (await statusOf(token, TUNNEL_PATH)) === 401;

  async function connected(token: string, road: Road = "websocket"): Promise<TestPhone> {
    const phone = new TestPhone(edge.url, token, { road });
    onTestFinished(() => phone.close());
    await phone.connect();
    return phone;
  }

  const idOf = (token: string) => token.split(".")[0] ?? "";
  const pathOf = (token: string) => `${DEVICES_PATH}/${idOf(token)}`;

  async function asked<Answer>(token: string, path: string, body: object): Promise<Answer> {
    const headers = bearer(token);
    const { status, text } = await askEdge(edge.url, path, { method: "POST", headers, body: JSON.stringify(body) });
    expect(status, text).toBe(200);
    return JSON.parse(text) as Answer;
  }

  const codeFor = async (token: string, guest: GuestLimits | null) =>
    (await asked<PairingCode>(token, `${DEVICES_PATH}/codes`, guest === null ? {} : { guest })).code;

  it("lists ten at once with what they used, and renames them", async () => {
    const tokens = await Promise.all(Array.from({ length: 10 }, () => pair()));
    const phones = await Promise.all(tokens.map((token) => connected(token)));
    await Promise.all(phones.map((phone) => phone.fetch("ropeway:///site-data", { method: "DELETE" })));
    const [first = "", second = ""] = tokens;
    const listed = await devicesOf(first);
    expect(listed.map(({ id }) => id).sort()).toEqual(tokens.map(idOf).sort());
    expect(listed.filter(({ isThis }) => isThis).map(({ id }) => id)).toEqual([idOf(first)]);
    for (const { usage, guest } of listed) {
      expect([usage?.isConnected, guest]).toEqual([true, null]);
      expect(usage?.bytes).toBeGreaterThan(100);
      expect(Math.abs((usage?.seenAt ?? 0) - Date.now())).toBeLessThan(60_000);
    }
    expect(await statusOf(first, pathOf(second), "PATCH", JSON.stringify({ name: " Küche  1 " }))).toBe(204);
    expect(await statusOf(first, pathOf(second), "PATCH", JSON.stringify({ name: " " }))).toBe(400);
    for (const phone of phones) phone.close();
    await until(async () => (await devicesOf(first)).every(({ usage }) => usage?.isConnected === false));
    holdsLater.push(async () => {
      const after = await devicesOf(first);
      expect(after.map(({ id }) => id)).toEqual(expect.arrayContaining(tokens.map(idOf)));
      expect(after.find(({ id }) => id === idOf(second))?.name).toBe("Küche 1");
      await connected(tokens[9] ?? "");
    });
  });

  it.each(["websocket", "fetch"] as const)(
    "unpairs a phone at once, over %s: its sockets close, its token is void, others go on",
    async (road) => {
      const [owner, lost] = await Promise.all([pair(), pair()]);
      const phone = await connected(lost, road);
      await phone.fetch("ropeway:///site-data", { method: "DELETE" });
      const fresh = await openTunnelSocket(edge.url, lost, road);
      const other = await connected(owner, road);
      expect(await statusOf(owner, pathOf(lost), "DELETE")).toBe(204);
      await until(() => phone.ended !== null);
      expect(phone.ended?.code).toBe(ErrorCode.KEY_NOT_ACCEPTED);
      await expect(openTunnelSocket(edge.url, lost, road)).rejects.toThrow("the handshake failed");
      expect(await isVoid(lost)).toBe(true);
      await other.fetch("ropeway:///site-data", { method: "DELETE" });
      const ids = (await devicesOf(owner)).map(({ id }) => id);
      expect([ids.includes(idOf(owner)), ids.includes(idOf(lost))]).toEqual([true, false]);
      expect(await statusOf(lost, DEVICES_PATH)).toBe(401);
      expect(await statusOf(owner, pathOf(lost), "DELETE")).toBe(404);
      holdsLater.push(async () => {
        // Its close frame came at once, but workerd ends the connection ten seconds later, which Node waits for.
        expect(await fresh.closed).toBe(CLOSE_CODE_BASE + ErrorCode.KEY_NOT_ACCEPTED);
        expect([await isVoid(lost), await isVoid(owner)]).toEqual([true, false]);
      });
    },
  );

  it("keeps cookies to each device, and lets those of an unpaired one go if asked to", async () => {
    const origin = createServer((request, response) => {
      const cookie = new URL(request.url ?? "/", "http://origin.test").searchParams.get("set");
      if (cookie !== null) response.setHeader("set-cookie", `mark=${cookie}; Max-Age=3600`);
      response.end(request.headers.cookie ?? "none");
    });
    await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void origin.close());
    const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}/`;
    const [owner, kept, cleared] = [await pair(), await pair(), await pair()];
    const guest = await pair(await codeFor(owner, { lastsFor: 3_600_000, mostBytes: null }));
    for (const [token, mark] of [
      [kept, "kept-mark"],
      [cleared, "cleared-mark"],
    ] as const) {
      const phone = await connected(token);
      await phone.fetch(`${url}?set=${mark}`);
      expect((await phone.fetch(url)).text).toBe(`mark=${mark}`);
    }
    expect((await (await connected(guest)).fetch(url)).text).toBe("none");
    expect(await statusOf(owner, pathOf(kept), "DELETE")).toBe(204);
    expect(await statusOf(owner, `${pathOf(cleared)}?cookies`, "DELETE")).toBe(204);
  });

  it("renews a token; the former holds until the next is renewed", async () => {
    const renew = async (token: string): Promise<string> => {
      const { text } = await askEdge(edge.url, TOKEN_PATH, { method: "POST", headers: bearer(token) });
      return (JSON.parse(text) as { token: string }).token;
    };
    const first = await pair();
    const second = await renew(first);
    expect([await isVoid(first), await isVoid(second)]).toEqual([false, false]);
    const third = await renew(second);
    const areVoid = () => Promise.all([first, second, third].map(isVoid));
    expect(await areVoid()).toEqual([true, false, false]);
    holdsLater.push(async () => expect(await areVoid()).toEqual([true, false, false]));
  });

  it("takes a phone of whose pairing nothing is known any more, and lists it", async () => {
    const { token: former } = await issueToken(edge.accessKey, { deviceId: newDeviceId(), isGuest: false });
    await connected(former);
    expect((await devicesOf(former)).filter(({ isThis }) => isThis).map(({ id }) => id)).toEqual([idOf(former)]);
    expect(await statusOf(former, pathOf(former), "DELETE")).toBe(204);
    expect(await isVoid(former)).toBe(true);
  });

  it("pairs one more device by a code, once", async () => {
    const owner = await pair();
    const [first, second] = [await codeFor(owner, null), await codeFor(owner, null)];
    const added = await pair(first.toLowerCase());
    await expect(pair(first)).rejects.toThrow("401");
    holdsLater.push(async () => {
      await expect(pair(first)).rejects.toThrow("401");
      const later = await pair(second);
      await connected(added);
      const ids = (await devicesOf(added)).map(({ id }) => id);
      expect(ids).toEqual(expect.arrayContaining([owner, added, later].map(idOf)));
    });
  });

  it.each([
    { lastsFor: null, mostBytes: 2_000 },
    { lastsFor: 2_000, mostBytes: null },
  ])("ends a guest by its limit, and it manages nobody: %o", async (guest) => {
    const owner = await pair();
    expect(await statusOf(owner, `${DEVICES_PATH}/codes`, "POST", JSON.stringify({ guest: {} }))).toBe(400);
    const token = await pair(await codeFor(owner, guest));
    const phone = await connected(token);
    const listed = (await devicesOf(owner)).find(({ id }) => id === idOf(token));
    expect(listed?.guest?.mostBytes).toBe(guest.mostBytes);
    expect(await statusOf(token, DEVICES_PATH)).toBe(403);
    // Until it is over.
    await until(async () => {
      const value = randomBytes(500).toString("hex");
      await phone.fetch("ropeway:///site-data", { method: "DELETE", headers: [["x", value]] }).catch(() => {});
      return phone.ended !== null;
    });
    expect(phone.ended?.code).toBe(ErrorCode.KEY_NOT_ACCEPTED);
    expect(await isVoid(token)).toBe(true);
    await until(async () => (await devicesOf(owner)).every(({ id }) => id !== idOf(token)));
  });

  it("tells devices to nobody else", async () => {
    const token = await pair();
    const ask = async (headers: Record<string, string>, host?: string) =>
      (await askEdge(edge.url, DEVICES_PATH, { headers, ...(host === undefined ? {} : { host }) })).status;
    expect(await ask({})).toBe(401);
    expect(await ask(bearer(edge.accessKey))).toBe(401);
    expect(await ask({ ...bearer(token), origin: "http://evil.example" })).toBe(403);
    expect(await ask({ ...bearer(token), "sec-fetch-site": "same-site" })).toBe(403);
    expect(await ask(bearer(token), "s7k2.ropeway.localhost")).toBe(404);
    expect(await ask(bearer(token))).toBe(200);
  });

  it("keeps all of it over a restart", async () => {
    await edge.close();
    // What an unpaired phone's sites have stored can be seen here alone.
    const stored = await allThatIsStored(stateDirectory);
    expect([stored.includes("kept-mark"), stored.includes("cleared-mark")]).toEqual([true, false]);
    await start(edge.accessKey);
    for (const holds of holdsLater) await holds();
  });

  it("changes the access key, with and without unpairing others; says what became of all", async () => {
    const [owner, other] = [await pair(), await pair()];
    const path = `${DEVICES_PATH}/key`;
    const { accessKey } = await asked<{ accessKey: string }>(owner, path, {});
    await expect(pair()).rejects.toThrow("401");
    const added = await pair(accessKey);
    expect([await isVoid(owner), await isVoid(other)]).toEqual([false, false]);
    const before = (await devicesOf(owner)).length;
    await asked(owner, path, { unpairsOthers: true });
    await expect(pair(accessKey)).rejects.toThrow("401");
    await edge.close();
    await start(edge.accessKey);
    expect(await Promise.all([owner, other, added].map(isVoid))).toEqual([false, true, true]);
    const { events, devices } = await listOf(owner);
    expect(devices.map(({ id }) => id)).toEqual([idOf(owner)]);
    const kinds = events.map(({ kind }) => kind);
    // What was refused soon after another waits for the next.
    expect(kinds).toEqual(expect.arrayContaining(["refused", "turned-away", "ended"]));
    const changes = kinds.filter((kind) => !["refused", "turned-away", "ended"].includes(kind));
    const unpaired = Array.from({ length: before - 1 }, () => "unpaired");
    expect(changes.slice(0, before + 4)).toEqual([
      ...[...unpaired, "key-changed", "paired", "key-changed", "paired", "paired"],
    ]);
    // Addresses of pages are none of its business.
    expect(JSON.stringify(events)).not.toContain("127.0.0.1");
  });
});

/** What the databases below a directory hold, row by row; what was deleted is in none. */
async function allThatIsStored(directory: string): Promise<string> {
  const files = await readdir(directory, { recursive: true });
  const texts: string[] = [];
  for (const file of files.filter((name) => /\.(sqlite|kv)$/.test(name))) {
    const database = new DatabaseSync(join(directory, file));
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    for (const { name } of tables)
      for (const row of database.prepare(`SELECT * FROM "${name}"`).all())
        for (const value of Object.values(row))
          texts.push(value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value));
    database.close();
  }
  return texts.join("\n");
}
