/** What has to be known of the machine and its programs to repeat a run. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { arch, cpus, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ProcessorTime } from "./execute.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");

export function describeMachine(): Record<string, string> {
  const processors = cpus();
  return {
    processor: `${processors.length} x ${processors[0]?.model.trim() ?? "unknown"} (${arch()})`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
  };
}

/** Since the machine started, of all its processors. */
export function readProcessorTime(): ProcessorTime {
  let [busy, total] = [0, 0];
  for (const { times } of cpus()) {
    const all = Object.values(times).reduce((sum, time) => sum + time, 0);
    busy += all - times.idle;
    total += all;
  }
  return { busy, total };
}

/** @param browser path of Chromium. */
export async function describeVersions(browser: string): Promise<Record<string, string>> {
  const [chromium, caddy, workerd, ropeway, changes] = await Promise.all([
    said(browser, "--version"),
    said("caddy", "version"),
    packageVersion("workerd"),
    said("git", "rev-parse", "--short=8", "HEAD"),
    // What the bench writes is no change of what it measures.
    said("git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!*.md", ":!docs", ":!e2e/bench/results"),
  ]);
  return {
    kernel: `${type()} ${release()}`,
    chromium,
    caddy,
    workerd,
    node: process.version,
    ropeway: changes === "" || changes === "unknown" ? ropeway : `${ropeway} with changes`,
  };
}

async function said(program: string, ...args: string[]): Promise<string> {
  try {
    return (await run(program, args, { cwd: root })).stdout.trim();
  } catch {
    return "unknown";
  }
}

async function packageVersion(name: string): Promise<string> {
  const text = await readFile(join(root, "node_modules", name, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
