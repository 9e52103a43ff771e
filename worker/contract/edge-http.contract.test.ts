import { describe, expect, it, onTestFinished } from "vitest";
import { startEdge } from "../../scripts/edge-process.ts";
import { freePort } from "../../scripts/local-edge/free-port.ts";
import { CONFIG_PATH, HEALTH_PATH, PAIR_PATH, SUBPROTOCOL, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { VERSION } from "../../shared/version.ts";
import { WRONG_KEY_TIME, WRONG_KEYS_PER_ADDRESS } from "../front/router.ts";
import { askEdge } from "../testing/contract.ts";
import { edgeOfTests } from "../testing/edge-of-tests.ts";
import { pairPhone } from "../testing/test-phone.ts";

describe.each(["workerd", "deno"] as const)("an edge on %s", (runtime) => {
  const edge = edgeOfTests(runtime);

  describe("over plain HTTP", () => {
    it("is well, and tells the app its configuration", async () => {
      expect(JSON.parse((await askEdge(edge.url, HEALTH_PATH)).text)).toEqual({
        status: "ok",
        version: VERSION,
        protocol: SUBPROTOCOL,
      });
      const { port } = new URL(edge.url);
      expect(JSON.parse((await askEdge(edge.url, CONFIG_PATH)).text)).toEqual({
        version: VERSION,
        slotHost: `ropeway.localhost:${port}`,
        blocksTrackers: true,
        takesLinksOnce: true,
        demoUrl: null,
      });
    });

    it("serves the shell with its headers, and nothing twice", async () => {
      const first = await askEdge(edge.url, "/");
      expect(first.status).toBe(200);
      expect(first.headers["content-type"]).toMatch(/^text\/html/);
      expect(first.headers["content-security-policy"]).toContain("http://*.ropeway.localhost:");
      expect(first.headers["x-content-type-options"]).toBe("nosniff");
      expect(first.headers["cache-control"]).toContain("must-revalidate");
      expect(first.text).toContain("<html");
      const again = await askEdge(edge.url, "/", { headers: { "if-none-match": String(first.headers.etag) } });
      expect(again.status).toBe(304);
      expect(again.text).toBe("");
      const head = await askEdge(edge.url, "/", { method: "HEAD" });
      expect([head.status, head.text]).toEqual([200, ""]);
    });

    it("serves slots their boot page and keeps the rest of the app from them", async () => {
      const host = "slot1.ropeway.localhost";
      const boot = await askEdge(edge.url, "/.ropeway/boot", { host });
      expect(boot.status).toBe(200);
      expect(boot.headers["content-type"]).toMatch(/^text\/html/);
      expect(boot.headers["content-security-policy"]).toContain("frame-ancestors http://ropeway.localhost:");
      const page = await askEdge(edge.url, "/a?b", { host });
      expect([page.status, page.headers.location]).toEqual([302, "/.ropeway/boot?then=%2Fa%3Fb"]);
      expect((await askEdge(edge.url, "/a.js", { host, headers: { "sec-fetch-dest": "script" } })).status).toBe(404);
      expect((await askEdge(edge.url, PAIR_PATH, { host, method: "POST" })).status).toBe(404);
    });

    it.each(["/nothing", "/nothing.js", "/..%2f..%2fpackage.json", "/..%2fworker%2fworker.js", "/%00"])(
      "has no %s",
      async (path) => {
        expect((await askEdge(edge.url, path)).status).toBe(404);
      },
    );

    it("sends other hosts to its own", async () => {
      const response = await askEdge(edge.url, "/x?y", { host: "localhost" });
      const { port } = new URL(edge.url);
      expect([response.status, response.headers.location]).toEqual([302, `http://ropeway.localhost:${port}/x?y`]);
    });

    it("pairs with the right key only, and opens tunnels for its own tokens only", async () => {
      await expect(pairPhone(edge.url, `${edge.accessKey}x`)).rejects.toThrow("401");
      const bearer = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } });
      expect((await askEdge(edge.url, TUNNEL_PATH, bearer(edge.token))).status).toBe(426);
      expect((await askEdge(edge.url, TUNNEL_PATH, bearer(`${edge.token}x`))).status).toBe(401);
      const upgrade = async (protocols: string, headers: Record<string, string> = {}) =>
        askEdge(edge.url, TUNNEL_PATH, {
          headers: {
            connection: "Upgrade",
            upgrade: "websocket",
            "sec-websocket-version": "13",
            "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
            "sec-websocket-protocol": protocols,
            ...headers,
          },
        });
      const opened = await upgrade(`${SUBPROTOCOL},ropeway.token.${edge.token}`);
      expect(opened.status).toBe(101);
      expect(opened.headers["sec-websocket-protocol"]).toBe(SUBPROTOCOL);
      expect(opened.headers).not.toHaveProperty("sec-websocket-extensions");
      expect((await upgrade(`${SUBPROTOCOL}, ropeway.token.${edge.token}x`)).status).toBe(401);
      expect((await upgrade(SUBPROTOCOL)).status).toBe(401);
      expect((await upgrade(`ropeway.9, ropeway.token.${edge.token}`)).status).toBe(400);
      const foreign = { origin: "http://evil.example" };
      expect((await upgrade(`${SUBPROTOCOL}, ropeway.token.${edge.token}`, foreign)).status).toBe(403);
    });
  });

  describe("that is asked to pair", () => {
    const pair = (port: string, key: string, headers: Record<string, string>) =>
      askEdge(`http://127.0.0.1:${port}`, PAIR_PATH, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, ...headers },
      });

    it("refuses pages of other origins, also with the right key", async () => {
      const { port } = new URL(edge.url);
      for (const origin of ["http://evil.example", `http://slot1.ropeway.localhost:${port}`, "null"])
        expect((await pair(port, edge.accessKey, { origin })).status, origin).toBe(403);
    });

    it("listens no more to an address that sent wrong keys, by the word of its proxy, and to others all the same", async () => {
      const port = await freePort("127.0.0.1");
      const behind = await startEdge({ runtime, port, behindProxy: true });
      onTestFinished(() => behind.close());
      const from = (address: string, key: string) => pair(String(port), key, { "x-forwarded-for": address });
      for (let count = 0; count < WRONG_KEYS_PER_ADDRESS; count += 1)
        expect((await from("192.0.2.1", `wrong ${count}`)).status).toBe(401);
      const refused = await from("198.51.100.9, 192.0.2.1", behind.accessKey);
      expect([refused.status, Number(refused.headers["retry-after"])]).toEqual([429, WRONG_KEY_TIME / 1000]);
      expect((await from("192.0.2.2", behind.accessKey)).status).toBe(200);
    });

    it("takes nobody's word for an address without a proxy", async () => {
      const port = await freePort("127.0.0.1");
      const plain = await startEdge({ runtime, port });
      onTestFinished(() => plain.close());
      const forged = { "x-forwarded-for": "9.0.0.1", "cf-connecting-ip": "9.0.0.1" };
      for (let count = 0; count < WRONG_KEYS_PER_ADDRESS; count += 1)
        expect((await pair(String(port), `wrong ${count}`, forged)).status).toBe(401);
      expect((await pair(String(port), plain.accessKey, forged)).status).toBe(200);
    });
  });

  it("has said nothing of keys and tokens", () => edge.expectNoSecretTold());
});
