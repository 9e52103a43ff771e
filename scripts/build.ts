/** `npm run build`: the app into dist/app, the edge for workerd into dist/worker. Skipped when nothing has changed. */
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BuiltFiles } from "./build/built-files.ts";
import { hashInputs } from "./build/input-hash.ts";
import { withBuildLock } from "./build/lock.ts";
import { appDirectory, dist, isPackage, workerDirectory } from "./build/paths.ts";

const HASH_FILE = join(dist, "input-hash");

/**
 * Builds what is out of date and replaces `dist/app` and `dist/worker` as a whole.
 *
 * @param log takes the table of sizes and other lines for a person.
 * @returns whether anything was built.
 * @throws Error with esbuild's messages, or when a budget is exceeded.
 */
export function buildAll(log: (line: string) => void): Promise<boolean> {
  return withBuildLock(() => buildOutdated(log));
}

async function buildOutdated(log: (line: string) => void): Promise<boolean> {
  if (isPackage) return false;
  const hash = await hashInputs();
  if ((await readFile(HASH_FILE, "utf8").catch(() => "")) === hash) return false;

  // esbuild and wrangler are slow to load, and an up-to-date build needs neither. The options read the environment when
  // they are loaded, and callers set it before they build.
  const [{ buildApp }, { buildWorker }, { checkBudgets }, { withSourceMaps }] = await Promise.all([
    import("./build/app.ts"),
    import("./build/worker.ts"),
    import("./build/budgets.ts"),
    import("./build/options.ts"),
  ]);
  const [app, worker] = await Promise.all([buildApp(), buildWorker()]);
  const { table, exceeded } = checkBudgets(app);
  log(table);
  if (exceeded.length > 0 && !withSourceMaps) throw new Error(`Cannot build: over budget\n${exceeded.join("\n")}`);

  await rm(HASH_FILE, { force: true });
  await replaceDirectory(appDirectory, app);
  await replaceDirectory(workerDirectory, worker);
  await writeFile(HASH_FILE, hash);
  return true;
}

/** Writes beside the directory and renames, so that no reader sees half of it. */
async function replaceDirectory(directory: string, files: BuiltFiles): Promise<void> {
  const fresh = `${directory}.new-${process.pid}`;
  const old = `${directory}.old-${process.pid}`;
  for (const [path, contents] of files) {
    const target = join(fresh, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, contents);
  }
  await rename(directory, old).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  await rename(fresh, directory);
  await rm(old, { recursive: true, force: true });
}

if (import.meta.main) {
  try {
    const built = await buildAll((line) => console.error(line));
    console.error(built ? "Built dist/" : "dist/ is up to date");
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
