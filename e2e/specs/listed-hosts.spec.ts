/** Slots on a list of hosts: sites take over from one another, and find nothing there. */
import type { Frame, Page } from "@playwright/test";
import { startEdge } from "../../scripts/edge-process.ts";
import { freePort } from "../../scripts/local-edge/free-port.ts";
import { AppPage } from "../fixtures/app-page.ts";
import { test as base, expect, type RunningEdge } from "../fixtures/browser.ts";
import { setBrowserCookies } from "../fixtures/browser-cookies.ts";
import { startTestOrigin, type TestOrigin } from "../fixtures/test-origin/test-origin.ts";

/** Slots are no hosts below the app's. */
const HOST = "app.ropeway.localhost";

interface Listed {
  /** How many hosts the list has. */
  count: number;
  edge: RunningEdge;
  /** One server for any number of sites: `siteUrl`. */
  sites: TestOrigin;
  listed: AppPage;
}

const test = base.extend<Pick<Listed, "count" | "sites" | "listed"> & { listedEdge: RunningEdge }>({
  count: [8, { option: true }],
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures used from this pattern.
  sites: async ({}, use) => {
    const sites = await startTestOrigin();
    await use(sites);
    await sites.close();
  },
  listedEdge: async ({ count }, use) => {
    const slotHosts = `s[1-${count}].ropeway.localhost`;
    const edge = await startEdge({ runtime: "workerd", port: 0, host: HOST, slotHosts, allowPrivate: true });
    await use(edge);
    await edge.close();
  },
  listed: async ({ page, listedEdge }, use) => {
    const app = new AppPage(page, listedEdge.url);
    await app.open(listedEdge.accessKey);
    await use(app);
  },
});

const siteUrl = ({ port }: TestOrigin, index: number, path = "/") => `http://n${index}.localhost:${port}${path}`;

interface KnownSlot {
  readonly label: string;
  readonly origin: string;
  readonly topLevelOrigin: string;
}

/** Which sites have a host, by the number of each. */
async function owners(page: Page): Promise<number[]> {
  const slots = await page.evaluate(() => JSON.parse(localStorage.getItem("ropeway.slots") ?? "[]") as KnownSlot[]);
  return slots.map(({ origin }) => Number(/n(\d+)\./.exec(origin)?.[1])).sort((one, other) => one - other);
}

const spareIsReady = (page: Page) =>
  expect
    .poll(() => page.evaluate(() => localStorage.getItem("ropeway.spare-slots")), { timeout: 30_000 })
    .toMatch(/\w/);

test.describe("with few hosts", () => {
  test.use({ count: 2 });

  test("a site takes over the host of another, and finds it empty", async ({ listed: app, sites }) => {
    sites.page("/", "<p>Here</p><input type=password aria-label=Password>");
    const hosts: string[] = [];
    for (const site of [1, 2, 3]) {
      await app.goto(siteUrl(sites, site));
      await expect(app.frame().getByText("Here")).toBeVisible();
      const page = await app.content();
      hosts.push(new URL(page.url()).host);
      expect(await page.evaluate(() => [localStorage.left, sessionStorage.left])).toEqual([undefined, undefined]);
      await page.evaluate(
        (left) => Object.assign(localStorage, { left }) && Object.assign(sessionStorage, { left }),
        site,
      );
    }
    expect(hosts[2]).toBe(hosts[0]);
    expect(hosts[1]).not.toBe(hosts[0]);
    // The browser's list of passwords has one of another site for the host.
    await app.frame().getByLabel("Password").click();
    await expect(app.page.getByText(/let it neither save nor fill in any/).first()).toBeVisible();
    await expect(app.frame().getByLabel("Password")).toHaveAttribute("autocomplete", "new-password");
  });

  test("the app says before a site that has a tab loses what it stored @long", async ({ listed: app, sites }) => {
    sites.page("/", "<p>Here</p>");
    const here = () => expect(app.frame().getByText("Here")).toBeVisible();
    const left = async () => (await app.content()).evaluate(() => localStorage.left);
    await app.goto(siteUrl(sites, 1));
    await here();
    await (await app.content()).evaluate(() => Object.assign(localStorage, { left: "kept" }));
    await app.page.getByRole("button", { name: "Menu" }).click();
    await app.page.getByRole("button", { name: "New tab" }).click();
    await app.goto(siteUrl(sites, 2));
    await here();
    // The tab behind has no frame then.
    await app.page.goto(app.base);
    await here();
    const bar = app.page.getByRole("navigation", { name: "Browser" });
    const loss = /n1\.localhost\S*, in a tab behind, loses what it has stored/;
    await expect(bar.getByText(/^When one more site opens/)).toHaveText(loss);
    await app.goto(siteUrl(sites, 3));
    await here();
    await expect(bar.getByText(/^Another site needs the room/)).toHaveText(loss);
    await app.page.getByRole("button", { name: "Tabs: 2" }).click();
    await app.page.getByRole("dialog").getByRole("button", { name: "Test page" }).first().click();
    await expect(app.address).toHaveValue(siteUrl(sites, 1));
    await here();
    expect(await left()).toBeUndefined();
  });

  test("a site that comes where another was finds nothing of it, and Back leads to what was there @long", async ({
    listed: app,
    sites,
  }) => {
    sites.page(
      "/",
      `<p></p><script>
        localStorage.visits = Number(localStorage.visits ?? 0) + 1;
        sessionStorage.visits = Number(sessionStorage.visits ?? 0) + 1;
        document.querySelector("p").textContent = new URL(document.URL).host.split(".")[0] + ": " + localStorage.visits + sessionStorage.visits;
      </script>`,
    );
    for (const site of [1, 2, 3]) {
      await app.goto(siteUrl(sites, site));
      await expect(app.frame().locator("p")).toHaveText(`n${site}: 11`);
    }
    await app.goto(siteUrl(sites, 3, "/?again"));
    await expect(app.frame().locator("p")).toHaveText(/22$/);
    await app.navigated(() => app.page.getByRole("button", { name: "Back" }).click());
    await app.navigated(() => app.page.getByRole("button", { name: "Back" }).click());
    await expect(app.address).toHaveValue(siteUrl(sites, 2));
    // Its host is its own still, or was emptied for the next site meanwhile.
    await expect(app.frame().locator("p")).toHaveText(/^n2: (11|22)$/);
    expect(sites.requests.filter(({ headers }) => /^n2\./.test(headers.host ?? ""))).toHaveLength(2);
  });
});

declare global {
  interface Navigator {
    readonly storageBuckets: {
      keys(): Promise<string[]>;
      open(name: string): Promise<{ readonly caches: CacheStorage }>;
    };
  }
}

/**
 * What a page can leave, by the kind of storage. No page gets at service workers; that those of the host go,
 * static-hosts.spec.ts sees.
 */
const LEAVE: Readonly<Record<string, (page: Frame, secret: string) => Promise<unknown>>> = {
  cookie: (page, secret) => setBrowserCookies(page, [`left=${secret}; path=/; max-age=9999`]),
  "cookie with a path": (page, secret) => setBrowserCookies(page, [`left=${secret}; path=/.ropeway/; max-age=9999`]),
  localStorage: (page, secret) => page.evaluate((text) => localStorage.setItem("left", text), secret),
  sessionStorage: (page, secret) => page.evaluate((text) => sessionStorage.setItem("left", text), secret),
  cache: (page, secret) =>
    page.evaluate(async (text) => (await caches.open(text)).put("/left", new Response(text)), secret),
  database: (page, secret) =>
    page.evaluate(
      (text) =>
        new Promise<void>((resolve) => {
          indexedDB.open(text).onsuccess = () => resolve();
        }),
      secret,
    ),
  bucket: (page, secret) =>
    page.evaluate(async (text) => void (await (await navigator.storageBuckets.open(text)).caches.open(text)), secret),
  file: (page, secret) =>
    page.evaluate(async (text) => {
      const directory = await navigator.storage.getDirectory();
      const file = await (await directory.getFileHandle("left", { create: true })).createWritable();
      await file.write(text);
      await file.close();
    }, secret),
};

const LEFT = Object.keys(LEAVE).length;

async function leaveEverywhere(page: Frame, secret: string): Promise<void> {
  for (const leave of Object.values(LEAVE)) await leave(page, secret);
}

/** What is there, of all that. */
async function inventory(page: Frame): Promise<readonly string[]> {
  const { origin } = new URL(page.url());
  const cookies = await page.page().context().cookies(`${origin}/.ropeway/`);
  const found = await page.evaluate(async () => {
    const files: string[] = [];
    for await (const name of (await navigator.storage.getDirectory()).keys()) files.push(`file ${name}`);
    return [
      ...Object.keys(localStorage).map((key) => `local ${key}`),
      ...Object.keys(sessionStorage).map((key) => `session ${key}`),
      ...(await caches.keys()).map((name) => `cache ${name}`),
      ...(await indexedDB.databases()).map(({ name }) => `database ${name}`),
      ...(await navigator.storageBuckets.keys()).map((name) => `bucket ${name}`),
      ...files,
    ];
  });
  return [...cookies.map(({ path }) => `cookie ${path}`), ...found];
}

test.describe("with hosts whose service workers the browser has dropped", () => {
  test.use({ count: 2 });

  test("a site finds nothing of the one before, whatever kind of storage that was @long", async ({
    listed: app,
    sites,
  }) => {
    test.setTimeout(300_000);
    sites.page("/", "<p>Here</p>");
    const devTools = await app.page.context().newCDPSession(app.page);
    const hosts = new Set<string>();
    for (const [site, [kind, leave]] of [...Object.entries(LEAVE), ...Object.entries(LEAVE).slice(0, 2)].entries()) {
      await app.goto(siteUrl(sites, site));
      await expect(app.frame().getByText("Here")).toBeVisible();
      const page = await app.content();
      expect(await inventory(page), `before ${kind}`).toEqual([]);
      await leave(page, `site-${site}`);
      expect(await inventory(page), kind).toHaveLength(1);
      const { origin } = new URL(page.url());
      hosts.add(origin);
      await devTools.send("Storage.clearDataForOrigin", { origin, storageTypes: "service_workers" });
    }
    expect(hosts.size).toBe(2);
  });

  test("an address of the site before is not asked of the one that has its host now @long", async ({
    listed: app,
    sites,
  }) => {
    sites.page("/secret", "<p>Secret</p>");
    sites.page("/", "<p>Here</p>");
    const hosts: string[] = [];
    for (const [site, path, text] of [
      [1, "/secret?token=4711", "Secret"],
      [2, "/", "Here"],
      [3, "/", "Here"],
    ] as const) {
      await app.goto(siteUrl(sites, site, path));
      await expect(app.frame().getByText(text)).toBeVisible();
      hosts.push(new URL((await app.content()).url()).origin);
    }
    const [former, , origin = ""] = hosts;
    expect(origin).toBe(former);
    const devTools = await app.page.context().newCDPSession(app.page);
    await devTools.send("Storage.clearDataForOrigin", { origin, storageTypes: "service_workers" });
    await app.navigated(() => app.page.evaluate(() => history.go(-2)));
    await expect(app.frame().getByText("Secret")).toBeVisible();
    await expect(app.address).toHaveValue(siteUrl(sites, 1, "/secret?token=4711"));
    const asked = sites.requestsTo("/secret").map(({ headers }) => headers.host?.split(".")[0]);
    expect(new Set(asked)).toEqual(new Set(["n1"]));
  });
});

const SITES = 30;

test("of 30 sites in turn on 8 hosts each finds its host empty, the least recently used goes, and nothing that is open @long", async ({
  listed: app,
  sites,
}) => {
  test.setTimeout(300_000);
  sites.page("/", "<p>Here</p>");
  const open = async (window: AppPage, site: number): Promise<Frame> => {
    await window.goto(siteUrl(sites, site));
    await expect(window.frame().getByText("Here")).toBeVisible();
    return window.content();
  };
  // It stays where it is, in a window of its own.
  const other = await app.openAnother();
  await other.connected();
  const kept = await open(other, 100);
  await leaveEverywhere(kept, "kept");
  /** Sites by their last use, the open one aside. */
  let order: number[] = [];
  for (let site = 1; site <= SITES; site++) {
    const page = await open(app, site);
    expect(await inventory(page), `site ${site}`).toEqual([]);
    await leaveEverywhere(page, `site-${site}`);
    expect(await inventory(page)).toHaveLength(LEFT);
    order = [...order.filter((known) => known !== site), site];
    if (site % 5 === 0) {
      const again = order.at(-4) ?? site;
      expect(await inventory(await open(app, again)), `site ${again} again`).toHaveLength(LEFT);
      order = [...order.filter((known) => known !== again), again];
    }
    await spareIsReady(app.page);
    // One host is the open site's, and at most one the spare's of each window.
    const owned = await owners(app.page);
    expect(owned).toContain(100);
    const mine = owned.filter((known) => known !== 100);
    expect(mine, `after site ${site}`).toEqual(order.slice(-mine.length).sort((one, two) => one - two));
    expect(mine.length).toBeGreaterThanOrEqual(Math.min(order.length, 5));
  }
  expect(await inventory(kept)).toHaveLength(LEFT);
  expect(await kept.evaluate(() => localStorage.left)).toBe("kept");
  await other.page.reload();
  expect(await inventory(await open(other, 100))).toHaveLength(LEFT);
});

test("where no host is free, frames wait for a tap and say so, and a page says it @long", async ({
  listed: app,
  sites,
}) => {
  test.setTimeout(120_000);
  const frames = Array.from({ length: 8 }, (_, index) => index + 10);
  for (const frame of frames) sites.page(`/frame-${frame}`, `<p>Frame ${frame}</p>`);
  const elements = frames.map(
    (frame) => `<iframe title="Frame ${frame}" src="${siteUrl(sites, frame, `/frame-${frame}`)}"></iframe>`,
  );
  sites.page("/", `<p>Page</p>${elements.join("")}`);
  await app.goto(siteUrl(sites, 1));
  const inFrames = (text: string | RegExp) =>
    Promise.all(
      frames.map((frame) => app.frame().frameLocator(`[title="Frame ${frame}"]`).getByText(text).count()),
    ).then((counts) => counts.filter((count) => count > 0).length);
  // Half of the hosts, without a tap.
  await expect.poll(() => inFrames(/^Frame \d+$/), { timeout: 60_000 }).toBe(4);
  await expect.poll(() => inFrames(/^Load n/)).toBe(4);
  // The news of it stand over the end of the page.
  await app.page.getByRole("button", { name: "Dismiss" }).click();
  const buttons = frames.map((frame) => app.frame().frameLocator(`[title="Frame ${frame}"]`).getByRole("button"));
  for (const button of buttons) if ((await button.count()) > 0) await button.click();
  // The page has one of the eight.
  await expect.poll(() => inFrames(/^Frame \d+$/), { timeout: 60_000 }).toBe(7);
  await expect.poll(() => inFrames(/no room for n\d+/)).toBe(1);

  const other = await app.openAnother();
  await other.connected();
  sites.page("/other", "<p>Other</p>");
  await other.goto(siteUrl(sites, 2, "/other"));
  await expect(other.page.getByRole("heading", { name: "No room for another site now" })).toBeVisible({
    timeout: 60_000,
  });
  expect(await inFrames(/^Frame \d+$/)).toBe(7);
  await app.page.close();
  await expect(async () => {
    await other.goto(siteUrl(sites, 2, "/other"));
    await expect(other.frame().getByText("Other")).toBeVisible({ timeout: 3_000 });
  }).toPass({ timeout: 60_000 });
});

test.describe("with a host that was granted something", () => {
  test.use({ count: 3 });

  test("its site keeps it @long", async ({ listed: app, sites }) => {
    test.setTimeout(120_000);
    sites.page("/", "<p>Here</p>");
    await app.goto(siteUrl(sites, 1));
    const { origin } = new URL((await app.content()).url());
    await app.page.context().grantPermissions(["notifications", "geolocation"], { origin });
    for (const site of [2, 3, 4, 5, 2]) {
      await app.goto(siteUrl(sites, site));
      await expect(app.frame().getByText("Here")).toBeVisible();
      expect((await app.content()).url()).not.toContain(origin);
      expect(await owners(app.page)).toContain(1);
    }
  });
});

test("an app that is installed learns of a changed list @long", async ({ page, sites }) => {
  test.setTimeout(120_000);
  sites.page("/", "<p>Here</p>");
  const same = { runtime: "workerd", port: await freePort("127.0.0.1"), host: HOST, allowPrivate: true } as const;
  const accessKey = "kept-to-itself-in-32-characters.";
  const former = await startEdge({ ...same, accessKey, slotHosts: "s[1-3].ropeway.localhost" });
  const app = new AppPage(page, former.url);
  await app.open(former.accessKey);
  const hostShown = async (site: number): Promise<string> => {
    await app.goto(siteUrl(sites, site));
    await expect(app.frame().getByText("Here")).toBeVisible();
    return new URL((await app.content()).url()).hostname;
  };
  expect(await hostShown(1)).toMatch(/^s\d\./);
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  await former.close();

  const edge = await startEdge({ ...same, accessKey, slotHosts: "t[1-3].ropeway.localhost" });
  // As if the hour had passed for which the browser's cache has the app's worker.
  const session = await page.context().newCDPSession(page);
  await session.send("Network.clearBrowserCache");
  await page.evaluate(async () => void (await (await navigator.serviceWorker.ready).update()));
  const list = () =>
    page.evaluate(async () => (await (await fetch("/")).text()).match(/ropeway-slots" content="([^"]*)/)?.[1]);
  await expect.poll(list, { timeout: 30_000 }).toContain("t1.ropeway.localhost");
  await page.reload();
  await expect(app.address).toBeVisible();
  await app.watchLoads();
  expect(await hostShown(1)).toMatch(/^t\d\./);
  await edge.close();
});
