/** The directory in which workerd keeps its objects. */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RESERVE_FILE } from "../../worker/workerd/state-disk.ts";

/** A new phone's database takes some 100 KB. */
const RESERVE_BYTES = 1024 * 1024;

/** Makes the directory if it is missing, and keeps room in it for new phones if there is some. */
export async function prepareStateDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const reserve = join(directory, RESERVE_FILE);
  const size = await stat(reserve).then(
    (found) => found.size,
    () => 0,
  );
  if (size === RESERVE_BYTES) return;
  // Part of a reserve is room that others can use. Random, or a file system that compresses keeps nothing free.
  await writeFile(reserve, randomBytes(RESERVE_BYTES)).catch(() => rm(reserve, { force: true }));
}

/**
 * What to do where workerd ended at once because of its state; null where that was not why.
 *
 * @param said by workerd.
 */
export async function adviceOnState(said: string, directory: string): Promise<string | null> {
  const [problem] = /SQLITE_\w+/.exec(said) ?? [];
  if (problem === undefined) return null;
  if (problem === "SQLITE_FULL") return `the disk of ${directory} is full; free some room there`;
  // workerd opens no others before it is asked for something.
  const names = await readdir(directory, { recursive: true });
  const files = names.filter((name) => name.endsWith("metadata.sqlite")).map((name) => join(directory, name));
  return `it cannot read ${files.join(", ")} (${problem}); move that away, with what ends in -wal and -shm: no cookies are in it`;
}
