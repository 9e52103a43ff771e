/** Watches single visits more closely than the bench does. */

import type { Lab } from "../../lab/lab.ts";
import type { VisitWatcher } from "../contestants/visit.ts";
import { HarnessError } from "../failure.ts";
import { type BrowserTrace, compileTime, endTrace, startTrace, threadProfiles } from "./browser-trace.ts";
import { type CpuProfile, selfTimes } from "./cpu-profile.ts";
import type { EdgeProfiler } from "./edge-profiler.ts";
import { type LinkUse, LinkWatch, linkUse } from "./link-activity.ts";
import type { CodeCost, ThreadCost } from "./model.ts";
import type { SourceNames } from "./source-names.ts";
import { readThreads, type ThreadCpu, threadCpuBetween } from "./thread-cpu.ts";
import { costsByThread, profiledThread } from "./thread-roles.ts";
import { countMessages, type MessageCount, type Phase, phases, readPageTimes } from "./waterfall.ts";

/** Of a visit that was slowed down by nothing but a coarse trace. */
export interface TimedVisit {
  readonly load: number;
  readonly phases: readonly Phase[];
  readonly link: LinkUse;
  readonly messages: MessageCount;
  readonly phoneThreads: readonly ThreadCost[];
  /** Milliseconds of the processor. */
  readonly compiling: number;
  readonly edgeThreads: readonly ThreadCost[];
}

/** @param seen takes what there was to see, when the visit has ended. */
export function timingWatcher(
  lab: Pick<Lab, "counters">,
  edgePid: number,
  seen: (visit: TimedVisit) => void,
): VisitWatcher {
  let watch: LinkWatch | null = null;
  let [phoneBefore, edgeBefore]: ThreadCpu[][] = [[], []];
  return {
    async begin({ context, page, pid }) {
      await startTrace(tracerOf(context), page, false);
      [phoneBefore, edgeBefore] = [readThreads(pid), readThreads(edgePid)];
      watch = new LinkWatch(lab);
    },
    async end({ context, page, pid }, frame, { zero, load }) {
      const phoneThreads = costsByThread(threadCpuBetween(phoneBefore ?? [], readThreads(pid)));
      const edgeThreads = costsByThread(threadCpuBetween(edgeBefore ?? [], readThreads(edgePid)));
      const readings = (await watch?.stop()) ?? [];
      const times = await readPageTimes(frame);
      const trace = await endTrace(tracerOf(context), page);
      seen({
        load: load - zero,
        phases: phases(trace, times, zero, load),
        link: linkUse(readings, zero, load),
        messages: countMessages(trace, zero, load),
        phoneThreads,
        compiling: compileTime(trace.events, zero * 1000 + trace.clockOffset),
        edgeThreads,
      });
    },
  };
}

/** Where the scripts of phone and edge spend their time. */
export interface ProfiledVisit {
  readonly load: number;
  readonly phone: readonly CodeCost[];
  readonly edge: readonly CodeCost[];
}

export function profilingWatcher(
  edge: EdgeProfiler,
  names: SourceNames,
  seen: (visit: ProfiledVisit) => void,
): VisitWatcher {
  return {
    async begin({ context, page }) {
      await startTrace(tracerOf(context), page, true);
      await edge.start();
    },
    async end({ context, page, pid }, _frame, { zero, load }) {
      const edgeProfile = await edge.stop();
      const trace = await endTrace(tracerOf(context), page);
      const phone = phoneCosts(trace, readThreads(pid), names, zero, load);
      seen({ load: load - zero, phone, edge: edgeCosts(edgeProfile, names) });
    },
  };
}

function tracerOf(context: Parameters<VisitWatcher["begin"]>[0]["context"]) {
  const browser = context.browser();
  if (browser === null) throw new HarnessError("Cannot profile: the browser has no tracing");
  return browser;
}

function phoneCosts(
  trace: BrowserTrace,
  threads: readonly ThreadCpu[],
  names: SourceNames,
  zero: number,
  load: number,
): CodeCost[] {
  const [from, to] = [zero, load].map((time) => time * 1000 + trace.clockOffset);
  const costs = threadProfiles(trace.events).flatMap((each) =>
    selfTimes(each.profile, from, to).map(({ place, time }) => ({
      thread: profiledThread(each, threads),
      ...names.ofBrowser(place),
      time,
    })),
  );
  return costs.toSorted((one, other) => other.time - one.time);
}

function edgeCosts(profile: CpuProfile, names: SourceNames): CodeCost[] {
  return selfTimes(profile).map(({ place, time }) => ({ thread: "edge", ...names.ofEdge(place), time }));
}

/** Sums over all functions of a source, the most first. */
export function costsBySource(costs: readonly CodeCost[]): CodeCost[] {
  const groups = Map.groupBy(costs, ({ thread, source }) => `${thread}\n${source}`);
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group;
      const time = group.reduce((sum, cost) => sum + cost.time, 0);
      return first === undefined ? [] : [{ thread: first.thread, source: first.source, functionName: null, time }];
    })
    .toSorted((one, other) => other.time - one.time);
}
