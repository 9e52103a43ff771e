import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** At the edge, beside its sockets: three files of the object's database, and connections to the origin. */
const FILES_PER_PHONE = 8;
const FILES_BESIDE = 500;

/**
 * Sees to it that this process, and so those that it starts, may open files enough.
 *
 * @param channels of each phone.
 * @throws Error that says what to do where the system does not let it.
 */
export function ensureOpenFiles(phones: number, channels: number): void {
  const needed = phones * (FILES_PER_PHONE + channels) + FILES_BESIDE;
  if (parseOpenFileLimit(readFileSync("/proc/self/limits", "utf8")) >= needed) return;
  spawnSync("prlimit", [`--pid=${process.pid}`, `--nofile=${needed}:${needed}`], { stdio: "ignore" });
  const limit = parseOpenFileLimit(readFileSync("/proc/self/limits", "utf8"));
  if (limit >= needed) return;
  throw new Error(
    `Cannot carry ${phones} phones: ${needed} open files are needed and ${limit} allowed; raise it (ulimit -n ${needed})`,
  );
}

/** @param text of /proc/PID/limits. @returns the soft limit. */
export function parseOpenFileLimit(text: string): number {
  const [, soft] = /^Max open files\s+(\S+)/m.exec(text) ?? [];
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft ?? 0);
}
