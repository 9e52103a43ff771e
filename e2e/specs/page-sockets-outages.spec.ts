/** Sockets of pages while the link is away, and when the edge has forgotten them. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEdge } from "../../scripts/edge-process.ts";
import { freePort } from "../../scripts/local-edge/free-port.ts";
import { AppPage } from "../fixtures/app-page.ts";
import { expect, test } from "../fixtures/browser.ts";
import { openNoting, type SocketOrigin, startSocketOrigin } from "../fixtures/socket-origin.ts";

let server: SocketOrigin;
test.beforeEach(async ({ origin }) => {
  server = await startSocketOrigin(new URL(origin.origin).hostname);
});
test.afterEach(() => server.close());

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

test("a socket ends with 1006 where the edge has forgotten it", async ({ page, origin }) => {
  const same = {
    runtime: "workerd",
    port: await freePort("127.0.0.1"),
    accessKey: randomBytes(16).toString("hex"),
  } as const;
  const state = await mkdtemp(join(tmpdir(), "ropeway-sockets-"));
  const edge = await startEdge({ ...same, allowPrivate: true, stateDirectory: state });
  const app = new AppPage(page, edge.url);
  await app.open(edge.accessKey);
  origin.page("/", "<p>Page</p>");
  await app.goto(`${origin.origin}/`);
  const got = await openNoting(await app.content(), `${server.url}/long`);
  await edge.close();
  const next = await startEdge({ ...same, allowPrivate: true, stateDirectory: state });
  await expect.poll(got, { timeout: 60_000 }).toEqual(["closed 1006"]);
  await next.close();
  await rm(state, { recursive: true });
});
