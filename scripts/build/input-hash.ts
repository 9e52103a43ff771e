/** Tells whether what is in `dist` was built from what is in the checkout. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "./paths.ts";

const inputs = [
  "package.json",
  "package-lock.json",
  "wrangler.toml",
  "tsconfig.base.json",
  "pwa",
  "shared",
  "worker",
  "scripts",
];

export async function hashInputs(): Promise<string> {
  const hash = createHash("sha256");
  hash.update(process.env.ROPEWAY_SOURCEMAPS ?? "");
  for (const path of inputs) {
    for (const file of await filesBelow(path)) {
      hash.update(`\0${file}\0`);
      hash.update(await readFile(join(root, file)));
    }
  }
  return hash.digest("hex");
}

async function filesBelow(path: string): Promise<string[]> {
  if (/\.\w+$/.test(path)) return [path];
  const entries = await readdir(join(root, path), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.includes(".test."))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}
