/** What Linux knows of a process from outside (proc(5)). */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface ProcessFigures {
  /** Proportional set size: memory of its own plus its share of what it shares. */
  readonly pssBytes: number;
  /** Of all threads that live. */
  readonly cpuSeconds: number;
  /** How often its threads gave up the processor to wait for something, and so were woken. */
  readonly wakeups: number;
  /**
   * SQLite databases that are open. workerd opens a Durable Object's when it constructs the object and closes it with
   * it, so there they are the objects in memory: a hibernated one has sockets and no database.
   */
  readonly databases: number;
  readonly openFiles: number;
}

/** @throws Error when there is no such process, or it is not ours to look at. */
export function readProcess(pid: number): ProcessFigures {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map((thread) => readThread(pid, thread));
    const files = readdirSync(`/proc/${pid}/fd`).map((name) => linkOf(`/proc/${pid}/fd/${name}`));
    return {
      pssBytes: parsePss(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")),
      cpuSeconds: threads.reduce((sum, { nanoseconds }) => sum + nanoseconds, 0) / 1e9,
      wakeups: threads.reduce((sum, { switches }) => sum + switches, 0),
      databases: new Set(files.filter((file) => file.endsWith(".sqlite"))).size,
      openFiles: files.length,
    };
  } catch (error) {
    throw new Error(`Cannot look at process ${pid}: ${error instanceof Error ? error.message : error}`);
  }
}

/** @param text of smaps_rollup. @returns bytes. */
export function parsePss(text: string): number {
  const [, kib] = /^Pss:\s+(\d+) kB$/m.exec(text) ?? [];
  if (kib === undefined) throw new Error("smaps_rollup has no Pss");
  return Number(kib) * 1024;
}

/** A thread that ends meanwhile counts nothing. */
function readThread(pid: number, thread: string): { readonly nanoseconds: number; readonly switches: number } {
  try {
    const [nanoseconds = "0"] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
    const [, switches = "0"] =
      /^voluntary_ctxt_switches:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8")) ?? [];
    return { nanoseconds: Number(nanoseconds), switches: Number(switches) };
  } catch {
    return { nanoseconds: 0, switches: 0 };
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
