/**
 * `npm run way`: the files with a function that ran for one picture of a page, on a session that is there already, in the
 * slot's service worker, the tunnel and the edge. workerd counts no functions, so the edge is on Deno.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "@playwright/test";
import { startEdge } from "../../scripts/edge-process.ts";
import { freePort } from "../../scripts/local-edge/free-port.ts";
import { AppPage } from "../fixtures/app-page.ts";
import { CHROMIUM_ARGS, findChromium, PHONE } from "../fixtures/chromium.ts";
import { startTestOrigin } from "../fixtures/test-origin/test-origin.ts";
import { BrowserThreads } from "./browser-threads.ts";
import { Cdp } from "./cdp.ts";
import { Coverage } from "./coverage.ts";
import { filesOf } from "./source-files.ts";

/** Before what counts, so that all is warm. */
const WARM_UPS = 5;
/** What ran in each of so many is the request's; the rest was a timer's. */
const ROUNDS = 5;
/** Milliseconds: the tunnel loads its store five seconds after the link has opened. */
const STORE_TIME = 7_000;
const PICTURE = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

type Sides = ReadonlyMap<string, ReadonlySet<string>>;

// The bundles tell then which files they are made of.
process.env.ROPEWAY_SOURCEMAPS = "1";

const closers: (() => Promise<void>)[] = [];
try {
  report(await measure());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  for (const close of closers.reverse()) await close();
}

async function measure(): Promise<Sides> {
  const origin = await startTestOrigin({ ip: "127.0.0.11" });
  closers.push(() => origin.close());
  origin.page("/", "<p>A page");
  origin.route("/picture", (exchange) =>
    exchange.reply(200, { "content-type": "image/gif", "cache-control": "no-store" }, PICTURE),
  );
  const [edgePort, browserPort] = [await freePort("127.0.0.1"), await freePort("127.0.0.1")];
  const edge = await startEdge({ runtime: "deno", port: 0, allowPrivate: true, inspector: `127.0.0.1:${edgePort}` });
  closers.push(() => edge.close());
  const executablePath = findChromium();
  const browser = await chromium.launch({
    args: [...CHROMIUM_ARGS, `--remote-debugging-port=${browserPort}`],
    ...(executablePath === undefined ? {} : { executablePath }),
  });
  closers.push(() => browser.close());
  const app = new AppPage(await browser.newPage(PHONE), edge.url);
  await app.open(edge.accessKey, `${origin.origin}/`);
  const page = await app.content();
  const load = () =>
    page.evaluate(async () => {
      const picture = new Image();
      picture.src = `/picture?${Math.random()}`;
      await picture.decode();
    });

  const slot = new URL(page.url()).origin;
  const threads = await BrowserThreads.open(browserPort);
  const sides = new Map([
    [
      "slot's service worker",
      await Coverage.start(threads.cdp, await threads.attach("service_worker", `${slot}/.ropeway/sw.js`)),
    ],
    ["tunnel", await Coverage.start(threads.cdp, await threads.attach("worker", `${app.base}/.ropeway/tunnel-`))],
    ["edge", await Coverage.start(await Cdp.open(await denoTarget(edgePort)))],
  ]);
  await sleep(STORE_TIME);
  for (let count = 0; count < WARM_UPS; count += 1) await load();
  const rounds: Sides[] = [];
  for (let count = 0; count < ROUNDS; count += 1) {
    await filesBySide(sides);
    await load();
    rounds.push(await filesBySide(sides));
  }
  return inAll(rounds);
}

async function denoTarget(port: number): Promise<string> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as { webSocketDebuggerUrl: string }[];
  const [target] = targets;
  if (target === undefined) throw new Error("Cannot inspect the edge: Deno names no target");
  return target.webSocketDebuggerUrl;
}

/** What ran since the last call. */
async function filesBySide(sides: ReadonlyMap<string, Coverage>): Promise<Sides> {
  const files = new Map<string, Set<string>>();
  for (const [side, coverage] of sides) files.set(side, filesOf(await coverage.take()));
  return files;
}

function inAll([first = new Map(), ...others]: readonly Sides[]): Sides {
  return new Map(
    [...first].map(([side, files]) => [
      side,
      new Set([...files].filter((file) => others.every((other) => other.get(side)?.has(file)))),
    ]),
  );
}

function report(sides: Sides): void {
  const all = new Set<string>();
  for (const [side, files] of sides) {
    const own = [...files].filter((file) => /^(shared|pwa|worker)\//.test(file)).sort();
    if (own.length === 0) throw new Error(`Cannot count: no function ran in the ${side}`);
    console.log(`${side}: ${own.length} files`);
    for (const file of own) {
      console.log(`  ${file}`);
      all.add(file);
    }
  }
  console.log(`phone and edge together: ${all.size} files`);
}
