/** What Chromium's trace says of one visit: the scripts that ran, by thread, and when the tunnel's socket spoke. */
import type { Browser, Page } from "@playwright/test";
import type { CodePlace, CpuProfile } from "./cpu-profile.ts";

/** Trace Event Format, as far as it is used. */
export interface TraceEvent {
  readonly name: string;
  readonly cat: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds on the browser's monotonic clock. */
  readonly ts: number;
  readonly dur?: number;
  /** Microseconds of it on a processor. */
  readonly tdur?: number;
  readonly id?: string;
  readonly args: { readonly name?: string; readonly data?: TraceData };
}

interface TraceData {
  readonly startTime?: number;
  readonly cpuProfile?: { readonly nodes?: readonly TraceNode[]; readonly samples?: readonly number[] };
  readonly timeDeltas?: readonly number[];
  /** Of a WebSocket message. */
  readonly dataLength?: number;
}

interface TraceNode {
  readonly id: number;
  readonly callFrame: Partial<CodePlace> & { readonly functionName: string };
}

export interface ThreadProfile {
  readonly pid: number;
  /** As Chromium names it, such as "CrRendererMain" or "DedicatedWorker thread". */
  readonly thread: string;
  readonly profile: CpuProfile;
}

const CATEGORIES = ["-*", "devtools.timeline", "disabled-by-default-v8.compile", "blink.user_timing", "__metadata"];
/** A sample every millisecond, of every thread that runs scripts. */
const PROFILER = "disabled-by-default-v8.cpu_profiler";
const MARK = "bench-profile";

/** @param withProfiles the scripts' functions too, which slows them down. */
export async function startTrace(browser: Browser, page: Page, withProfiles: boolean): Promise<void> {
  await browser.startTracing(page, { categories: withProfiles ? [...CATEGORIES, PROFILER] : CATEGORIES });
}

/** One visit's trace, with the clock of its events tied to the wall's. */
export interface BrowserTrace {
  readonly events: readonly TraceEvent[];
  /** Microseconds to add to milliseconds since 1970 × 1000 for the clock of the events. */
  readonly clockOffset: number;
}

/** @param page whose clock the visit's times are of. */
export async function endTrace(browser: Browser, page: Page): Promise<BrowserTrace> {
  const now = await page.evaluate((mark) => performance.timeOrigin + performance.mark(mark).startTime, MARK);
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const mark = traceEvents.findLast(({ name, cat }) => name === MARK && cat.includes("blink.user_timing"));
  if (mark === undefined) throw new Error("Cannot read the browser's trace: its clock is unknown");
  return { events: traceEvents, clockOffset: mark.ts - now * 1000 };
}

/** The profiles in a trace: each comes as one `Profile` event and many `ProfileChunk`s with the same process and id. */
export function threadProfiles(events: readonly TraceEvent[]): ThreadProfile[] {
  const names = new Map(
    events.filter(({ name }) => name === "thread_name").map(({ pid, tid, args }) => [`${pid}/${tid}`, args.name ?? ""]),
  );
  const heads = events.filter(({ name }) => name === "Profile");
  const chunks = Map.groupBy(
    events.filter(({ name }) => name === "ProfileChunk").toSorted((one, other) => one.ts - other.ts),
    ({ pid, id }) => `${pid}/${id}`,
  );
  return heads.map(({ pid, tid, id, args, ts }) => {
    const pieces = (chunks.get(`${pid}/${id}`) ?? []).flatMap((chunk) => chunk.args.data ?? []);
    return {
      pid,
      thread: names.get(`${pid}/${tid}`) ?? "",
      profile: {
        nodes: pieces.flatMap(({ cpuProfile }) => (cpuProfile?.nodes ?? []).map(wholeNode)),
        samples: pieces.flatMap(({ cpuProfile }) => cpuProfile?.samples ?? []),
        timeDeltas: pieces.flatMap(({ timeDeltas }) => timeDeltas ?? []),
        startTime: args.data?.startTime ?? ts,
      },
    };
  });
}

/** Events in which V8 parses and compiles, or takes from its cache: scripts, and functions when they are first called. */
const COMPILING =
  /^(?:v8\.(?:compile|compileModule|parseOnBackground|deserializeOnBackground)$|V8\.(?:Compile|Parse|PreParse))/;

/**
 * Milliseconds of the processor for compiling scripts, of all threads. What is inside of another such event counts once.
 *
 * @param from microseconds by the clock of the trace.
 */
export function compileTime(events: readonly TraceEvent[], from: number): number {
  const compiling = events.filter(({ name, ph, ts }) => ph === "X" && COMPILING.test(name) && ts >= from);
  const byThread = Map.groupBy(compiling, ({ pid, tid }) => `${pid}/${tid}`);
  let sum = 0;
  for (const own of byThread.values()) {
    let until = from;
    for (const { ts, dur = 0, tdur = 0 } of own.toSorted((one, other) => one.ts - other.ts)) {
      if (ts < until) continue;
      until = ts + dur;
      sum += tdur;
    }
  }
  return sum / 1000;
}

function wholeNode({ id, callFrame }: TraceNode): CpuProfile["nodes"][number] {
  return { id, callFrame: { url: "", lineNumber: 0, columnNumber: 0, ...callFrame } };
}
