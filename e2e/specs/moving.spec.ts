/** A phone that moves to another network in mid-page, and an edge that dies in mid-page: pages go on. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEdge } from "../../scripts/edge-process.ts";
import { tilePicture } from "../demo/hundred-fifty.ts";
import { AppPage } from "../fixtures/app-page.ts";
import { expect, test } from "../fixtures/browser.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";
import { startShaper } from "../lab/shaper.ts";

const PICTURES = 30;

/** A page whose pictures are all answered only after `release`. */
function heldPictures(origin: TestOrigin): { readonly asked: () => number; readonly release: () => void } {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const numbers = Array.from({ length: PICTURES }, (_, index) => index + 1);
  for (const number of numbers) {
    const picture = tilePicture(number);
    origin.route(`/tile-${number}.png`, async ({ reply }) => {
      await released;
      reply(200, { "content-type": "image/png" }, picture);
    });
  }
  origin.page("/", numbers.map((number) => `<img src="/tile-${number}.png">`).join(""));
  return { asked: () => origin.requests.filter(({ path }) => path.endsWith(".png")).length, release };
}

/** The page is there, and waits for all its pictures. */
async function expectWaiting(app: AppPage, asked: () => number): Promise<void> {
  await expect.poll(asked).toBe(PICTURES);
  await expect(app.frame().locator("img")).toHaveCount(PICTURES);
}

async function expectPictures(app: AppPage): Promise<void> {
  const pictures = app.frame().locator("img");
  await expect
    .poll(
      () => pictures.evaluateAll((all) => all.filter((each) => (each as HTMLImageElement).naturalWidth === 36).length),
      { timeout: 30_000 },
    )
    .toBe(PICTURES);
}

for (const isTold of [true, false]) {
  const told = isTold ? "and the browser says so" : "and nobody says so";
  test(`to another address: the sockets are dead, ${told}; nothing is asked for twice`, {
    tag: isTold ? [] : "@long",
  }, async ({ app, origin, link }) => {
    const { asked, release } = heldPictures(origin);
    await app.ask(`${origin.origin}/`);
    await expectWaiting(app, asked);
    const { connections } = link;
    link.strand();
    if (isTold) await app.page.evaluate(() => window.dispatchEvent(new Event("online")));
    release();
    await expectPictures(app);
    expect(link.connections).toBeGreaterThan(connections);
    expect(asked()).toBe(PICTURES);
    expect((await app.stats()).sessions).toBe(1);
  });
}

test("an edge that dies and comes back: the page is whole, and a form was sent once", async ({
  page,
  origin,
  runtime,
  demo,
}) => {
  const stateDirectory = await mkdtemp(join(tmpdir(), "ropeway-moving-"));
  const options = { runtime, allowPrivate: true, demo, stateDirectory } as const;
  const first = await startEdge({ ...options, port: 0 });
  const port = Number(new URL(first.url).port);
  const link = await startShaper({ listen: { port: 0 }, target: { host: "127.0.0.1", port } });
  const app = new AppPage(page, `http://localhost:${link.port}`);
  let second: Awaited<ReturnType<typeof startEdge>> | null = null;
  try {
    await app.open(first.accessKey);
    const { asked, release } = heldPictures(origin);
    origin.route("/order", ({ reply }) => reply(200, {}, "taken"));
    await app.ask(`${origin.origin}/`);
    await expectWaiting(app, asked);
    const order = (): Promise<string> =>
      app
        .frame()
        .locator("html")
        .evaluate(() => fetch("/order", { method: "POST", body: "one" }).then((answer) => answer.text()));
    expect(await order()).toBe("taken");
    process.kill(first.pid, "SIGKILL");
    await first.exited;
    release();
    second = await startEdge({ ...options, port, accessKey: first.accessKey });
    await expectPictures(app);
    expect(await order()).toBe("taken");
    expect(origin.requestsTo("/order")).toHaveLength(2);
    expect((await app.stats()).sessions).toBe(2);
  } finally {
    await link.close();
    await (second ?? first).close();
    await rm(stateDirectory, { recursive: true, force: true });
  }
});
