import { describe, expect, it } from "vitest";
import { SUBPROTOCOL, TOKEN_PREFIX, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { verifyToken } from "../devices/device-token.ts";
import { type Ask, BASE, bearer, issueToken, KEY, routerOf, SLOT, upgrade } from "./testing/router-rig.ts";

describe("the tunnel's handshake", () => {
  it("opens for a token of this edge, in any order and spacing of the offer", async () => {
    const { ask, tunnels } = routerOf();
    const token = await issueToken(KEY);
    const device = (await verifyToken(KEY, token))?.deviceId;
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
    const { ask, tunnels } = routerOf();
    expect((await upgrade(ask, offer)).status).toBe(401);
    expect(tunnels).toEqual([]);
  });

  it("refuses the token of another key, and one that is not in the offer", async () => {
    const { ask, tunnels } = routerOf();
    const [own, other] = [await issueToken(KEY), await issueToken("another key")];
    expect((await upgrade(ask, `${SUBPROTOCOL}, ${TOKEN_PREFIX}${other}`)).status).toBe(401);
    expect((await upgrade(ask, SUBPROTOCOL, bearer(own))).status).toBe(401);
    expect((await ask(`${BASE}${TUNNEL_PATH}?token=${own}`, { upgrade: "websocket" })).status).not.toBe(204);
    expect(tunnels).toEqual([]);
  });

  it("refuses other versions of the protocol", async () => {
    const { ask, tunnels } = routerOf();
    const token = TOKEN_PREFIX + (await issueToken(KEY));
    for (const offer of [token, `ropeway.1, ${token}`, `ropeway.20, ${token}`, ""]) {
      const response = await upgrade(ask, offer);
      expect(response.status, offer).toBe(400);
      expect(await response.text()).toContain(SUBPROTOCOL);
    }
    expect(tunnels).toEqual([]);
  });

  it("refuses foreign origins and slots, also with the right token", async () => {
    const { ask, tunnels } = routerOf();
    const offer = `${SUBPROTOCOL}, ${TOKEN_PREFIX}${await issueToken(KEY)}`;
    for (const origin of ["https://evil.example", SLOT, "null"]) {
      expect((await upgrade(ask, offer, { origin })).status, origin).toBe(403);
    }
    expect((await upgrade(ask, offer, { origin: SLOT }, SLOT)).status).toBe(404);
    expect(tunnels).toEqual([]);
  });

  it("tells a plain GET whether its token is accepted", async () => {
    const { ask, tunnels } = routerOf();
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
    const { ask, tunnels } = routerOf();
    const token = await issueToken(KEY);
    const device = (await verifyToken(KEY, token))?.deviceId;
    const own = { origin: BASE, "sec-fetch-site": "same-origin" };
    expect(await (await open(ask, `${SUBPROTOCOL}, ${TOKEN_PREFIX}${token}`, own)).text()).toBe(down);
    expect(await (await post(ask, { ...bearer(token), ...own })).text()).toBe(up);
    expect(tunnels).toEqual([device, device]);
  });

  it("refuses other tokens, and a token in the wrong place", async () => {
    const { ask, tunnels } = routerOf();
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
    const { ask, tunnels } = routerOf();
    const token = await issueToken(KEY);
    expect((await open(ask, `ropeway.1, ${TOKEN_PREFIX}${token}`)).status).toBe(400);
    expect((await open(ask, `${SUBPROTOCOL}, ${TOKEN_PREFIX}${token}, ropeway.opening.*`)).status).toBe(400);
    for (const method of ["PUT", "DELETE"]) expect((await ask(BASE + up, bearer(token), method)).status).toBe(404);
    expect((await post(routerOf({}).ask, bearer(token))).status).toBe(503);
    expect(tunnels).toEqual([]);
  });

  it("refuses scripts of other origins and slots, also with the right token", async () => {
    const { ask, tunnels } = routerOf();
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
