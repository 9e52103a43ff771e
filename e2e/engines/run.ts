/** `npm run test:engines`: walks through the app in Firefox and in WebKit, against an edge, the demo and sites of its own. */
import { parseArgs } from "node:util";
import { startEdge } from "../../scripts/edge-process.ts";
import { startDemo } from "../demo/start-demo.ts";
import { startTestOrigin } from "../fixtures/test-origin/test-origin.ts";
import { startShaper } from "../lab/shaper.ts";
import { startFirefox } from "./firefox.ts";
import { type Remote, RemoteBrowser, startAgainAndAgain } from "./remote-browser.ts";
import { steps } from "./walk.ts";
import { startWebKit } from "./webkit.ts";

const ENGINES: Record<string, () => Promise<Remote>> = {
  firefox: startFirefox,
  webkit: startWebKit,
};
/** Milliseconds, for all engines together. */
const TIME = 600_000;

const { positionals } = parseArgs({ allowPositionals: true });
const unknown = positionals.filter((name) => !(name in ENGINES));
if (unknown.length > 0) {
  throw new Error(`Cannot walk in ${unknown.join(", ")}: engines are ${Object.keys(ENGINES).join(", ")}`);
}
setTimeout(() => {
  console.error(`Cannot go on: the walk takes longer than ${TIME / 1000} s`);
  process.exit(1);
}, TIME).unref();

// So that what was started ends too.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));

const demo = await startDemo({ ip: "127.0.0.1", port: 0 });
const edge = await startEdge({ runtime: "workerd", port: 0, allowPrivate: true, demo });
const link = await startShaper({
  listen: { port: 0 },
  target: { host: "127.0.0.1", port: Number(new URL(edge.url).port) },
});

let failures = 0;
for (const [name, start] of Object.entries(ENGINES)) {
  if (positionals.length === 0 || positionals.includes(name)) failures += await walk(start);
}
await link.close();
await edge.close();
await demo.close();
process.exitCode = failures === 0 ? 0 : 1;

/** @returns how many steps failed; a browser that does not start is one. */
async function walk(start: () => Promise<Remote>): Promise<number> {
  const remote = await startAgainAndAgain(start, (line) => console.error(line));
  if (remote === null) return 1;
  const origin = await startTestOrigin({ ip: "127.0.0.11" });
  const otherOrigin = await startTestOrigin({ ip: "127.0.0.12" });
  console.log(`\n${remote.name}`);
  const browser = new RemoteBrowser(remote);
  const edgeUrl = `http://localhost:${link.port}`;
  const { accessKey } = edge;
  let failed = 0;
  for (const step of steps.filter(({ engine = "" }) => remote.name.startsWith(engine))) {
    const started = performance.now();
    const error = await step
      .run({ browser, engine: remote.name, link, edgeUrl, accessKey, demo, origin, otherOrigin })
      .then(() => null)
      .catch((reason: unknown) => String(reason));
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`${error === null ? "ok    " : "FAILED"}  ${step.name} (${seconds} s)`);
    if (error !== null) {
      console.log(`        ${error}`);
      failed += 1;
    }
  }
  await remote.close();
  await origin.close();
  await otherOrigin.close();
  return failed;
}
