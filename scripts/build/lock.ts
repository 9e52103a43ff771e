import { mkdir, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { dist, isPackage } from "./paths.ts";

const LOCK = join(dist, "lock");
const POLL_INTERVAL = 50;
/** Milliseconds; no build takes that long, so whoever made the lock is gone. */
const STALE_AFTER = 60_000;

/** Runs the task while no other process does: test workers all want the build, at the same time. */
export async function withBuildLock<Result>(task: () => Promise<Result>): Promise<Result> {
  // Nobody builds there, and it may not be ours to write to.
  if (isPackage) return task();
  await mkdir(dirname(LOCK), { recursive: true });
  while (!(await takeLock())) await sleep(POLL_INTERVAL);
  try {
    return await task();
  } finally {
    await rmdir(LOCK).catch(() => {});
  }
}

async function takeLock(): Promise<boolean> {
  try {
    await mkdir(LOCK);
    return true;
  } catch {
    const age = await stat(LOCK).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > STALE_AFTER) await rmdir(LOCK).catch(() => {});
    return false;
  }
}
