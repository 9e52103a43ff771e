/** Builds the edge for workerd, the small workers that stand in for the platform locally, and their settings. */
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { parse } from "smol-toml";
import type { BuiltFiles } from "./built-files.ts";
import { workerdOptions } from "./options.ts";
import { root } from "./paths.ts";

/** What `dist/worker/settings.json` takes over from wrangler.toml, so that a local edge behaves like a deployed one. */
export interface WorkerSettings {
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly durableObjects: readonly { readonly binding: string; readonly className: string }[];
}

const modules: readonly (readonly [output: string, source: string])[] = [
  ["worker.js", "worker/workerd/entry-workers.ts"],
  ["assets.js", "scripts/local-edge/assets-worker.ts"],
  ["egress.js", "scripts/local-edge/egress-worker.ts"],
  ["cache.js", "scripts/local-edge/cache-worker.ts"],
];

export async function buildWorker(): Promise<BuiltFiles> {
  const files: BuiltFiles = new Map();
  for (const [output, source] of modules) {
    const result = await build({
      ...workerdOptions,
      entryPoints: [source],
      outfile: join(root, "dist", "worker", output),
    });
    for (const { path, contents } of result.outputFiles) {
      if (path.endsWith(".wasm")) files.set(basename(path), contents);
      else files.set(path.endsWith(".map") ? `${output}.map` : output, contents);
    }
  }
  files.set("settings.json", new TextEncoder().encode(JSON.stringify(await readSettings(), null, 2)));
  return files;
}

/** The part of wrangler.toml that is used. */
interface WranglerConfig {
  readonly compatibility_date?: string;
  readonly compatibility_flags?: readonly string[];
  readonly durable_objects?: { readonly bindings: readonly { readonly name: string; readonly class_name: string }[] };
}

async function readSettings(): Promise<WorkerSettings> {
  const config: WranglerConfig = parse(await readFile(join(root, "wrangler.toml"), "utf8"));
  if (config.compatibility_date === undefined) {
    throw new Error("Cannot build the worker: wrangler.toml has no compatibility_date");
  }
  return {
    compatibilityDate: config.compatibility_date,
    compatibilityFlags: config.compatibility_flags ?? [],
    durableObjects: (config.durable_objects?.bindings ?? []).map((each) => ({
      binding: each.name,
      className: each.class_name,
    })),
  };
}
