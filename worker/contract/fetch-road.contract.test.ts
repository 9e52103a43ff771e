/** What the fetch road adds to every edge: its two routes, and a phone that goes without a word. */
import { mkdtemp, rm } from "node:fs/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EdgeOptions, type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { encodeRecord } from "../../shared/fetch-road/record.ts";
import { KEEP_ALIVE, offeredProtocols, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { encodeFrame } from "../../shared/wire/frame.ts";
import { askEdge, until } from "../testing/contract.ts";
import { PhoneSession } from "../testing/phone-session.ts";
import { pairPhone } from "../testing/test-phone.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";

describe.each(["workerd", "deno"] as const)("the fetch road of an edge on %s", (runtime) => {
  const closers: (() => unknown)[] = [];
  const log: string[] = [];
  let options: EdgeOptions;
  let edge: RunningEdge;
  let token: string;

  beforeAll(async () => {
    const stateDirectory = await mkdtemp(join(tmpdir(), "ropeway-fetch-road-"));
    closers.push(() => rm(stateDirectory, { recursive: true, force: true }));
    options = { runtime, port: 0, allowPrivate: true, stateDirectory, log: (line) => log.push(line) };
    edge = await startEdge(options);
    token = await pairPhone(edge.url, edge.accessKey);
  });
  afterAll(async () => {
    await edge.close();
    await Promise.all(closers.map((close) => close()));
  });

  /** The response to an opening, of which nothing has been read yet. */
  function open(
    id: string,
    headers: Record<string, string> = {},
    opening: Uint8Array | null = null,
  ): Promise<IncomingMessage> {
    const { port } = new URL(edge.url);
    const offer = offeredProtocols(token, opening).join(", ");
    return new Promise((resolve, reject) => {
      const request = httpRequest({
        host: "127.0.0.1",
        port,
        method: "POST",
        path: `${TUNNEL_PATH}/down`,
        headers: {
          host: `ropeway.localhost:${port}`,
          "ropeway-socket": id,
          "ropeway-protocol": offer,
          "accept-encoding": "gzip, br",
          ...headers,
        },
        agent: false,
      });
      request.once("response", resolve);
      request.once("error", reject);
      request.end();
    });
  }

  function post(id: string, headers: Record<string, string>, body = "", number = 0) {
    const batch = { authorization: `Bearer ${token}`, "ropeway-socket": id, "ropeway-batch": String(number) };
    return askEdge(edge.url, `${TUNNEL_PATH}/up`, { method: "POST", headers: { ...batch, ...headers }, body });
  }

  it("says at once that it is open, uncoded, and keeps the response", async () => {
    const response = await open("a".repeat(22));
    expect(response.statusCode).toBe(200);
    expect(response.headers["content-encoding"]).toBeUndefined();
    expect(response.headers["cache-control"]).toContain("no-store");
    const [first] = await Promise.race([response.take(1).toArray(), new Promise<never[]>(() => {})]);
    expect([...(first as Buffer)]).toEqual([...encodeRecord({ type: "open", protocol: "ropeway.2" })]);
    response.destroy();
  });

  it("notices a phone that goes without a word, when it has something to say", async () => {
    const id = "b".repeat(22);
    const response = await open(id);
    const again = await open(id);
    expect(again.statusCode).toBe(409);
    again.destroy();
    response.destroy();
    const alive = Buffer.from(encodeRecord({ type: "text", text: KEEP_ALIVE })).toString();
    let number = 0;
    await until(async () => (await post(id, {}, alive, number++)).status === 410);
  });

  it("opens for its own tokens and its own pages only", async () => {
    const id = "c".repeat(22);
    const refused = async (headers: Record<string, string>) => {
      const response = await open(id, headers);
      response.destroy();
      return response.statusCode;
    };
    expect(await refused({ "ropeway-protocol": `ropeway.2, ropeway.token.${token}x` })).toBe(401);
    expect(await refused({ "ropeway-protocol": `ropeway.9, ropeway.token.${token}` })).toBe(400);
    expect(await refused({ origin: "http://evil.example" })).toBe(403);
    expect(await refused({ "sec-fetch-site": "cross-site" })).toBe(403);
    expect((await post(id, { authorization: `Bearer ${token}x` })).status).toBe(401);
    expect((await post(id, { origin: "http://evil.example" })).status).toBe(403);
    expect((await post(id, {})).status).toBe(410);
  });

  it("acts once on the first flight of a phone, however often and whenever it comes", async () => {
    const asked: string[] = [];
    const { origin, close } = await startLocalOrigin((request, response) => {
      asked.push(`${request.url}`);
      response.end("hello");
    });
    closers.push(close);
    const id = "d".repeat(22);
    const phone = new PhoneSession();
    const opening = await phone.openingFor(`${origin}/page`);
    const replayed = async () => {
      const response = await open(id, {}, opening);
      response.destroy();
      return response.statusCode;
    };
    const early = await open(id, { "early-data": "1" }, opening);
    early.destroy();
    expect([early.statusCode, asked]).toEqual([425, []]);
    const at = await Promise.all([open(id, {}, opening), open(id, {}, opening)]);
    expect(at.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
    await until(() => asked.length === 1);
    const goAway = encodeFrame({ type: "go-away", lastStreamId: 0, code: 0, message: "" });
    const end = Buffer.from(encodeRecord({ type: "binary", message: goAway })).toString();
    expect(await replayed()).toBe(409);
    expect((await post(id, {}, end)).status).toBe(204);
    for (const response of at) response.destroy();
    expect(await replayed()).toBe(409);
    await edge.close();
    edge = await startEdge({ ...options, accessKey: edge.accessKey });
    expect(await replayed()).toBe(409);
    // The edge is at work: another phone's first flight arrives.
    const other = await open("e".repeat(22), {}, await new PhoneSession().openingFor(`${origin}/other`));
    await until(() => asked.length === 2);
    other.destroy();
    expect(asked).toEqual(["/page", "/other"]);
  });

  it("has said nothing of tokens", () => {
    expect(log.join("\n")).not.toContain(token);
  });
});
