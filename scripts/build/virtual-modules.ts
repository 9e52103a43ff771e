/**
 * `import text from "ropeway:…"`: a built file as a string, for scripts that carry a page's script or document inside
 * them. The same plugin serves esbuild and (for tests) Vite.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import { browserOptions } from "./options.ts";
import { root } from "./paths.ts";

const SCHEME = "ropeway:";

/** `ropeway:boot-page` is boot.html, `ropeway:boot-script` is boot.ts or boot-script.ts, all of this directory. */
const directory = join(root, "pwa", "slot", "documents");

/** @throws Error for a name without a file. */
async function textOf(name: string): Promise<string> {
  const stem = name.slice(SCHEME.length);
  const candidates = stem.endsWith("-page")
    ? [`${stem.slice(0, -"-page".length)}.html`]
    : [`${stem.replace(/-script$/, "")}.ts`, `${stem}.ts`];
  const path = candidates.map((file) => join(directory, file)).find(existsSync);
  if (path === undefined)
    throw new Error(`Cannot import "${name}": pwa/slot/documents has no ${candidates.join(" or ")}`);
  if (path.endsWith(".html")) return readFile(path, "utf8");
  const result = await build({
    ...browserOptions,
    plugins: [virtualModules()],
    entryPoints: [path],
    format: "iife",
    sourcemap: false,
  });
  return result.outputFiles[0]?.text ?? "";
}

export function virtualModules(): Plugin {
  return {
    name: "ropeway-virtual-modules",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^ropeway:/ }, ({ path }) => ({ path, namespace: "ropeway" }));
      onLoad({ filter: /.*/, namespace: "ropeway" }, async ({ path }) => ({
        contents: await textOf(path),
        loader: "text",
      }));
    },
  };
}

/** The same for Vite, which Vitest uses. */
export function viteVirtualModules() {
  return {
    name: "ropeway-virtual-modules",
    enforce: "pre" as const,
    resolveId: (id: string) => (id.startsWith(SCHEME) ? `\0${id}` : null),
    load: async (id: string) =>
      id.startsWith(`\0${SCHEME}`) ? `export default ${JSON.stringify(await textOf(id.slice(1)))};` : null,
  };
}
