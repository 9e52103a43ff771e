import { existsSync } from "node:fs";
import { join } from "node:path";

/** The checkout, or the package (scripts/package.ts). Everything the build reads is below it, everything it writes is in `dist`. */
export const root = join(import.meta.dirname, "..", "..");

export const dist = join(root, "dist");

/** The app's files, laid out as their URLs. */
export const appDirectory = join(dist, "app");

/** The edge for workerd, and what local runs of it need. */
export const workerDirectory = join(dist, "worker");

/** The package has what was built, and no source. */
export const isPackage = !existsSync(join(root, "pwa"));
