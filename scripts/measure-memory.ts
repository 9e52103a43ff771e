/**
 * `node scripts/measure-memory.ts`: memory of the phone's browser after the bench's median page, at the first visit and the
 * day after, once all that can be collected is. As root on Linux, with the bench's packages, and CHROME_PATH.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { CDPSession } from "@playwright/test";
import { processTree } from "../e2e/bench/contestants/process-cpu.ts";
import type { VisitWatcher } from "../e2e/bench/contestants/visit.ts";
import { DAY } from "../e2e/bench/experiments/pages.ts";
import { Laboratory } from "../e2e/bench/laboratory.ts";
import { makeSite } from "../e2e/bench/sites/make-sites.ts";
import { median } from "../e2e/bench/statistics.ts";
import { PROFILES } from "../e2e/lab/profiles.ts";
import { dist } from "./build/paths.ts";

const PAGE = "median-mobile";
const VISITS = 5;
const TIMEOUT = 120_000;
/** Milliseconds in which what came is stored, and what is idle lets go. */
const REST = 8_000;

/** MB by what has them. */
type Reading = Readonly<Record<string, number>>;

interface Target {
  readonly targetId: string;
  readonly type: string;
  readonly url: string;
}

/** Calls a method of another target of the browser. */
async function callIn(browser: CDPSession, targetId: string) {
  const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: false });
  let id = 0;
  return async (method: string): Promise<Record<string, number>> => {
    const own = ++id;
    const answer = new Promise<Record<string, number>>((resolve) => {
      const listen = (event: { readonly sessionId: string; readonly message: string }): void => {
        const message = JSON.parse(event.message) as { id?: number; result?: Record<string, number> };
        if (event.sessionId !== sessionId || message.id !== own) return;
        browser.off("Target.receivedMessageFromTarget", listen);
        resolve(message.result ?? {});
      };
      browser.on("Target.receivedMessageFromTarget", listen);
    });
    await browser.send("Target.sendMessageToTarget", { sessionId, message: JSON.stringify({ id: own, method }) });
    return answer;
  };
}

/** Objects of the scripts and their buffers. */
async function heapOf(browser: CDPSession, targetId: string): Promise<number> {
  const call = await callIn(browser, targetId);
  // What one turn lets go of holds what only the next can take.
  for (let turn = 0; turn < 3; turn++) await call("HeapProfiler.collectGarbage");
  const { usedSize = 0, backingStorageSize = 0 } = await call("Runtime.getHeapUsage");
  return (usedSize + backingStorageSize) / 1e6;
}

/** Kilobytes that the kernel counts for a process: proc_pid_smaps(5). */
function rollup(pid: number, field: "Pss_Anon" | "Pss" | "Rss"): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0);
}

function watcher(seen: (reading: Reading) => void): VisitWatcher {
  return {
    async begin() {},
    async end({ context, pid }, frame) {
      await wait(REST);
      const browser = await context.browser()?.newBrowserCDPSession();
      if (browser === undefined) throw new Error("Cannot measure: the browser cannot be inspected");
      const { targetInfos } = await browser.send("Target.getTargets", { filter: [{}] });
      const { origin } = new URL(frame.url());
      const heaps: Record<string, number> = {};
      for (const { targetId, type, url } of targetInfos as readonly Target[]) {
        const isOfPage = url.startsWith(origin);
        const name = { worker: "tunnel worker", page: "app", iframe: "page", service_worker: "page's service worker" }[
          type
        ];
        // Others are of slots that wait, and the app's service worker.
        if (name === undefined || ((type === "iframe" || type === "service_worker") && !isOfPage)) continue;
        // What has gone since has none.
        const heap = await heapOf(browser, targetId).catch(() => 0);
        heaps[name] = (heaps[name] ?? 0) + heap;
      }
      const isRenderer = (each: number) => readFileSync(`/proc/${each}/cmdline`, "utf8").includes("--type=renderer");
      const renderers = processTree(pid).filter(isRenderer);
      const sum = (field: "Pss_Anon" | "Pss" | "Rss"): number =>
        renderers.reduce((all, one) => all + rollup(one, field), 0) / 1e3;
      seen({
        ...heaps,
        "renderers, PSS": sum("Pss"),
        "of it their own": sum("Pss_Anon"),
        "renderers, RSS": sum("Rss"),
      });
    },
  };
}

function tell(what: string, readings: readonly Reading[]): void {
  console.log(`${what}, MB, medians of ${readings.length} (least to most)`);
  for (const name of new Set(readings.flatMap((each) => Object.keys(each)))) {
    const values = readings.map((each) => each[name] ?? 0);
    const [least, typical, most] = [Math.min(...values), median(values), Math.max(...values)];
    console.log(`  ${name.padEnd(22)} ${typical.toFixed(1)} (${least.toFixed(1)} to ${most.toFixed(1)})`);
  }
}

const directory = join(dist, "bench", "sites");
const site = await makeSite(directory, PAGE, 0);
const edited = await makeSite(directory, PAGE, 1);
const other = await makeSite(directory, "agency", 0);
const options = { sites: [site, other], edited: [edited], warmUpSites: [other], replayClasses: [], seed: 1 };
const laboratory = await Laboratory.open(options);
try {
  await laboratory.configure(PROFILES.lte, "bbr");
  for (const revisit of [null, { after: DAY, to: "edited" as const }]) {
    const readings: Reading[] = [];
    for (let visit = 0; visit < VISITS; visit++) {
      const watching = watcher((reading) => readings.push(reading));
      await laboratory.visit("ropeway open", site, { timeout: TIMEOUT, revisit, watcher: watching });
    }
    tell(revisit === null ? "first visit" : "the day after", readings);
  }
} finally {
  await laboratory.close();
}
