import { describe, expect, it } from "vitest";
import { PAIR_PATH, SUBPROTOCOL, TOKEN_PREFIX, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { verifyToken } from "../devices/device-token.ts";
import { WRONG_KEY_TIME, WRONG_KEYS_PER_ADDRESS } from "./router.ts";
import { BASE, bearer, CONFIGURED, issueToken, KEY, pair, routerOf, SLOT, upgrade } from "./testing/router-rig.ts";

describe("pairing", () => {
  it("gives a token for the right key", async () => {
    const response = await pair(routerOf().ask, bearer(KEY));
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
    const response = await pair(routerOf().ask, headers as Record<string, string>);
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain(KEY);
  });

  it("takes no key from a URL", async () => {
    const { ask } = routerOf();
    expect((await ask(`${BASE}${PAIR_PATH}?key=${encodeURIComponent(KEY)}`, {}, "POST")).status).toBe(401);
  });

  it("refuses foreign origins, also with the right key", async () => {
    const { ask } = routerOf();
    for (const origin of ["https://evil.example", SLOT, "https://ropeway.example:444", "null", "nonsense"]) {
      expect((await pair(ask, { ...bearer(KEY), origin })).status, origin).toBe(403);
    }
    expect((await pair(ask, { ...bearer(KEY), origin: BASE })).status).toBe(200);
  });

  it("takes the host from the request where TLS ends before the edge", async () => {
    const { ask } = routerOf();
    const headers = { ...bearer(KEY), origin: BASE, host: "ropeway.example" };
    expect((await pair(ask, headers, "http://ropeway.example")).status).toBe(200);
  });

  it("listens no more to an address that sent wrong keys, and to the owner all the same", async () => {
    const { ask } = routerOf();
    const from = (address: string, key: string) => pair(ask, { ...bearer(key), "x-test-address": address });
    for (let count = 0; count < WRONG_KEYS_PER_ADDRESS; count += 1) {
      expect((await from("9.0.0.1", `wrong ${count}`)).status).toBe(401);
    }
    const refused = await from("9.0.0.1", KEY);
    expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([429, WRONG_KEY_TIME / 1000]);
    expect((await from("9.0.0.2", KEY)).status).toBe(200);
    expect((await pair(ask, bearer(KEY))).status).toBe(200);
  });

  it("pairs nobody by a key that can be guessed, says what to do, and lets phones that are paired go on", async () => {
    const weak = "secret";
    const { ask } = routerOf({ ...CONFIGURED, ROPEWAY_ACCESS_KEY: weak });
    expect((await pair(ask, bearer("wrong"))).status).toBe(401);
    const refused = await pair(ask, bearer(weak));
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining("ROPEWAY_ACCESS_KEY")]);
    expect((await upgrade(ask, `${SUBPROTOCOL}, ${TOKEN_PREFIX}${await issueToken(weak)}`)).status).toBe(204);
  });

  it("is not there for pages in slots", async () => {
    expect((await pair(routerOf().ask, bearer(KEY), SLOT)).status).toBe(404);
  });

  it.each([undefined, ""])("says what is to be done while the key is %j", async (key) => {
    const { ask } = routerOf(key === undefined ? {} : { ROPEWAY_ACCESS_KEY: key });
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
