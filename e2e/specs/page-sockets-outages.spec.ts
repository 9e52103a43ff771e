/** Sockets of pages while the link is away, and when the edge has forgotten them. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { freePort } from "../../scripts/local-edge/free-port.ts";
import { AppPage } from "../fixtures/app-page.ts";
import { expect, test } from "../fixtures/browser.ts";
import { openNoting, type SocketOrigin, startSocketOrigin } from "../fixtures/socket-origin.ts";

let server: SocketOrigin;
test.beforeEach(async ({ origin }) => {
  server = await startSocketOrigin(new URL(origin.origin).hostname);
});
const directories: string[] = [];
test.afterEach(async () => {
  server.close();
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true });
});

test("a socket goes on after an outage with all that was said meanwhile, once and in order", async ({
  app,
  origin,
  link,
}) => {
  origin.page("/", "<p>Page</p>");
  await app.goto(`${origin.origin}/`);
  const frame = await app.content();
  const got = await openNoting(frame, `${server.url}/long`);
  link.offline();
  await frame.evaluate(() => {
    const { socket } = window as unknown as { socket: WebSocket };
    for (let count = 0; count < 20; count++) socket.send(`own ${count}`);
  });
  for (let count = 0; count < 20; count++) server.say("/long", `server ${count}`);
  link.online();
  await expect.poll(async () => (await got()).length, { timeout: 60_000 }).toBe(40);
  const all = await got();
  for (const who of ["own", "server"])
    expect(all.filter((text) => text.startsWith(who))).toEqual(
      Array.from({ length: 20 }, (_, index) => `${who} ${index}`),
    );
});

test("a socket's bufferedAmount has what the link has not taken, and then nothing", async ({ app, origin, link }) => {
  origin.page("/", "<p>Page</p>");
  await app.goto(`${origin.origin}/`);
  const frame = await app.content();
  await openNoting(frame, `${server.url}/long`);
  link.offline();
  const buffered = () => frame.evaluate(() => (window as unknown as { socket: WebSocket }).socket.bufferedAmount);
  await frame.evaluate(() => {
    const { socket } = window as unknown as { socket: WebSocket };
    for (let count = 0; count < 20; count++) socket.send(new Uint8Array(100_000));
  });
  // What is on its way at most is `uploadStreamCreditBytes`.
  expect(await buffered()).toBeGreaterThan(1_600_000);
  link.online();
  await expect.poll(buffered, { timeout: 60_000 }).toBe(0);
});

/** Starts an edge each time at the same address, with what the one before has kept. */
async function keptEdge(): Promise<() => Promise<RunningEdge>> {
  const stateDirectory = await mkdtemp(join(tmpdir(), "ropeway-sockets-"));
  const accessKey = randomBytes(16).toString("hex");
  const same = { runtime: "workerd", port: await freePort("127.0.0.1"), accessKey, stateDirectory } as const;
  directories.push(stateDirectory);
  return () => startEdge({ ...same, allowPrivate: true });
}

test("a socket ends with 1006 where the edge has forgotten it", async ({ page, origin }) => {
  const start = await keptEdge();
  const edge = await start();
  const app = new AppPage(page, edge.url);
  await app.open(edge.accessKey);
  origin.page("/", "<p>Page</p>");
  await app.goto(`${origin.origin}/`);
  const got = await openNoting(await app.content(), `${server.url}/long`);
  await edge.close();
  const next = await start();
  await expect.poll(got, { timeout: 60_000 }).toEqual(["closed 1006"]);
  await next.close();
});

test("a socket opens in an app that was started without its edge", async ({ page, origin }) => {
  const start = await keptEdge();
  const edge = await start();
  const app = new AppPage(page, edge.url);
  await app.open(edge.accessKey);
  await app.storeReady();
  await edge.close();
  await page.reload();
  await expect(page.locator(".link-pill")).toBeVisible();
  const next = await start();
  const socket = JSON.stringify(`${server.url}/long`);
  origin.page(
    "/",
    `<p></p><script>new WebSocket(${socket}).onopen = () => { document.querySelector("p").textContent = "open"; }</script>`,
  );
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().getByText("open")).toBeVisible();
  await next.close();
});
