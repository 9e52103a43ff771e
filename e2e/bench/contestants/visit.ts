/** What all contestants have in common: how a visit is watched, and what makes it fail. */
import { setTimeout as wait } from "node:timers/promises";
import type { Frame } from "@playwright/test";
import type { Lab } from "../../lab/lab.ts";
import { ContestantError } from "../failure.ts";
import type { Site, Visit } from "../model.ts";
import { Arrivals } from "./arrivals.ts";
import { inTime } from "./in-time.ts";
import { readPaintTimes } from "./paint-times.ts";
import type { PhoneBrowser } from "./phone-browser.ts";
import { processCpu, processMemory } from "./process-cpu.ts";

export interface VisitOptions {
  readonly site: Site;
  /** Milliseconds until the person has given up. */
  readonly timeout: number;
  /** Directory of a profile to go on with, made if it does not exist; a fresh one, thrown away, by default. */
  readonly profile?: string;
  /** The browser's cache may spare any object but the document, so all that can be asked is that none failed. */
  readonly isRevisit?: boolean;
  readonly watcher?: VisitWatcher;
  /** Runs in the page once it has loaded; what it waits for belongs to the visit. */
  readonly observe?: (page: Frame) => Promise<void>;
  /** Loads the page in place of `load` alone, which may be called again to load it anew. */
  readonly loadThrough?: (load: Load, arrivals: Arrivals) => Promise<Loaded>;
}

/** Looks closer at one visit than its numbers do; what it costs is its own business. */
export interface VisitWatcher {
  /** Before the page is asked for. */
  begin(browser: PhoneBrowser): Promise<void>;
  /**
   * All that belongs to the visit has ended.
   *
   * @param times milliseconds since 1970.
   */
  end(browser: PhoneBrowser, page: Frame, times: { readonly zero: number; readonly load: number }): Promise<void>;
}

/** A page that has loaded. */
export interface Loaded {
  readonly frame: Frame;
  /** Time zero in milliseconds since 1970 by the browser's clock. */
  readonly zero: number;
}

export type Load = () => Promise<Loaded>;

export interface WatchOptions extends VisitOptions {
  readonly lab: Lab;
  readonly browser: PhoneBrowser;
  /** Of the edge; null where there is none. */
  readonly edgePid: number | null;
  /** False for what does not belong to the page. */
  readonly isPageRequest?: (url: URL) => boolean;
  /**
   * Asks for the page, and waits until it has loaded.
   *
   * @throws ContestantError when it says by itself that it cannot load the page.
   */
  readonly load: Load;
}

/** Milliseconds after which nothing of the visit is on the link any more. */
const SETTLE = 300;

/**
 * Watches one visit, from the moment before the page is asked for.
 *
 * @throws ContestantError when the page does not load whole and in time.
 * @throws HarnessError when the lab or the browser fails.
 */
export async function watchVisit(options: WatchOptions): Promise<Visit> {
  const { lab, browser, edgePid, site } = options;
  const arrivals = new Arrivals(browser.page, options.isPageRequest);
  await options.watcher?.begin(browser);
  // Some contestants used the link to prepare, others did not.
  await lab.rewind();
  const before = await lab.counters();
  const browserCpu = browser.cpu();
  const edgeCpu = edgePid === null ? null : processCpu(edgePid);
  const { frame, zero } = await inTime({ ...options, arrivals }, async () => {
    const loaded = await (options.loadThrough?.(options.load, arrivals) ?? options.load());
    await options.observe?.(loaded.frame);
    await arrivals.settled(site.objects);
    return loaded;
  });
  arrivals.stop();
  const isWhole = options.isRevisit ? arrivals.whole > 0 && !arrivals.hasFailures : arrivals.whole >= site.objects;
  if (!isWhole) {
    throw new ContestantError(
      `Cannot load ${site.url} whole: ${arrivals.whole} of ${site.objects} objects arrived; ${arrivals.failures}`,
    );
  }
  await wait(SETTLE);
  const after = await lab.counters();
  const used = {
    browserCpu: browser.cpu() - browserCpu,
    browserMemory: browser.memory(),
    edgeCpu: edgePid === null || edgeCpu === null ? null : processCpu(edgePid) - edgeCpu,
    edgeMemory: edgePid === null ? null : processMemory(edgePid),
  };
  const times = await readPaintTimes(frame);
  await options.watcher?.end(browser, frame, { zero, load: times.load });
  const sinceZero = (time: number | null): number | null => (time === null ? null : time - zero);
  return {
    firstContentfulPaint: sinceZero(times.firstContentfulPaint),
    largestContentfulPaint: sinceZero(times.largestContentfulPaint),
    load: times.load - zero,
    complete: times.complete - zero,
    ...used,
    objects: arrivals.whole,
    bytesUp: after.up.bytes - before.up.bytes,
    bytesDown: after.down.bytes - before.down.bytes,
    packetsUp: after.up.packets - before.up.packets,
    packetsDown: after.down.packets - before.down.packets,
    drops: drops(after) - drops(before),
    connections: connections(after) - connections(before),
  };
}

type Counters = Awaited<ReturnType<Lab["counters"]>>;

function drops({ up, down }: Counters): number {
  return [up, down].reduce((sum, each) => sum + each.droppedByQueue + each.droppedByLoss + each.droppedInOutage, 0);
}

function connections({ tcpConnections, quicConnections }: Counters): number {
  return tcpConnections + quicConnections;
}
