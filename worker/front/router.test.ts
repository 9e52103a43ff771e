import { describe, expect, it } from "vitest";
import {
  CONFIG_PATH,
  HEALTH_PATH,
  PAIR_PATH,
  SUBPROTOCOL,
  TOKEN_PREFIX,
  TUNNEL_PATH,
} from "../../shared/subprotocol.ts";
import { VERSION } from "../../shared/version.ts";
import { issueToken, verifyToken } from "./access-token.ts";
import type { EdgeOptions } from "./environment.ts";
import { WRONG_KEY_TIME, WRONG_KEYS_PER_ADDRESS } from "./pairing-guard.ts";
import { createRouter } from "./router.ts";

const KEY = "kept-to-itself-in-32-characters.";
const BASE = "https://ropeway.example";
const SLOT = "https://s7k2.ropeway.example";
const CONFIGURED: EdgeOptions = { ROPEWAY_ACCESS_KEY: KEY, ROPEWAY_HOST: "ropeway.example" };

/** @param status of all files. */
function setUp(environment: EdgeOptions = CONFIGURED, status = 200) {
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

type Ask = ReturnType<typeof setUp>["ask"];
const pair = (ask: Ask, headers: Record<string, string>, base = BASE) => ask(base + PAIR_PATH, headers, "POST");
const upgrade = (ask: Ask, protocols: string, headers: Record<string, string> = {}, base = BASE) =>
  ask(base + TUNNEL_PATH, { upgrade: "websocket", "sec-websocket-protocol": protocols, ...headers });
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

describe("health and configuration", () => {
  it("says that it is well, on any host", async () => {
    const { ask } = setUp({});
    for (const host of [BASE, SLOT, "http://127.0.0.1:8787"]) {
      const response = await ask(host + HEALTH_PATH);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ status: "ok", version: VERSION, protocol: SUBPROTOCOL });
    }
  });

  it("tells the app where slots live and where the demo is", async () => {
    const { ask } = setUp({ ...CONFIGURED, ROPEWAY_DEMO_URL: "http://demo.localhost:8788/" });
    const response = await ask(`http://ropeway.example:8787${CONFIG_PATH}`);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.json()).toEqual({
      version: VERSION,
      slotHost: "ropeway.example:8787",
      demoUrl: "http://demo.localhost:8788/",
    });
  });

  it("says null for what there is not", async () => {
    const response = await setUp({ ROPEWAY_DEMO_URL: "" }).ask(`https://x.workers.dev${CONFIG_PATH}`);
    expect(await response.json()).toEqual({ version: VERSION, slotHost: null, demoUrl: null });
  });

  it("does not tell the access key", async () => {
    const { ask } = setUp();
    for (const path of [CONFIG_PATH, HEALTH_PATH, "/", TUNNEL_PATH]) {
      expect(await (await ask(BASE + path)).text()).not.toContain(KEY);
    }
  });
});

describe("pairing", () => {
  it("gives a token for the right key", async () => {
    const response = await pair(setUp().ask, bearer(KEY));
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const { token } = (await response.json()) as { token: string };
    expect(await verifyToken(KEY, token)).not.toBeNull();
  });

  it.each([
    ["a wrong key", bearer("another key")],
    ["no key", {}],
    ["an empty key", bearer("")],
    ["the start of the key", bearer(KEY.slice(0, -1))],
    ["another scheme", { authorization: `Basic ${KEY}` }],
  ])("refuses %s", async (_, headers) => {
    const response = await pair(setUp().ask, headers as Record<string, string>);
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain(KEY);
  });

  it("takes no key from a URL", async () => {
    const { ask } = setUp();
    expect((await ask(`${BASE}${PAIR_PATH}?key=${encodeURIComponent(KEY)}`, {}, "POST")).status).toBe(401);
  });

  it("refuses foreign origins, also with the right key", async () => {
    const { ask } = setUp();
    for (const origin of ["https://evil.example", SLOT, "https://ropeway.example:444", "null", "nonsense"]) {
      expect((await pair(ask, { ...bearer(KEY), origin })).status, origin).toBe(403);
    }
    expect((await pair(ask, { ...bearer(KEY), origin: BASE })).status).toBe(200);
  });

  it("takes the host from the request where TLS ends before the edge", async () => {
    const { ask } = setUp();
    const headers = { ...bearer(KEY), origin: BASE, host: "ropeway.example" };
    expect((await pair(ask, headers, "http://ropeway.example")).status).toBe(200);
  });

  it("listens no more to an address that sent wrong keys, and to the owner all the same", async () => {
    const { ask } = setUp();
    const from = (address: string, key: string) => pair(ask, { ...bearer(key), "x-test-address": address });
    for (let count = 0; count < WRONG_KEYS_PER_ADDRESS; count += 1) {
      expect((await from("192.0.2.1", `wrong ${count}`)).status).toBe(401);
    }
    const refused = await from("192.0.2.1", KEY);
    expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([429, WRONG_KEY_TIME / 1000]);
    expect((await from("192.0.2.2", KEY)).status).toBe(200);
    expect((await pair(ask, bearer(KEY))).status).toBe(200);
  });

  it("pairs nobody by a key that can be guessed, says what to do, and lets phones that are paired go on", async () => {
    const weak = "secret";
    const { ask } = setUp({ ...CONFIGURED, ROPEWAY_ACCESS_KEY: weak });
    expect((await pair(ask, bearer("wrong"))).status).toBe(401);
    const refused = await pair(ask, bearer(weak));
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining("ROPEWAY_ACCESS_KEY")]);
    expect((await upgrade(ask, `${SUBPROTOCOL}, ${TOKEN_PREFIX}${await issueToken(weak)}`)).status).toBe(204);
  });

  it("is not there for pages in slots", async () => {
    expect((await pair(setUp().ask, bearer(KEY), SLOT)).status).toBe(404);
  });

  it.each([undefined, ""])("says what is to be done while the key is %j", async (key) => {
    const { ask } = setUp(key === undefined ? {} : { ROPEWAY_ACCESS_KEY: key });
    const token = await issueToken(KEY);
    const answers = [
      await pair(ask, bearer("")),
      await upgrade(ask, `${SUBPROTOCOL}, ${TOKEN_PREFIX}${token}`),
      await ask(BASE + TUNNEL_PATH, bearer(token)),
    ];
    for (const response of answers) {
      expect(response.status).toBe(503);
      expect(await response.text()).toContain("ROPEWAY_ACCESS_KEY");
    }
  });
});

describe("the tunnel's handshake", () => {
  it("opens for a token of this edge, in any order and spacing of the offer", async () => {
    const { ask, tunnels } = setUp();
    const token = await issueToken(KEY);
    const device = await verifyToken(KEY, token);
    for (const offer of [
      `${SUBPROTOCOL}, ${TOKEN_PREFIX}${token}`,
      `${SUBPROTOCOL},${TOKEN_PREFIX}${token}`,
      `${TOKEN_PREFIX}${token} , ${SUBPROTOCOL}`,
    ]) {
      expect((await upgrade(ask, offer)).status).toBe(204);
    }
    expect((await upgrade(ask, `${SUBPROTOCOL}, ${TOKEN_PREFIX}${token}`, { upgrade: "WebSocket" })).status).toBe(204);
    expect(tunnels).toEqual([device, device, device, device]);
  });

  it.each([
    ["no token", SUBPROTOCOL],
    ["an empty token", `${SUBPROTOCOL}, ${TOKEN_PREFIX}`],
    ["a made-up token", `${SUBPROTOCOL}, ${TOKEN_PREFIX}AAAAAAAAAAAAAAAAAAAAAA.AAAA`],
    ["the key itself", `${SUBPROTOCOL}, ${TOKEN_PREFIX}${KEY}`],
  ])("refuses %s", async (_, offer) => {
    const { ask, tunnels } = setUp();
    expect((await upgrade(ask, offer)).status).toBe(401);
    expect(tunnels).toEqual([]);
  });

  it("refuses the token of another key, and one that is not in the offer", async () => {
    const { ask, tunnels } = setUp();
    const [own, other] = [await issueToken(KEY), await issueToken("another key")];
    expect((await upgrade(ask, `${SUBPROTOCOL}, ${TOKEN_PREFIX}${other}`)).status).toBe(401);
    expect((await upgrade(ask, SUBPROTOCOL, bearer(own))).status).toBe(401);
    expect((await ask(`${BASE}${TUNNEL_PATH}?token=${own}`, { upgrade: "websocket" })).status).not.toBe(204);
    expect(tunnels).toEqual([]);
  });

  it("refuses other versions of the protocol", async () => {
    const { ask, tunnels } = setUp();
    const token = TOKEN_PREFIX + (await issueToken(KEY));
    for (const offer of [token, `ropeway.1, ${token}`, `ropeway.20, ${token}`, ""]) {
      const response = await upgrade(ask, offer);
      expect(response.status, offer).toBe(400);
      expect(await response.text()).toContain(SUBPROTOCOL);
    }
    expect(tunnels).toEqual([]);
  });

  it("refuses foreign origins and slots, also with the right token", async () => {
    const { ask, tunnels } = setUp();
    const offer = `${SUBPROTOCOL}, ${TOKEN_PREFIX}${await issueToken(KEY)}`;
    for (const origin of ["https://evil.example", SLOT, "null"]) {
      expect((await upgrade(ask, offer, { origin })).status, origin).toBe(403);
    }
    expect((await upgrade(ask, offer, { origin: SLOT }, SLOT)).status).toBe(404);
    expect(tunnels).toEqual([]);
  });

  it("tells a plain GET whether its token is accepted", async () => {
    const { ask, tunnels } = setUp();
    const good = await ask(BASE + TUNNEL_PATH, bearer(await issueToken(KEY)));
    expect(good.status).toBe(426);
    expect(good.headers.get("upgrade")).toBe("websocket");
    expect(good.headers.get("cache-control")).toBe("no-store");
    const bad = [bearer(await issueToken("another key")), bearer(""), bearer(KEY), { authorization: "Basic x" }];
    for (const headers of bad) expect((await ask(BASE + TUNNEL_PATH, headers)).status).toBe(401);
    expect((await ask(BASE + TUNNEL_PATH)).status).toBe(426);
    expect(tunnels).toEqual([]);
  });
});

describe("the fetch road", () => {
  const [down, up] = [`${TUNNEL_PATH}/down`, `${TUNNEL_PATH}/up`];
  const open = (ask: Ask, offer: string, headers: Record<string, string> = {}, base = BASE) =>
    ask(base + down, { "ropeway-protocol": offer, ...headers }, "POST");
  const post = (ask: Ask, headers: Record<string, string>, base = BASE) => ask(base + up, headers, "POST");

  it("opens for a token of this edge in the offer, and takes batches with it", async () => {
    const { ask, tunnels } = setUp();
    const token = await issueToken(KEY);
    const device = await verifyToken(KEY, token);
    const own = { origin: BASE, "sec-fetch-site": "same-origin" };
    expect(await (await open(ask, `${SUBPROTOCOL}, ${TOKEN_PREFIX}${token}`, own)).text()).toBe(down);
    expect(await (await post(ask, { ...bearer(token), ...own })).text()).toBe(up);
    expect(tunnels).toEqual([device, device]);
  });

  it("refuses other tokens, and a token in the wrong place", async () => {
    const { ask, tunnels } = setUp();
    const [own, other] = [await issueToken(KEY), await issueToken("another key")];
    for (const token of ["", other, KEY]) {
      expect((await open(ask, `${SUBPROTOCOL}, ${TOKEN_PREFIX}${token}`)).status).toBe(401);
      expect((await post(ask, bearer(token))).status).toBe(401);
    }
    expect((await open(ask, SUBPROTOCOL, bearer(own))).status).toBe(401);
    expect((await post(ask, { "ropeway-protocol": `${SUBPROTOCOL}, ${TOKEN_PREFIX}${own}` })).status).toBe(401);
    expect((await ask(`${BASE}${up}?token=${own}`, {}, "POST")).status).toBe(401);
    expect(tunnels).toEqual([]);
  });

  it("refuses other versions, other methods, and an edge without a key", async () => {
    const { ask, tunnels } = setUp();
    const token = await issueToken(KEY);
    expect((await open(ask, `ropeway.1, ${TOKEN_PREFIX}${token}`)).status).toBe(400);
    expect((await open(ask, `${SUBPROTOCOL}, ${TOKEN_PREFIX}${token}, ropeway.opening.*`)).status).toBe(400);
    for (const method of ["PUT", "DELETE"]) expect((await ask(BASE + up, bearer(token), method)).status).toBe(404);
    expect((await post(setUp({}).ask, bearer(token))).status).toBe(503);
    expect(tunnels).toEqual([]);
  });

  it("refuses scripts of other origins and slots, also with the right token", async () => {
    const { ask, tunnels } = setUp();
    const token = await issueToken(KEY);
    const offer = `${SUBPROTOCOL}, ${TOKEN_PREFIX}${token}`;
    const foreign: Record<string, string>[] = [
      { origin: "https://evil.example" },
      { origin: SLOT },
      { origin: "null" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "cross-site" },
    ];
    for (const headers of foreign) {
      expect((await open(ask, offer, headers)).status).toBe(403);
      expect((await post(ask, { ...bearer(token), ...headers })).status).toBe(403);
    }
    expect((await open(ask, offer, {}, SLOT)).status).toBe(404);
    expect((await post(ask, bearer(token), SLOT)).status).toBe(404);
    expect(tunnels).toEqual([]);
  });
});

describe("files of the app", () => {
  it("serves them on the base host with the headers that isolate it", async () => {
    const { ask, served } = setUp();
    const response = await ask(`${BASE}/assets/shell.js`);
    expect(await response.text()).toBe("file /assets/shell.js");
    expect(response.headers.get("etag")).toBe('"1"');
    expect(response.headers.get("content-security-policy")).toContain("https://*.ropeway.example");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(served).toEqual(["/assets/shell.js"]);
  });

  it("lets browsers keep what its name says the content of, and service workers for an hour", async () => {
    const { ask } = setUp();
    const freshness = async (path: string) => (await ask(BASE + path)).headers.get("cache-control");
    expect(await freshness("/.ropeway/slot-worker-0123456789abcdef0123.js")).toBe(
      "public, max-age=31536000, immutable",
    );
    expect(await freshness("/.ropeway/sw.js")).toBe("public, max-age=3600");
    expect(await freshness("/.ropeway/tunnel.js")).toBeNull();
  });

  it("says nothing of the freshness of a file that is not there", async () => {
    const { ask } = setUp(CONFIGURED, 404);
    expect((await ask(`${BASE}/.ropeway/slot-worker-0123456789abcdef0123.js`)).headers.get("cache-control")).toBeNull();
  });

  it("serves a slot the reserved files only", async () => {
    const { ask, served } = setUp();
    const response = await ask(`${SLOT}/.ropeway/boot?then=%2F`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-security-policy")).toContain("frame-ancestors https://ropeway.example");
    expect(served).toEqual(["/.ropeway/boot"]);
  });

  it("sends documents of a slot without its service worker to the boot page", async () => {
    const { ask, served } = setUp();
    const destinations: Record<string, string>[] = [
      {},
      { "sec-fetch-dest": "document" },
      { "sec-fetch-dest": "iframe" },
      { "sec-fetch-dest": "frame" },
    ];
    for (const headers of destinations) {
      const response = await ask(`${SLOT}/deep/page?q=a%20b&c=//x`, headers);
      expect(response.status).toBe(302);
      const location = new URL(response.headers.get("location") ?? "", SLOT);
      expect(location.origin + location.pathname).toBe(`${SLOT}/.ropeway/boot`);
      expect(location.searchParams.get("then")).toBe("/deep/page?q=a%20b&c=//x");
      expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    }
    expect(served).toEqual([]);
  });

  it("has nothing for a slot's subresources", async () => {
    const { ask, served } = setUp();
    for (const destination of ["script", "image", "empty", "serviceworker"]) {
      const response = await ask(`${SLOT}/x.js`, { "sec-fetch-dest": destination });
      expect(response.status, destination).toBe(404);
      expect(await response.text()).toBe("");
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    }
    expect(served).toEqual([]);
  });

  it("sends every other host to the base host, and nowhere else", async () => {
    const { ask, served } = setUp();
    const locationOf = async (url: string) => {
      const response = await ask(url);
      expect(response.status).toBe(302);
      return response.headers.get("location");
    };
    expect(await locationOf("http://localhost:8787/?url=x")).toBe("http://ropeway.example:8787/?url=x");
    expect(await locationOf("https://a.b.ropeway.example/p")).toBe(`${BASE}/p`);
    expect(new URL((await locationOf("https://evil.example//other.example/")) ?? "").host).toBe("ropeway.example");
    expect(served).toEqual([]);
  });

  it("tells other devices what they need where the base host means each of them", async () => {
    const { ask, served } = setUp({ ...CONFIGURED, ROPEWAY_HOST: "ropeway.localhost" });
    for (const url of ["http://192.168.1.2:8787/", "http://laptop.local:8787/x?y=<b>"]) {
      const response = await ask(url);
      expect(response.status).toBe(421);
      expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
      const text = await response.text();
      expect(text).toContain(`A Ropeway edge runs at ${new URL(url).hostname}.`);
      expect(text).toMatch(/ROPEWAY_HOST.*ROPEWAY_TLS_CERT/s);
    }
    for (const host of ["localhost", "127.0.0.1", "[::1]", "a.b.localhost"]) {
      const response = await ask(`http://${host}:8787/`);
      expect(response.headers.get("location")).toBe("http://ropeway.localhost:8787/");
    }
    expect(served).toEqual([]);
  });

  it("answers other methods and unknown posts with 404", async () => {
    const { ask, served } = setUp();
    for (const method of ["POST", "PUT", "DELETE"]) expect((await ask(`${BASE}/`, {}, method)).status).toBe(404);
    expect(served).toEqual([]);
  });

  it("serves everything on the only host where there is one", async () => {
    const { ask, served } = setUp({ ROPEWAY_ACCESS_KEY: KEY });
    expect((await ask("https://x.workers.dev/")).status).toBe(200);
    expect(served).toEqual(["/"]);
  });
});
