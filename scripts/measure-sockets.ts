/**
 * `node scripts/measure-sockets.ts`: a page's socket in Chromium over an emulated link of 600 ms and 8 Mbit/s each way: round
 * trips of an echo, and 10 MB each way as a part of the link's rate, twice on the same socket.
 */
import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { chromium, type Frame } from "@playwright/test";
import { WebSocketServer } from "ws";
import { AppPage } from "../e2e/fixtures/app-page.ts";
import { CHROMIUM_ARGS, findHeadlessChromium } from "../e2e/fixtures/chromium.ts";
import { startTestOrigin } from "../e2e/fixtures/test-origin/test-origin.ts";
import { startShaper } from "../e2e/lab/shaper.ts";
import { startEdge } from "./edge-process.ts";

/** Milliseconds there and back. */
const ROUND_TRIP = 600;
const KBIT = 8_000;
const [MESSAGES, MESSAGE_BYTES] = [100, 100_000];

const edge = await startEdge({ runtime: "workerd", port: 0, allowPrivate: true });
const link = await startShaper({
  listen: { port: 0 },
  target: { host: "127.0.0.1", port: Number(new URL(edge.url).port) },
  delay: ROUND_TRIP / 2,
  downKbit: KBIT,
  upKbit: KBIT,
});
const origin = await startTestOrigin({ ip: "127.0.0.1" });
origin.page("/", "<p>Page</p>");
const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
server.on("connection", (socket) => {
  let left = MESSAGES * MESSAGE_BYTES;
  socket.on("message", (data, isBinary) => {
    if (isBinary) left -= (data as Buffer).length;
    if (isBinary && left > 0) return;
    if (isBinary) left = MESSAGES * MESSAGE_BYTES;
    const isWanted = !isBinary && String(data) === "send";
    if (!isWanted) return socket.send("got");
    for (let count = 0; count < MESSAGES; count++) socket.send(randomBytes(MESSAGE_BYTES));
  });
});
const executablePath = findHeadlessChromium();
const browser = await chromium.launch({ ...(executablePath !== undefined && { executablePath }), args: CHROMIUM_ARGS });

/** In milliseconds. */
interface Figures {
  readonly echoes: readonly number[];
  readonly up: number;
  readonly down: number;
}

function measure(frame: Frame): Promise<Figures[]> {
  const { port } = server.address() as AddressInfo;
  return frame.evaluate(
    async ({ url, messages, bytes }) => {
      const socket = new WebSocket(url);
      let onMessage = (): void => {};
      socket.onmessage = () => onMessage();
      await new Promise((resolve) => {
        socket.onopen = resolve;
      });
      const heard = (count: number): Promise<void> =>
        new Promise((resolve) => {
          let left = count;
          onMessage = () => {
            left -= 1;
            if (left === 0) resolve();
          };
        });
      const timed = async (count: number, act: () => void): Promise<number> => {
        const started = performance.now();
        const all = heard(count);
        act();
        await all;
        return performance.now() - started;
      };
      const runs = [];
      for (let run = 0; run < 2; run++) {
        const echoes: number[] = [];
        for (let count = 0; count < 5; count++) echoes.push(await timed(1, () => socket.send("echo")));
        const part = new Uint8Array(bytes);
        for (let start = 0; start < bytes; start += 50_000)
          crypto.getRandomValues(part.subarray(start, start + 50_000));
        const up = await timed(1, () => {
          for (let count = 0; count < messages; count++) socket.send(part);
        });
        runs.push({ echoes, up, down: await timed(messages, () => socket.send("send")) });
      }
      return runs;
    },
    { url: `ws://127.0.0.1:${port}/`, messages: MESSAGES, bytes: MESSAGE_BYTES },
  );
}

/** The time that the bytes alone take, and a round trip for the first and the last of them. */
const least = (MESSAGES * MESSAGE_BYTES * 8) / KBIT + ROUND_TRIP;
const share = (time: number): string => `${((100 * least) / time).toFixed(0)} %`;

const page = await browser.newPage();
const app = new AppPage(page, `http://localhost:${link.port}`);
await app.open(edge.accessKey);
await app.goto(`${origin.origin}/`);
for (const { echoes, up, down } of await measure(await app.content())) {
  const [, , middle = 0] = echoes.toSorted((a, b) => a - b);
  console.log(
    `echo ${(middle / ROUND_TRIP).toFixed(2)} round trips; 10 MB up ${share(up)}, down ${share(down)} of the link`,
  );
}
await browser.close();
for (const client of server.clients) client.terminate();
server.close();
await origin.close();
await link.close();
await edge.close();
