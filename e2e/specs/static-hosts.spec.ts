/** Hosts of sites that are static files and `_headers`, as Cloudflare's assets serve them, beside an edge of another host. */
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingHttpHeaders, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtSlotFiles } from "../../scripts/deploy/slot-files.ts";
import { slotNames, writeSlotWorkers } from "../../scripts/deploy/slot-workers.ts";
import { freePort } from "../../scripts/local-edge/free-port.ts";
import { AppPage } from "../fixtures/app-page.ts";
import { expect, test } from "../fixtures/browser.ts";
import { startHostProxy } from "../fixtures/host-proxy.ts";
import { startWranglerDev } from "../fixtures/wrangler-dev.ts";

const BASE = "ropeway.me.localhost";
const LIST = "ropeway-s[01-03].me.localhost";

test("a site's host of static files boots, takes no subresource for a page, and is wiped @long", async ({
  page,
  origin,
  runtime,
}) => {
  test.setTimeout(400_000);
  const directory = await mkdtemp(join(tmpdir(), "ropeway-static-"));
  const [edgePort, filesPort] = [await freePort("127.0.0.1"), await freePort("127.0.0.1")];
  const proxy = await startHostProxy((host) => (host === BASE ? edgePort : filesPort));
  const base = `http://${BASE}:${proxy.port}`;
  const { startEdge } = await import("../../scripts/edge-process.ts");
  const edge = await startEdge({ runtime, port: edgePort, host: BASE, slotHosts: LIST, allowPrivate: true });
  const names = slotNames("ropeway", 1);
  const [worker] = await writeSlotWorkers(directory, names, await builtSlotFiles(base, LIST), "2026-08-01");
  const files = startWranglerDev(filesPort, [`--config=${worker?.config ?? ""}`]);
  try {
    const ask = (path: string, destination: string) => get(proxy.port, "ropeway-s01.me.localhost", path, destination);
    await expect
      .poll(() => ask("/.ropeway/boot", "iframe").catch(() => null), { timeout: 150_000 })
      .toMatchObject({ status: 200 });
    for (const [path, destination] of [
      ["/picture.png", "image"],
      ["/script.js", "script"],
      ["/data?of=a-page", "empty"],
      ["/.ropeway/none.js", "script"],
    ] as const) {
      const { status, text, headers } = await ask(path, destination);
      expect(status).toBe(404);
      expect(text).not.toContain("boot");
      expect(headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
    }

    origin.page("/", `<p>First</p><a href="/next?a=b%20c#part">Next</a>`);
    origin.page("/next", `<p id="part">Second</p>`);
    const app = new AppPage(page, base);
    await app.open(edge.accessKey, `${origin.origin}/`);
    await expect(app.frame().getByText("First")).toBeVisible();
    const slot = new URL((await app.content()).url()).origin;
    expect(slot).toMatch(/^http:\/\/ropeway-s0\d\.me\.localhost:/);

    // The browser drops the host's service worker: the page that is asked for next comes past it.
    const devTools = await page.context().newCDPSession(page);
    await devTools.send("Storage.clearDataForOrigin", { origin: slot, storageTypes: "service_workers" });
    const lost = page.waitForRequest(`${slot}/.ropeway/lost.js`);
    await app.navigated(() => app.frame().getByText("Next").click());
    await lost;
    await expect(app.frame().getByText("Second")).toBeVisible();
    await expect(app.address).toHaveValue(`${origin.origin}/next?a=b%20c#part`);
    expect(origin.requestsTo("/next")).toHaveLength(1);
    // So does one that the history leads to, which may be another site's on a host of a list.
    await devTools.send("Storage.clearDataForOrigin", { origin: slot, storageTypes: "service_workers" });
    const back = page.waitForRequest(`${slot}/.ropeway/boot?back&then=%2F`);
    await app.navigated(() => app.page.getByRole("button", { name: "Back" }).click());
    await back;
    await expect(app.frame().getByText("First")).toBeVisible();

    const left = await page.context().newPage();
    const bypass = await page.context().newCDPSession(left);
    await bypass.send("Network.enable");
    await bypass.send("Network.setBypassServiceWorker", { bypass: true });
    await left.goto(`${slot}/.ropeway/boot.js`);
    await left.evaluate(() => localStorage.setItem("left", "1"));
    expect(await left.evaluate(kept)).toEqual({ stored: "1", workers: 1 });
    expect((await left.goto(`${slot}/.ropeway/cleared`))?.status()).toBe(200);
    await left.goto(`${slot}/.ropeway/boot.js`);
    expect(await left.evaluate(kept)).toEqual({ stored: null, workers: 0 });
  } finally {
    files.kill();
    await edge.close();
    await proxy.close();
    await rm(directory, { recursive: true, force: true });
  }
});

async function kept(): Promise<{ stored: string | null; workers: number }> {
  const workers = await navigator.serviceWorker.getRegistrations();
  return { stored: localStorage.getItem("left"), workers: workers.length };
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

function get(port: number, host: string, path: string, destination: string): Promise<Answer> {
  const headers = { host: `${host}:${port}`, "sec-fetch-dest": destination, connection: "close" };
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path, headers }, async (answer) => {
      let text = "";
      for await (const piece of answer.setEncoding("utf8")) text += piece;
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
    });
    asked.on("error", reject);
    asked.end();
  });
}
