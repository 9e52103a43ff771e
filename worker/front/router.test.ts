import { describe, expect, it } from "vitest";
import { CONFIG_PATH, HEALTH_PATH, SUBPROTOCOL, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { VERSION } from "../../shared/version.ts";
import { BASE, CONFIGURED, KEY, routerOf, SLOT } from "./testing/router-rig.ts";

describe("health and configuration", () => {
  it("says that it is well, on any host", async () => {
    const { ask } = routerOf({});
    for (const host of [BASE, SLOT, "http://127.0.0.1:8787"]) {
      const response = await ask(host + HEALTH_PATH);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ status: "ok", version: VERSION, protocol: SUBPROTOCOL });
    }
  });

  it("tells the app where slots live and where the demo is", async () => {
    const { ask } = routerOf({ ...CONFIGURED, ROPEWAY_DEMO_URL: "http://demo.localhost:8788/" });
    const response = await ask(`http://ropeway.example:8787${CONFIG_PATH}`);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.json()).toEqual({
      version: VERSION,
      slotHost: "ropeway.example:8787",
      demoUrl: "http://demo.localhost:8788/",
      blocksTrackers: true,
      takesLinksOnce: true,
    });
  });

  it("says null for what there is not", async () => {
    const response = await routerOf({ ROPEWAY_DEMO_URL: "", ROPEWAY_BLOCK_LISTS: "0" }).ask(
      `https://x.workers.dev${CONFIG_PATH}`,
    );
    expect(await response.json()).toEqual({
      version: VERSION,
      slotHost: null,
      demoUrl: null,
      blocksTrackers: false,
      takesLinksOnce: true,
    });
  });

  it("does not tell the access key", async () => {
    const { ask } = routerOf();
    for (const path of [CONFIG_PATH, HEALTH_PATH, "/", TUNNEL_PATH]) {
      expect(await (await ask(BASE + path)).text()).not.toContain(KEY);
    }
  });
});

describe("files of the app", () => {
  it("serves them on the base host with the headers that isolate it", async () => {
    const { ask, served } = routerOf();
    const response = await ask(`${BASE}/assets/shell.js`);
    expect(await response.text()).toBe("file /assets/shell.js");
    expect(response.headers.get("etag")).toBe('"1"');
    expect(response.headers.get("content-security-policy")).toContain("https://*.ropeway.example");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(served).toEqual(["/assets/shell.js"]);
  });

  it("lets browsers keep what its name says the content of, and service workers for an hour", async () => {
    const { ask } = routerOf();
    const freshness = async (path: string) => (await ask(BASE + path)).headers.get("cache-control");
    expect(await freshness("/.ropeway/slot-worker-0123456789abcdef0123.js")).toBe(
      "public, max-age=31536000, immutable",
    );
    expect(await freshness("/.ropeway/sw.js")).toBe("public, max-age=3600");
    expect(await freshness("/shell-0123456789abcdef0123.css")).toBe("public, max-age=31536000, immutable");
    expect(await freshness("/icons/icon.svg")).toBeNull();
  });

  it("says nothing of the freshness of a file that is not there", async () => {
    const { ask } = routerOf(CONFIGURED, 404);
    expect((await ask(`${BASE}/.ropeway/slot-worker-0123456789abcdef0123.js`)).headers.get("cache-control")).toBeNull();
  });

  it("serves a slot the reserved files only", async () => {
    const { ask, served } = routerOf();
    const response = await ask(`${SLOT}/.ropeway/boot?then=%2F`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-security-policy")).toContain("frame-ancestors https://ropeway.example");
    expect(served).toEqual(["/.ropeway/boot"]);
  });

  it("sends documents of a slot without its service worker to the boot page", async () => {
    const { ask, served } = routerOf();
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
    const { ask, served } = routerOf();
    for (const destination of ["script", "image", "empty", "serviceworker"]) {
      const response = await ask(`${SLOT}/x.js`, { "sec-fetch-dest": destination });
      expect(response.status, destination).toBe(404);
      expect(await response.text()).toBe("");
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    }
    expect(served).toEqual([]);
  });

  it("sends every other host to the base host, and nowhere else", async () => {
    const { ask, served } = routerOf();
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
    const { ask, served } = routerOf({ ...CONFIGURED, ROPEWAY_HOST: "ropeway.localhost" });
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
    const { ask, served } = routerOf();
    for (const method of ["POST", "PUT", "DELETE"]) expect((await ask(`${BASE}/`, {}, method)).status).toBe(404);
    expect(served).toEqual([]);
  });

  it("serves everything on the only host where there is one", async () => {
    const { ask, served } = routerOf({ ROPEWAY_ACCESS_KEY: KEY });
    expect((await ask("https://x.workers.dev/")).status).toBe(200);
    expect(served).toEqual(["/"]);
  });
});

describe("with a list of hosts for slots", () => {
  const LISTED = { ...CONFIGURED, ROPEWAY_SLOT_HOSTS: "a.ropeway.example, b.ropeway.example" };
  const FILES: Readonly<Record<string, string>> = {
    "/": "<html><head></head></html>",
    "/sw.js": "worker()",
    "/.ropeway/sw.js": "slot()",
    "/.ropeway/boot": '<script src="/boot.js"></script>',
  };
  const textOf = async (url: string, headers: Record<string, string> = {}) => {
    const response = await routerOf(LISTED, 200, FILES).ask(url, headers);
    return { status: response.status, etag: response.headers.get("etag") ?? "", text: await response.text() };
  };

  it("tells the app the list with its page, and its worker that it is another one", async () => {
    expect((await textOf(`${BASE}/`)).text).toContain(
      '<meta name="ropeway-slots" content="https://a.ropeway.example https://b.ropeway.example" />',
    );
    expect((await textOf(`${BASE}/sw.js`)).text).toMatch(/^self.ropewayList="[0-9a-f]{8}";\nworker\(\)$/);
    expect((await textOf(`${BASE}/shell.js`)).text).toBe("file /shell.js");
    expect(await (await routerOf(LISTED).ask(BASE + CONFIG_PATH)).json()).toMatchObject({ slotHost: null });
  });

  it("tells a slot where the app is", async () => {
    expect((await textOf("https://a.ropeway.example/.ropeway/boot")).text).toBe(
      '<script data-shell="https://ropeway.example" src="/boot.js"></script>',
    );
    expect((await textOf("https://b.ropeway.example/.ropeway/sw.js")).text).toBe(
      'self.ropewayShell="https://ropeway.example";self.ropewaySlots="https://a.ropeway.example https://b.ropeway.example";\nslot()',
    );
  });

  it("sends nothing again that is the same with the same list", async () => {
    const { etag } = await textOf(`${BASE}/`);
    expect(etag).toMatch(/^"1\.[0-9a-f]{8}"$/);
    expect(await textOf(`${BASE}/`, { "if-none-match": etag })).toEqual({ status: 304, etag, text: "" });
    for (const other of ['"1"', '"1.00000000"'])
      expect((await textOf(`${BASE}/`, { "if-none-match": other })).status).toBe(200);
  });

  it("lets a slot alone empty itself", async () => {
    const { ask } = routerOf(LISTED);
    const clear = async (site: string) => {
      const { status, headers } = await ask("https://a.ropeway.example/.ropeway/cleared", { "sec-fetch-site": site });
      return [status, headers.get("clear-site-data"), headers.get("cache-control")];
    };
    expect(await clear("same-origin")).toEqual([200, '"storage"', "no-store"]);
    for (const site of ["same-site", "cross-site", "none"]) expect(await clear(site)).toEqual([404, null, null]);
  });

  it("keeps nothing of a slot's addresses, and takes no tunnels there", async () => {
    const { ask } = routerOf(LISTED);
    const response = await ask("https://a.ropeway.example/page");
    expect([response.status, response.headers.get("cache-control")]).toEqual([302, "no-store"]);
    expect((await ask(`https://a.ropeway.example${TUNNEL_PATH}`)).status).toBe(404);
  });

  it("says what to mend where the list cannot be used", async () => {
    const { ask } = routerOf({ ...CONFIGURED, ROPEWAY_SLOT_HOSTS: "a.example.net,b.example.net" });
    const response = await ask(`${BASE}/`);
    expect(response.status).toBe(500);
    expect(await response.text()).toContain("another site than ropeway.example: take hosts below ropeway.example");
  });
});
