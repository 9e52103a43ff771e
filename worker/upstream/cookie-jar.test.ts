import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  COOKIE_PARTITION_BYTES,
  COOKIE_PARTITIONS_LOADED,
  COOKIE_PARTITIONS_WAITING,
  COOKIE_RETRIES,
  COOKIES_PER_SITE,
  CookieJar,
  PARTITIONS_LENGTH,
  partitionOf,
  visibleChanges,
} from "./cookie-jar.ts";
import { MapStore } from "./testing/fake-web.ts";

const A = "https://www.a.example";
const URL_A = new URL("https://www.a.example/");

function setUp(store = new MapStore()) {
  const clock = { now: 1_700_000_000_000 };
  const timers: (() => void)[] = [];
  const jar = new CookieJar({
    store,
    now: () => clock.now,
    setTimer: (callback) => {
      timers.push(callback);
      return () => timers.splice(timers.indexOf(callback), 1);
    },
  });
  const set = (line: string, url = URL_A, top = A) =>
    jar.store({ partition: partitionOf(top), url, lines: [line], takesSameSite: true });
  const get = (url = URL_A, top = A) => jar.fieldFor({ partition: partitionOf(top), url, context: "same-site" });
  return { jar, store, clock, timers, set, get };
}

describe("CookieJar", () => {
  it("lets a form of another site have a cookie for two minutes from when it got its value", async () => {
    const { set, jar, clock } = setUp();
    const posted = () => jar.fieldFor({ partition: partitionOf(A), url: URL_A, context: "lax-unsafe" });
    await set("sid=1; Path=/");
    clock.now += 600_000;
    await set("sid=1; Path=/");
    expect(await posted()).toBe("");
    await set("sid=2; Path=/");
    expect(await posted()).toBe("sid=2");
    clock.now += 120_001;
    expect(await posted()).toBe("");
  });

  it("replaces by name, domain and path, keeps the order of first creation, and removes", async () => {
    const { set, get, clock } = setUp();
    await set("a=1; Path=/");
    clock.now++;
    await set("b=2; Path=/");
    clock.now++;
    await set("a=3; Path=/");
    expect(await get()).toBe("a=3; b=2");
    await set("a=; Path=/; Max-Age=0");
    expect(await get()).toBe("b=2");
  });

  it("forgets what has expired, counted from when it was set", async () => {
    const { set, get, clock } = setUp();
    await set("a=1; Max-Age=10");
    clock.now += 9_000;
    expect(await get()).toBe("a=1");
    clock.now += 1_000;
    expect(await get()).toBe("");
  });

  it("tells whether an origin has any, whoever may see it and on whatever path", async () => {
    const { jar, set, clock } = setUp();
    const has = (url: string, top = A) => jar.hasFor(partitionOf(top), new URL(url));
    expect(await has(`${A}/`)).toBe(false);
    await set("a=1; Path=/deep; HttpOnly; Max-Age=10");
    expect(await has(`${A}/`)).toBe(true);
    expect(await has("https://a.example/")).toBe(false);
    expect(await has(`${A}/`, "https://b.example")).toBe(false);
    clock.now += 10_000;
    expect(await has(`${A}/`)).toBe(false);
    await set("b=1; Domain=a.example; Secure; Path=/");
    expect(await has("https://a.example/x")).toBe(true);
    expect(await has("http://a.example/x")).toBe(false);
  });

  it("keeps partitions apart: one site's cookies are not sent below another", async () => {
    const { set, get } = setUp();
    await set("sid=bank", new URL("https://bank.example/"), "https://bank.example");
    expect(await get(new URL("https://bank.example/"), "https://bank.example")).toBe("sid=bank");
    expect(await get(new URL("https://bank.example/"), "https://evil.example")).toBe("");
    expect(await get(new URL("https://bank.example/"), "https://www.bank.example")).toBe("sid=bank");
    expect(await get(new URL("https://bank.example/"), "http://bank.example")).toBe("");
    expect(await get(new URL("https://bank.example/"), "null")).toBe("");
  });

  it("clears a site with its subdomains, below one top-level site", async () => {
    const { jar, set, get } = setUp();
    const [sub, other] = [new URL("https://sub.a.example/"), new URL("https://b.example/")];
    for (const top of [A, "https://b.example"]) {
      await set("domain=1; Domain=a.example", URL_A, top);
      await set("sub=1", sub, top);
      await set("other=1", other, top);
    }
    const clearing = { partition: partitionOf(A), url: URL_A, lines: [], takesSameSite: true, clearsSite: true };
    const changes = await jar.store(clearing);
    expect(changes.map(({ next }) => [next.name, next.expires])).toEqual([
      ["domain", 0],
      ["sub", 0],
    ]);
    expect([await get(sub), await get(other)]).toEqual(["", "other=1"]);
    expect(await get(sub, "https://b.example")).toBe("domain=1; sub=1");
  });

  it("lets no insecure origin overwrite or shadow a Secure cookie", async () => {
    const { set, get } = setUp();
    await set("sid=good; Secure; Path=/; Domain=a.example");
    await set("sid=bad; Path=/", new URL("http://www.a.example/"));
    await set("sid=bad; Path=/; Domain=a.example", new URL("http://www.a.example/"));
    expect(await get()).toBe("sid=good");
  });

  it("writes once for many changes, and reads it again in another life", async () => {
    const { set, store, timers, jar } = setUp();
    for (let i = 0; i < 20; i++) await set(`c${i}=${i}; Path=/`);
    expect(timers).toHaveLength(1);
    expect(store.puts).toBe(0);
    timers[0]?.();
    await jar.flush();
    expect(store.puts).toBe(1);
    expect(await setUp(store).get()).toContain("c19=19");
  });

  it.each(["", '[{"name":"a","value"', "5"])("takes what it cannot read for no cookies: %s", async (text) => {
    const store = new MapStore();
    store.values.set(`cookies/${partitionOf(A)}`, text);
    const { set, get, jar } = setUp(store);
    expect(await get()).toBe("");
    await set("a=1");
    await jar.flush();
    expect(await setUp(store).get()).toBe("a=1");
  });

  it("tries a failed write again", async () => {
    const store = new MapStore();
    let failures = 1;
    const put = store.put.bind(store);
    store.put = async (key, value) => {
      if (failures-- > 0) throw new Error("disk full");
      return put(key, value);
    };
    const { set, jar } = setUp(store);
    await set("a=1");
    await expect(jar.flush()).rejects.toThrow("disk full");
    await jar.flush();
    expect(store.values.size).toBe(1);
  });

  it("tries again by itself, so many times, while the store takes nothing", async () => {
    const store = new MapStore();
    let isFull = true;
    const put = store.put.bind(store);
    store.put = async (key, value) => {
      if (isFull) throw new Error("disk full");
      return put(key, value);
    };
    const { set, get, timers } = setUp(store);
    /** Until nothing is left to be tried. */
    async function wait(): Promise<number> {
      for (let tries = 0; ; tries++) {
        const [timer] = timers;
        if (timer === undefined) return tries;
        timer();
        // The write that it began, and what comes of that.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    await set("a=1");
    expect(await wait()).toBe(1 + COOKIE_RETRIES);
    expect(await get()).toBe("a=1");
    await set("b=2");
    expect(await wait()).toBe(1);
    isFull = false;
    await set("c=3");
    expect(await wait()).toBe(1);
    expect(await setUp(store).get()).toBe("a=1; b=2; c=3");
    isFull = true;
    await set("d=4");
    expect(await wait()).toBe(1 + COOKIE_RETRIES);
  });

  it("forgets a site: all in its own pages, and its own in those of others", async () => {
    const { jar, store, set, get } = setUp();
    const [own, embedded, other] = [
      new URL("https://a.example/"),
      new URL("https://shop.a.example/"),
      new URL("https://b.example/"),
    ];
    const B = "https://b.example";
    await set("own=1; Domain=a.example", own, A);
    await set("clear=1", own, "http://a.example");
    await set("guest=1", other, A);
    await set("widget=1", embedded, B);
    await set("host=1", other, B);
    await jar.flush();
    const underWay = jar.store({
      partition: partitionOf(A),
      url: own,
      takesSameSite: true,
      lines: ["late=1"],
    });
    await jar.clearSite("www.a.example");
    await underWay;
    expect(await Promise.all([get(own, A), get(own, "http://a.example"), get(other, A), get(embedded, B)])).toEqual([
      "",
      "",
      "",
      "",
    ]);
    expect(await get(other, B)).toBe("host=1");
    expect([...store.values.keys()]).toEqual(["cookies/https://b.example"]);
  });

  it("clears all partitions, also from under an exchange that is under way", async () => {
    const { set, get, jar, store } = setUp();
    await set("a=1");
    await set("b=2", URL_A, "https://other.example");
    await jar.flush();
    expect(store.values.size).toBe(2);
    const late = set("late=1");
    await jar.clear();
    await late;
    await jar.flush();
    expect(store.values.size).toBe(0);
    expect(await get()).toBe("");
  });

  it("deletes the key of a partition that became empty", async () => {
    const { set, jar, store } = setUp();
    await set("a=1; Path=/");
    await jar.flush();
    await set("a=1; Path=/; Max-Age=0");
    await jar.flush();
    expect(store.values.size).toBe(0);
  });

  it("evicts the least recently sent when a site has too many", async () => {
    const { set, get, clock } = setUp();
    for (let i = 0; i < COOKIES_PER_SITE; i++) {
      clock.now++;
      await set(`c${i}=1; Path=/p${i}`);
    }
    clock.now++;
    expect(await get(new URL("https://www.a.example/p0"))).toBe("c0=1");
    clock.now++;
    await set("one-more=1; Path=/");
    expect(await get(new URL("https://www.a.example/p0"))).toBe("c0=1; one-more=1");
    expect(await get(new URL("https://www.a.example/p1"))).toBe("one-more=1");
    expect(await get(new URL("https://www.a.example/p2"))).toBe("c2=1; one-more=1");
  });

  /** So many cookies of so many sites that page A embeds. */
  async function embed(set: ReturnType<typeof setUp>["set"], hosts: number, cookies: number, value = "1") {
    for (let host = 0; host < hosts; host++) {
      const url = new URL(`https://ads${host}.example/`);
      for (let i = 0; i < cookies; i++) await set(`c${i}=${value}; SameSite=None; Secure`, url);
    }
  }

  it("lets nothing that a page embeds evict its own site's cookies", async () => {
    const { set, get, jar, store, clock } = setUp();
    await set("sid=mine; Path=/; Secure");
    await set("shared=mine; Path=/; Domain=a.example");
    clock.now++;
    await embed(set, 5, COOKIES_PER_SITE);
    expect(await get()).toBe("sid=mine; shared=mine");
    await embed(set, 5, 9, "x".repeat(4000));
    await jar.flush();
    expect(await setUp(store).get()).toBe("sid=mine; shared=mine");
  });

  it("takes from the embedded site that has most", async () => {
    const { set, get, jar, store, clock } = setUp();
    const quiet = new URL("https://quiet.example/");
    await set("q=1; SameSite=None; Secure", quiet);
    clock.now++;
    await embed(set, 9, COOKIES_PER_SITE);
    expect(await get(quiet)).toBe("q=1");
    await embed(set, 2, 9, "x".repeat(4000));
    await jar.flush();
    const again = setUp(store);
    expect(await again.get(quiet)).toBe("q=1");
    for (const host of ["ads0", "ads1"]) expect(await again.get(new URL(`https://${host}.example/`))).toContain("xxx");
  });

  it("never stores more than fits one value", async () => {
    const { set, jar, store } = setUp();
    for (let i = 0; i < 40; i++) await set(`c${i}=${"é".repeat(1500)}`);
    await jar.flush();
    const [stored = ""] = store.values.values();
    expect(new TextEncoder().encode(stored).byteLength).toBeLessThanOrEqual(COOKIE_PARTITION_BYTES);
    expect(stored).toContain("c39");
  });

  it("keeps few partitions in memory, and loses none that is not written", async () => {
    const { set, get } = setUp();
    const top = (i: number) => `https://site${i}.example`;
    for (let i = 0; i < 2 * COOKIE_PARTITIONS_LOADED; i++) await set(`a=${i}`, URL_A, top(i));
    for (let i = 0; i < 2 * COOKIE_PARTITIONS_LOADED; i++) expect(await get(URL_A, top(i))).toBe(`a=${i}`);
  });

  describe("of endless sites", () => {
    const top = (i: number) => `https://site${i}.example`;
    /** Count of partitions, each of some 20 KB, that are too many together. */
    const many = Math.ceil(PARTITIONS_LENGTH / 20_000);

    async function visit({ set, jar, clock }: ReturnType<typeof setUp>, i: number): Promise<void> {
      clock.now += 1000;
      for (let cookie = 0; cookie < 5; cookie++) {
        await set(`c${cookie}=${"x".repeat(4000)}; Path=/`, new URL(`${top(i)}/`), top(i));
      }
      await jar.flush();
    }

    const stored = ({ values }: MapStore) => [...values.values()].reduce((sum, { length }) => sum + length, 0);
    const has = async ({ get }: ReturnType<typeof setUp>, i: number) =>
      (await get(new URL(`${top(i)}/`), top(i))).includes("c0=");

    it("keeps those that were used last, in its store too", async () => {
      const store = new MapStore();
      const rig = setUp(store);
      for (let i = 0; i < many; i++) {
        await visit(rig, i);
        if (i % 10 === 0) expect(await has(rig, 0)).toBe(true);
        expect(stored(store)).toBeLessThanOrEqual(PARTITIONS_LENGTH);
      }
      expect(store.values.has(`cookies/${top(1)}`)).toBe(false);
      const inTheirOrder = await Promise.all([0, 1, many - 2, many - 1].map((i) => has(setUp(store), i)));
      expect(inTheirOrder).toEqual([true, false, true, true]);
    });

    it("lets those of a moment go before those that were in use for longer", async () => {
      const store = new MapStore();
      const own = setUp(store);
      await visit(own, 0);
      // Each time a little later, as a person goes on.
      for (let uses = 0; uses < 5; uses++) {
        own.clock.now += 15 * 60_000;
        expect(await has(own, 0)).toBe(true);
      }
      await own.jar.flush();
      const flood = setUp(store);
      flood.clock.now = own.clock.now + 3_600_000;
      for (let i = 1; i < 3 * many; i++) await visit(flood, i);
      expect(stored(store)).toBeLessThanOrEqual(PARTITIONS_LENGTH);
      expect(await Promise.all([has(setUp(store), 0), has(setUp(store), 3 * many - 1)])).toEqual([true, true]);
    });

    it("counts what another life has stored, and heeds when that was sent", async () => {
      const store = new MapStore();
      const former = setUp(store);
      await visit(former, 0);
      await visit(former, 1);
      former.clock.now += 2 * 24 * 3_600_000;
      const sent = setUp(store);
      sent.clock.now = former.clock.now;
      expect(await has(sent, 0)).toBe(true);
      await sent.jar.flush();
      const line = store.values.get(`cookies/${top(1)}`) ?? "";
      for (let i = 2; i < 2 * many; i++) store.values.set(`cookies/${top(i)}`, line);
      const rig = setUp(store);
      rig.clock.now = sent.clock.now;
      await visit(rig, 2 * many);
      expect(stored(store)).toBeLessThanOrEqual(PARTITIONS_LENGTH);
      expect(await Promise.all([has(rig, 0), has(rig, 2 * many)])).toEqual([true, true]);
    });

    it("keeps the one in use, however long the others are", async () => {
      const store = new MapStore();
      const filler = setUp(store);
      await visit(filler, 1);
      const line = store.values.get(`cookies/${top(1)}`) ?? "";
      for (let i = 2; i < 2 * many; i++) store.values.set(`cookies/${top(i)}`, line);
      const rig = setUp(store);
      rig.clock.now -= 365 * 24 * 3_600_000;
      await visit(rig, 0);
      expect(await has(setUp(store), 0)).toBe(true);
    });

    it("holds so many in memory while its store takes none", async () => {
      const store = new MapStore();
      store.put = () => Promise.reject(new Error("disk full"));
      const { set, get } = setUp(store);
      const last = 2 * COOKIE_PARTITIONS_WAITING;
      for (let i = 0; i <= last; i++) await set("a=1", URL_A, top(i));
      expect([await get(URL_A, top(0)), await get(URL_A, top(last))]).toEqual(["", "a=1"]);
    });

    it("keeps what fits of a longer one from its store", async () => {
      const store = new MapStore();
      const rig = setUp(store);
      await visit(rig, 0);
      const key = `cookies/${top(0)}`;
      const [cookie] = JSON.parse(store.values.get(key) ?? "");
      const all = Array.from({ length: 40 }, (_, i) => ({ ...cookie, name: `n${i}`, accessed: cookie.accessed + i }));
      store.values.set(key, JSON.stringify(all));
      const sent = await setUp(store).get(new URL(`${top(0)}/`), top(0));
      expect(sent.length).toBeLessThan(COOKIE_PARTITION_BYTES);
      expect(sent).toContain("n39=");
    });
  });

  it("survives any Set-Cookie line, and stores only what it can read again", async () => {
    const part = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("a=b", "Path=/", "Domain=a.example", "Secure", "Max-Age=1"),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
        const { set, jar, store, get } = setUp();
        await set(parts.join(";"));
        const sent = await get();
        await jar.flush();
        expect(await setUp(store).get()).toBe(sent);
      }),
      { numRuns: 150 },
    );
  });
});

describe("script cookies", () => {
  it("behaves as document.cookie does", async () => {
    const { jar, set, get } = setUp();
    await set("secret=1; HttpOnly; Path=/");
    expect(await jar.setScriptCookie(A, URL_A, "secret=2; Path=/")).toBe(false);
    expect(await jar.setScriptCookie(A, URL_A, "mine=1; HttpOnly")).toBe(false);
    expect(await jar.setScriptCookie(A, URL_A, "mine=1; Path=/")).toBe(true);
    expect(await get()).toBe("secret=1; mine=1");
    expect((await jar.scriptCookies(partitionOf(A), URL_A)).map(({ name }) => name)).toEqual(["mine"]);
    expect(await jar.setScriptCookie(A, URL_A, "mine=; Path=/; Max-Age=0")).toBe(true);
    expect(await jar.scriptCookies(partitionOf(A), URL_A)).toEqual([]);
  });

  it("takes from a foreign frame only what is meant for that", async () => {
    const { jar } = setUp();
    const frame = new URL("https://ads.example/frame");
    expect(await jar.setScriptCookie(A, frame, "a=1")).toBe(false);
    expect(await jar.setScriptCookie(A, frame, "a=1; SameSite=None; Secure")).toBe(true);
  });

  it("lists visible changes, and a cookie that went out of sight as removed", async () => {
    const { set } = setUp();
    const changes = [
      ...(await set("a=1; Path=/")),
      ...(await set("hidden=1; Path=/; HttpOnly")),
      ...(await set("a=2; Path=/; HttpOnly")),
      ...(await set("b=1; Path=/; Max-Age=60")),
      ...(await set("b=1; Path=/; Max-Age=0")),
    ];
    const seen = visibleChanges(changes, URL_A).map(({ name, value, expires }) => [name, value, expires]);
    expect(seen).toEqual([
      ["a", "1", null],
      ["a", "", 0],
      ["b", "1", 1_700_000_060_000],
      ["b", "1", 0],
    ]);
    expect(visibleChanges(changes, new URL("https://other.example/"))).toEqual([]);
  });
});
