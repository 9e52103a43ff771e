/** What the threads of the phone's browser are for, in words that a person knows the app by. */
import type { ThreadProfile } from "./browser-trace.ts";
import type { ThreadCost } from "./model.ts";
import type { ThreadCpu } from "./thread-cpu.ts";

/** By name of the thread; Linux keeps 15 characters of them. */
const THREADS: readonly (readonly [prefix: string, role: string])[] = [
  ["DedicatedWorker", "tunnel worker"],
  ["ServiceWorker t", "service worker"],
  ["ThreadPool", "pool"],
  ["Chrome_IOThread", "I/O"],
  ["Chrome_ChildIOT", "I/O"],
  ["NetworkService", "network"],
  ["Compositor", "compositor"],
  ["CrRendererMain", "main"],
  ["VizCompositor", "compositor"],
];
/** They are there because of the bench: its remote control, and what writes down the trace. */
const OF_THE_BENCH = /^(?:DevTools|PerfettoTrace|v8:ProfEvnt)/;

/** Adds up what threads of one kind used, without those that the bench itself needs. The most first. */
export function costsByThread(threads: readonly ThreadCpu[]): ThreadCost[] {
  const renderers = rendererNames(threads);
  const costs = new Map<string, number>();
  for (const { pid, tid, process, thread, time } of threads) {
    if (process === "tracing service" || OF_THE_BENCH.test(thread)) continue;
    const owner = process === "renderer" ? (renderers.get(pid) ?? "other page") : process;
    const name = `${owner}: ${pid === tid ? "main" : threadRole(thread)}`;
    costs.set(name, (costs.get(name) ?? 0) + time);
  }
  return [...costs].map(([thread, time]) => ({ thread, time })).toSorted((one, other) => other.time - one.time);
}

/** The kind of the thread that a profile is of. */
export function profiledThread({ pid, thread }: ThreadProfile, threads: readonly ThreadCpu[]): string {
  return `${rendererNames(threads).get(pid) ?? "browser"}: ${threadRole(thread)}`;
}

/** The app's process has the tunnel's worker, a slot's has a service worker; one may have both. */
function rendererNames(threads: readonly ThreadCpu[]): Map<number, string> {
  const renderers = Map.groupBy(
    threads.filter(({ process }) => process === "renderer"),
    ({ pid }) => pid,
  );
  return new Map(
    [...renderers].map(([pid, own]) => {
      const has = (prefix: string): boolean => own.some(({ thread }) => thread.startsWith(prefix));
      return [pid, has("DedicatedWorker") ? "app" : has("ServiceWorker") ? "page" : "other page"];
    }),
  );
}

function threadRole(thread: string): string {
  return THREADS.find(([prefix]) => thread.startsWith(prefix))?.[1] ?? thread;
}
