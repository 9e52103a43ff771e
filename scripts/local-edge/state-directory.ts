/** The directory in which an edge keeps its state: cookies, sessions, what it sent. */
import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RESERVE_FILE } from "../../worker/workerd/state-disk.ts";

/** A new phone's database takes some 100 KB. */
const RESERVE_BYTES = 1024 * 1024;

/** Makes the directory if it is missing. No other account may enter it, nor read what is in it from before. */
export async function makePrivate(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
  await closeAll(await readdir(directory).then((names) => names.map((name) => join(directory, name))));
}

/** Closes files, and directories with what is below them, to other accounts. Links stay: they lead elsewhere. */
export async function closeAll(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const found = await lstat(path).catch(() => null);
    if (found === null || found.isSymbolicLink()) continue;
    if (found.isDirectory()) await makePrivate(path);
    // Files of a database come and go.
    else await chmod(path, 0o600).catch(ignoreMissing);
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/** For workerd's objects: keeps room in it for new phones, too, if there is some. */
export async function prepareStateDirectory(directory: string): Promise<void> {
  await makePrivate(directory);
  const reserve = join(directory, RESERVE_FILE);
  const size = await stat(reserve).then(
    (found) => found.size,
    () => 0,
  );
  if (size === RESERVE_BYTES) return;
  // Part of a reserve is room that others can use. Random, or a file system that compresses keeps nothing free.
  await writeFile(reserve, randomBytes(RESERVE_BYTES), { mode: 0o600 }).catch(() => rm(reserve, { force: true }));
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
