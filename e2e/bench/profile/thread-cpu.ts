/** CPU time of every thread of a tree of processes, as the kernel counts it. */
import { readdirSync, readFileSync } from "node:fs";
import { parseStat } from "../contestants/process-cpu.ts";

export interface ThreadCpu {
  readonly pid: number;
  readonly tid: number;
  /** What the process is for, such as "browser", "network service" or "renderer". */
  readonly process: string;
  /** As its program named it; Linux keeps 15 characters. */
  readonly thread: string;
  /** Milliseconds on a processor so far. */
  readonly time: number;
}

/** Threads that ended in between are missed. */
export function readThreads(root: number): ThreadCpu[] {
  return processTree(root).flatMap((pid) => {
    const process = processRole(read(`/proc/${pid}/cmdline`));
    return list(`/proc/${pid}/task`).flatMap((tid) => {
      // schedstat: nanoseconds on the processor, nanoseconds in its queue, turns (Documentation/scheduler/sched-stats).
      const time = Number(read(`/proc/${pid}/task/${tid}/schedstat`).split(" ")[0]) / 1e6;
      const thread = read(`/proc/${pid}/task/${tid}/comm`).trim();
      return Number.isNaN(time) ? [] : [{ pid, tid: Number(tid), process, thread, time }];
    });
  });
}

/** What each thread used between two readings, the most first, without those that used nothing. */
export function threadCpuBetween(before: readonly ThreadCpu[], after: readonly ThreadCpu[]): ThreadCpu[] {
  const earlier = new Map(before.map(({ tid, time }) => [tid, time]));
  return after
    .map((thread) => ({ ...thread, time: thread.time - (earlier.get(thread.tid) ?? 0) }))
    .filter(({ time }) => time > 0)
    .toSorted((one, other) => other.time - one.time);
}

/**
 * @param commandLine of a process, as in /proc/PID/cmdline; Chromium's own put spaces between the words.
 * @returns its role by Chromium's --type; its program's name for another one.
 */
export function processRole(commandLine: string): string {
  const words = commandLine.split(/[\0 ]/).filter((word) => word !== "");
  const flag = (name: string): string | undefined =>
    words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
  const type = flag("type");
  const program = words[0]?.split("/").at(-1) ?? "";
  if (type === undefined) return program.startsWith("chrom") ? "browser" : program;
  if (type === "utility") return UTILITIES[flag("utility-sub-type")?.split(".")[0] ?? ""] ?? "utility";
  return type === "gpu-process" ? "GPU" : type;
}

const UTILITIES: Readonly<Record<string, string>> = {
  network: "network service",
  storage: "storage service",
  tracing: "tracing service",
};

function processTree(root: number): number[] {
  const parents = list("/proc").flatMap((name) => {
    const stat = /^\d+$/.test(name) ? read(`/proc/${name}/stat`) : "";
    return stat === "" ? [] : [parseStat(stat)];
  });
  const children = Map.groupBy(parents, ({ parent }) => parent);
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []).map((child) => child.pid));
  return tree;
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** "" when it is gone. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
