import { beforeEach, describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import { PARTITIONS_LENGTH } from "./cookie-jar.ts";
import { TRANSPORT_SECURITY_HOSTS, TransportSecurity } from "./redirects.ts";
import { fakeWeb, type Handler, MapStore, navigationTo, redirect, requestFor } from "./testing/fake-web.ts";

const SITE = "https://a.example";
const DAY = 24 * 3600 * 1000;

describe("TransportSecurity", () => {
  let now: number;
  let store: MapStore;
  let security: TransportSecurity;
  beforeEach(() => {
    now = 1_700_000_000_000;
    store = new MapStore();
    security = new TransportSecurity({ store, now: () => now });
  });
  const take = (field: string, url = SITE, partition = SITE) => security.take(partition, new URL(url), field);
  const upgrades = (url: string, partition = SITE) => security.upgrades(partition, new URL(url));

  it("holds for the host that said it, for as long as it said", async () => {
    await take("max-age=60");
    expect([await upgrades("http://a.example/x"), await upgrades("http://a.example./x")]).toEqual([true, true]);
    expect([await upgrades("http://b.a.example/"), await upgrades("https://a.example/")]).toEqual([false, false]);
    now += 60_000;
    expect(await upgrades("http://a.example/x")).toBe(false);
  });

  it("holds for hosts below, if it says so", async () => {
    await take('MAX-AGE="60" ; includeSubDomains; preload');
    expect(await upgrades("http://b.c.a.example/")).toBe(true);
    expect(await upgrades("http://other-a.example/")).toBe(false);
    expect(await upgrades("http://example/")).toBe(false);
  });

  it("ends when the host takes it back", async () => {
    await take("max-age=60");
    await take("max-age=0");
    expect([await upgrades("http://a.example/"), store.values.size]).toEqual([false, 0]);
  });

  it("forgets a site, below itself and below others", async () => {
    const [own, other] = [`${SITE}/`, "https://b.example/"];
    await take("max-age=60", own);
    await take("max-age=60", other);
    await take("max-age=60", "https://shop.a.example/", "https://b.example");
    await take("max-age=60", other, "https://b.example");
    await security.clearSite("www.a.example");
    expect([await upgrades("http://a.example/"), await upgrades("http://b.example/")]).toEqual([false, false]);
    expect(await upgrades("http://shop.a.example/", "https://b.example")).toBe(false);
    expect(await upgrades("http://b.example/", "https://b.example")).toBe(true);
    expect([...store.values.keys()]).toEqual(["transport-security/https://b.example"]);
  });

  it("keeps what endless sites said as far as there is room", async () => {
    const stored = (age: number) => JSON.stringify([["a.example", { includesSubdomains: false, expires: now + age }]]);
    for (let i = 1; i <= PARTITIONS_LENGTH / 1024; i++) {
      store.values.set(`transport-security/https://site${i}.example`, stored(i));
    }
    await take("max-age=60");
    const length = [...store.values.values()].reduce((sum, text) => sum + text.length + 1024, 0);
    expect(length).toBeLessThan(PARTITIONS_LENGTH);
    const last = Math.floor(PARTITIONS_LENGTH / 1024);
    const has = [1, last].map((i) => store.values.has(`transport-security/https://site${i}.example`));
    expect(has).toEqual([false, true]);
    expect(await upgrades("http://a.example/")).toBe(true);
  });

  it.each(["", "max-age", "max-age=x", "max-age=-1", "includeSubDomains", "max-age=1; max-age=2"])(
    "ignores %j",
    async (field) => {
      await take(field);
      expect(await upgrades("http://a.example/")).toBe(false);
    },
  );

  it.each(["http://a.example/", "https://192.0.2.1/", "https://[2001:db8::1]/", "https://localhost/"])(
    "takes no word of %s",
    async (url) => {
      await take("max-age=60; includeSubDomains", url);
      expect(await upgrades(url.replace("https:", "http:"))).toBe(false);
    },
  );

  it("takes the first of several fields", async () => {
    await take("max-age=60, max-age=0");
    expect(await upgrades("http://a.example/")).toBe(true);
  });

  it("is apart by the top-level site, and the same for its pages in clear", async () => {
    await take("max-age=60", "https://tracker.example/");
    expect(await upgrades("http://tracker.example/", "https://b.example")).toBe(false);
    expect(await upgrades("http://tracker.example/", "http://a.example")).toBe(true);
  });

  it("is kept, and written when it is news", async () => {
    await take("max-age=31536000");
    await take("max-age=31536000");
    now += 1000;
    await take("max-age=31536000");
    expect(store.puts).toBe(1);
    now += DAY;
    await take("max-age=31536000");
    expect(store.puts).toBe(2);
    security = new TransportSecurity({ store, now: () => now });
    expect(await upgrades("http://a.example/")).toBe(true);
    await security.clear();
    expect([await upgrades("http://a.example/"), store.values.size]).toEqual([false, 0]);
  });

  it("is bounded: what others say makes room for what the site itself said", async () => {
    await take("max-age=60");
    for (let at = 0; at <= TRANSPORT_SECURITY_HOSTS; at++) await take("max-age=60", `https://h${at}.example/`);
    expect(await upgrades("http://a.example/")).toBe(true);
    expect(await upgrades("http://h0.example/")).toBe(false);
    expect(await upgrades(`http://h${TRANSPORT_SECURITY_HOSTS}.example/`)).toBe(true);
  });

  it("holds for the session where the store fails, or holds nonsense", async () => {
    store.put = () => Promise.reject(new Error("full"));
    await take("max-age=60");
    expect(await upgrades("http://a.example/")).toBe(true);
    store.values.set(`transport-security/${SITE}`, "{");
    security = new TransportSecurity({ store, now: () => now });
    expect(await upgrades("http://a.example/")).toBe(false);
  });
});

describe("an exchange", () => {
  const strict = { "strict-transport-security": "max-age=60" };
  async function setUp(handlers: Record<string, Handler>) {
    const web = fakeWeb({ "https://a.example/": () => new Response("in", { headers: strict }), ...handlers });
    await web.upstream(navigationTo("https://a.example/"));
    web.asked.length = 0;
    return web;
  }

  it("goes out by https: only, with the cookies that are for that", async () => {
    const { upstream, asked } = await setUp({
      "https://a.example/in": () => new Response("", { headers: { "set-cookie": "id=1; Secure" } }),
      "https://a.example/next": () => new Response("next"),
    });
    await upstream(navigationTo("https://a.example/in"));
    const { head } = await upstream(navigationTo("http://u:p@a.example/next"));
    expect(head).toMatchObject({ status: 200, url: "https://a.example/next", redirected: true });
    expect(asked.map(({ url }) => url)).toEqual(["https://a.example/in", "https://a.example/next"]);
    expect(asked[1]?.headers).toMatchObject({ cookie: "id=1", authorization: "Basic dTpw" });
  });

  it("is upgraded wherever a redirect leads it", async () => {
    const { upstream, asked } = await setUp({
      "https://b.example/": () => redirect(302, "http://a.example/next"),
      "https://a.example/next": () => new Response("next", { headers: strict }),
    });
    await upstream(navigationTo("https://b.example/", { topLevelOrigin: SITE, destination: "iframe" }));
    expect(asked.map(({ url }) => url)).toEqual(["https://b.example/", "https://a.example/next"]);
  });

  it("is upgraded for what a page loads, which then comes of the other origin", async () => {
    const { upstream, asked } = await setUp({ "https://a.example/api": () => new Response("x") });
    const page = { origin: "http://a.example", topLevelOrigin: "http://a.example" };
    const { head } = await upstream(requestFor({ url: "http://a.example/api", ...page, destination: "script" }));
    expect(head).toMatchObject({ url: "https://a.example/api", redirected: true });
    await expect(
      upstream(requestFor({ url: "http://a.example/api", ...page, mode: "cors", destination: "" })),
    ).rejects.toMatchObject({ code: ErrorCode.CORS_DENIED });
    expect(asked.every(({ url }) => url.startsWith("https:"))).toBe(true);
  });

  it("tells a slot where its navigation goes on, since that is another origin", async () => {
    const { upstream, asked } = await setUp({});
    const { head } = await upstream(navigationTo("http://a.example/next?x", { redirect: "same-origin" }));
    expect(head).toMatchObject({ status: 307, headers: [["location", "https://a.example/next?x"]], redirected: false });
    expect(asked).toEqual([]);
  });

  it("claims its id once, upgraded or not", async () => {
    const { upstream } = await setUp({ "https://a.example/form": () => new Response("done") });
    let claims = 0;
    const beforeSend = async () => {
      claims += 1;
    };
    await upstream({ ...navigationTo("http://a.example/form", { method: "POST" }), beforeSend });
    expect(claims).toBe(1);
  });
});
