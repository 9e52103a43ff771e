/**
 * A feature of Chromium, on by itself in some builds (Debian's of 156), sends a navigation to the network while its service
 * worker starts, and can do the same with all that the page loads: in the app, straight from the phone to the sites.
 */
import type { RunningEdge } from "../fixtures/browser.ts";
import { test as base, expect } from "../fixtures/browser.ts";
import { CHROMIUM_ARGS, findChromium } from "../fixtures/chromium.ts";
import { test as oneHost } from "../fixtures/one-host.ts";
import { madeByOthers } from "../fixtures/test-origin/connection-owner.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

const executablePath = findChromium();
const args = [...CHROMIUM_ARGS, "--enable-features=ServiceWorkerAutoPreload"];
base.use({ launchOptions: { args, ...(executablePath === undefined ? {} : { executablePath }) } });

const PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"/>`;

base("the browser goes past a worker that does not say whose its requests are", async ({ direct, origin }) => {
  const { page } = direct;
  const worker = (routes: string) => `
    oninstall = (event) => { ${routes} skipWaiting(); };
    onactivate = (event) => event.waitUntil(clients.claim());
    const answer = async () => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      return new Response("of the worker", { headers: { "content-type": "text/html" } });
    };
    onfetch = (event) => event.respondWith(answer());`;
  const routes = `event.addRoutes({ condition: { urlPattern: new URLPattern({}) }, source: "fetch-event" });`;
  const asked: number[] = [];
  for (const text of [worker(""), worker(routes)]) {
    origin.route("/worker.js", ({ reply }) => reply(200, { "content-type": "text/javascript" }, text));
    origin.page("/", "of the network");
    await page.goto(`${origin.origin}/`);
    await page.evaluate(async () => {
      await navigator.serviceWorker.register("/worker.js");
      while (navigator.serviceWorker.controller?.state !== "activated")
        await new Promise((resolve) => setTimeout(resolve, 20));
    });
    const browser = await page.context().newCDPSession(page);
    await browser.send("ServiceWorker.enable");
    await browser.send("ServiceWorker.stopAllWorkers");
    await page.goto(`${origin.origin}/page`);
    expect(await page.textContent("body")).toBe("of the worker");
    asked.push(origin.requestsTo("/page").length);
    origin.forget();
    await page.evaluate(async () => (await navigator.serviceWorker.ready).unregister());
    await page.goto("about:blank");
  }
  expect(asked).toEqual([1, 0]);
});

function expectAllByEdge(origins: readonly TestOrigin[], edge: RunningEdge): void {
  const requests = origins.flatMap((origin) => origin.requests);
  expect(requests.length).toBeGreaterThan(4);
  const passed = new Set(
    madeByOthers(
      edge.pid,
      requests.map(({ connection }) => connection),
    ),
  );
  expect(requests.filter(({ connection }) => passed.has(connection)).map(({ url }) => url)).toEqual([]);
}

for (const [place, test] of [
  ["the app and a slot", base],
  ["the app with one host @long", oneHost],
] as const)
  test(`started or not, nothing passes the workers of ${place}`, async ({
    app,
    origin,
    otherOrigin,
    edge,
    link,
    network,
  }) => {
    const { page } = app;
    for (const site of [origin, otherOrigin])
      site.route("/p.svg", ({ reply }) => reply(200, { "content-type": "image/svg+xml" }, PICTURE));
    const pictures = `<img src="/p.svg"><img src="${otherOrigin.origin}/p.svg?a">`;
    origin.page("/", `<p>First</p>${pictures}`);
    origin.page("/next", `<p>Next</p>${pictures}`);
    await app.goto(`${origin.origin}/`);
    await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
    const browser = await page.context().newCDPSession(page);
    await browser.send("ServiceWorker.enable");
    for (const path of ["/", "/next"]) {
      await browser.send("ServiceWorker.stopAllWorkers");
      const before = link.requests.length;
      await page.goto(`${app.base}/?again`);
      await app.connected();
      await app.watchLoads();
      await app.goto(origin.origin + path);
      const pictures = app.frame().getByRole("img");
      await expect(pictures).toHaveCount(2);
      for (const picture of await pictures.all())
        await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(20);
      const passed = link.requests.slice(before).map((request) => request.path);
      expect(passed.filter((each) => !each.startsWith("/.ropeway/") && each !== "/sw.js")).toEqual([]);
    }
    expectAllByEdge([origin, otherOrigin], edge);
    // The app opens again with the page it had, which is left while it loads: nobody had answered what is given up then. The
    // origins' connections, above, tell of such requests, too.
    await expect.poll(() => network.leaks("localhost").filter(({ isAnswered }) => isAnswered)).toEqual([]);
  });
