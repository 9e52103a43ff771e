/** Processor time and memory of processes, as the kernel counts them. */
import { readdirSync, readFileSync } from "node:fs";

/** Linux on all its platforms has had this many ticks a second in /proc since 2.6 (USER_HZ). */
const TICKS_PER_SECOND = 100;

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  /** User and system time of the process and of those of its children that have ended. */
  readonly ticks: number;
}

/** CPU seconds so far of one process, without its children that still run. 0 when it is gone. */
export function processCpu(pid: number): number {
  return (readStat(pid)?.ticks ?? 0) / TICKS_PER_SECOND;
}

/** CPU seconds so far of a process and all that it started, those included that have ended and been waited for. */
export function processTreeCpu(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + processCpu(pid), 0);
}

/** The process and all that descend from it. */
export function processTree(root: number): readonly number[] {
  const stats = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readStat(Number(name)) ?? []) : []));
  const children = Map.groupBy(stats, ({ parent }) => parent);
  const tree = stats.filter(({ pid }) => pid === root).map(({ pid }) => pid);
  for (const pid of tree) tree.push(...(children.get(pid) ?? []).map((child) => child.pid));
  return tree;
}

/** Bytes of memory, of what is shared its part (`Pss` of proc_pid_smaps(5)). 0 when it is gone. */
export function processMemory(pid: number): number {
  try {
    return 1024 * Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function readStat(pid: number): ProcessStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined;
  }
}

/** A line of /proc/PID/stat (proc(5)). The second field, a name in brackets, may hold anything. */
export function parseStat(text: string): ProcessStat {
  const afterName = text.slice(text.lastIndexOf(")") + 2).split(" ");
  // Field 3 is the first of these: parent is 4; utime, stime, cutime and cstime are 14 to 17.
  const ticks = afterName.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid: Number.parseInt(text, 10), parent: Number(afterName[1]), ticks };
}
