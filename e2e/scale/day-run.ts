/**
 * What the pages of a day cost an edge in the things that Cloudflare counts: an app on a local workerd whose objects note
 * what is asked of them and each row that they write. Ten pages with somebody who reads them.
 */
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { chromium } from "@playwright/test";
import { build } from "esbuild";
import { workerdOptions } from "../../scripts/build/options.ts";
import { dist, root } from "../../scripts/build/paths.ts";
import { buildAll } from "../../scripts/build.ts";
import { startEdge } from "../../scripts/edge-process.ts";
import { processCpu } from "../bench/contestants/process-cpu.ts";
import { startDemo } from "../demo/start-demo.ts";
import { AppPage } from "../fixtures/app-page.ts";
import { CHROMIUM_ARGS, findChromium, PHONE } from "../fixtures/chromium.ts";

/** Before what is noted in the edge's log. */
const MARK = "counted: ";

/** Milliseconds on a page; what is kept of it is written meanwhile. */
const READING = 4_000;

/** The edge's own entry, with an ear at each border. The prototypes are the platform's, one for all objects. */
const COUNTED = `
import edge, * as objects from "./worker/workerd/entry-workers.ts";
const count = (what) => console.log("${MARK}" + what);
const around = (owner, name, note) => {
  const own = owner[name];
  owner[name] = function (...values) {
    const result = own.apply(this, values);
    note(values, result);
    return result;
  };
};
let isWatched = false;
function watch({ storage }) {
  if (isWatched) return;
  isWatched = true;
  const { kv, sql } = storage;
  around(Object.getPrototypeOf(kv), "put", ([key]) => count("row " + key.split("/")[0]));
  around(Object.getPrototypeOf(kv), "delete", ([key]) => count("row " + key.split("/")[0]));
  around(Object.getPrototypeOf(storage), "put", ([key]) => count("row " + key.split("/")[0]));
  around(Object.getPrototypeOf(storage), "delete", ([key]) => count("row " + key.split("/")[0]));
  around(Object.getPrototypeOf(storage), "setAlarm", () => count("row alarm"));
  around(Object.getPrototypeOf(sql), "exec", ([query], cursor) => {
    for (let row = 0; row < cursor.rowsWritten; row++) count("row " + query.split(" ").slice(0, 5).join(" "));
  });
}
const counted = (Base) => class extends Base {
  constructor(state, env) {
    watch(state);
    super(state, env);
  }
  fetch(request) {
    count("object request");
    return super.fetch(request);
  }
  webSocketMessage(...values) {
    count("object message");
    return super.webSocketMessage(...values);
  }
};
export class TunnelObject extends counted(objects.TunnelObject) {}
export class DirectoryObject extends counted(objects.DirectoryObject) {}
export class UpstreamFetcher extends objects.UpstreamFetcher {
  fetch(request) {
    count("subrequest");
    return super.fetch(request);
  }
}
export default {
  fetch(...values) {
    count("worker request");
    return edge.fetch(...values);
  },
};
`;

/** @returns a Markdown table: what was counted for each page. */
export async function countDay(tell: (line: string) => void): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "ropeway-day-"));
  const closers: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
  try {
    const demo = await startDemo({ ip: "127.0.0.1", port: 0 });
    closers.push(() => demo.close());
    await buildCounted(join(directory, "build"));
    const counts = new Map<string, number>();
    const edge = await startEdge({
      runtime: "workerd",
      port: 0,
      allowPrivate: true,
      demo,
      build: join(directory, "build"),
      stateDirectory: join(directory, "state"),
      log(line) {
        const at = line.indexOf(MARK);
        if (at < 0) return tell(line);
        const what = line.slice(at + MARK.length);
        counts.set(what, (counts.get(what) ?? 0) + 1);
      },
    });
    closers.push(() => edge.close());
    const executablePath = findChromium();
    const browser = await chromium.launch({
      args: CHROMIUM_ARGS,
      ...(executablePath === undefined ? {} : { executablePath }),
    });
    closers.push(() => browser.close());
    const app = new AppPage(await browser.newPage(PHONE), edge.url);
    const { news, demo: index } = demo.hosts;
    const steps: readonly (readonly [name: string, step: () => Promise<unknown>])[] = [
      ["the app opens and is paired", () => app.open(edge.accessKey)],
      ["front page", () => app.goto(`${news}/`)],
      ["a story", () => app.navigated(() => app.frame().locator('a[href="/article/tide-clock"]').first().click())],
      ["a comment", () => comment(app)],
      ["a section", () => app.navigated(() => app.frame().locator('a[href^="/section/"]').last().click())],
      ["front page again", () => app.goto(`${news}/`)],
      ["index of the demo", () => app.goto(`${index}/`)],
      ["150 pictures", () => app.goto(`${index}/150/`)],
      ["150 pictures again", () => app.goto(`${index}/150/`)],
      ["at rest, for a quarter of a minute", () => wait(15_000)],
    ];
    const rows: (readonly [name: string, cpu: number, counts: ReadonlyMap<string, number>])[] = [];
    for (const [name, step] of steps) {
      tell(name);
      counts.clear();
      const before = processCpu(edge.pid);
      await step();
      await wait(READING);
      rows.push([name, processCpu(edge.pid) - before, new Map(counts)]);
    }
    return table(rows);
  } finally {
    for (const close of closers.reverse()) await close().catch(() => {});
  }
}

async function comment(app: AppPage): Promise<void> {
  const page = app.frame();
  await page.getByRole("textbox", { name: "Your name" }).fill("Tess");
  await page.getByRole("textbox", { name: "Your comment" }).fill("Three minutes is fine by me.");
  await page.getByRole("button", { name: "Send" }).click();
}

async function buildCounted(directory: string): Promise<void> {
  await buildAll(() => {});
  await mkdir(directory);
  for (const part of ["app", "worker"]) await cp(join(dist, part), join(directory, part), { recursive: true });
  const { outputFiles } = await build({
    ...workerdOptions,
    stdin: { contents: COUNTED, resolveDir: root, sourcefile: "counted.js" },
    outfile: join(directory, "worker", "worker.js"),
  });
  for (const { path, contents } of outputFiles) if (path.endsWith(".js")) await writeFile(path, contents);
}

const COLUMNS = ["worker request", "object request", "object message", "subrequest"] as const;

function table(rows: readonly (readonly [name: string, cpu: number, counts: ReadonlyMap<string, number>])[]): string {
  const lines = rows.map(([name, cpu, counts]) => {
    const written = [...counts].filter(([what]) => what.startsWith("row "));
    const sum = written.reduce((all, [, count]) => all + count, 0);
    const kinds = written.map(([what, count]) => `${count} ${what.slice("row ".length)}`).join(", ");
    const figures = COLUMNS.map((column) => counts.get(column) ?? 0);
    return `| ${[name, ...figures, sum, `${cpu.toFixed(2)} s`, kinds].join(" | ")} |`;
  });
  const heads = [
    "",
    ...COLUMNS.map((column) => `${column}s`),
    "rows written",
    "processor time of workerd",
    "which rows",
  ];
  return [`| ${heads.join(" | ")} |`, `|${" --- |".repeat(heads.length)}`, ...lines].join("\n");
}
