/**
 * `import text from "ropeway:…"`: a built file as a string, for scripts that carry a page's script or document inside
 * them. The same plugin serves esbuild and (for tests) Vite.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Plugin } from "esbuild";
import { browserOptions } from "./options.ts";
import { root } from "./paths.ts";

const SCHEME = "ropeway:";

/** `ropeway:boot-page` is boot.html, `ropeway:boot-script` is boot.ts or boot-script.ts, all of this directory. */
const directory = join(root, "pwa", "slot", "documents");

/** `ropeway:zstd-decoder-wasm`: the wasm in the script of `zstddec`, which keeps it to itself; in gzip. */
const ZSTD_DECODER = `${SCHEME}zstd-decoder-wasm`;

/** `ropeway:brotli-decoder-wasm`: that of `brotli-dec-wasm`, in gzip, to be in its script as the other is. */
const BROTLI_DECODER = `${SCHEME}brotli-decoder-wasm`;

const WASM: Readonly<Record<string, () => Promise<Buffer>>> = {
  [ZSTD_DECODER]: zstdDecoder,
  [BROTLI_DECODER]: brotliDecoder,
};

async function brotliDecoder(): Promise<Buffer> {
  const wasm = join(root, "node_modules", "brotli-dec-wasm", "pkg", "brotli_dec_wasm_bg.wasm");
  return gzipSync(await readFile(wasm), { level: 9 });
}

/** @throws Error where it is not there. */
async function zstdDecoder(): Promise<Buffer> {
  const script = await readFile(join(root, "node_modules", "zstddec", "dist", "zstddec-stream.mjs"), "utf8");
  const base64 = script.match(/(["'`])([A-Za-z0-9+/]{10000,}=*)\1/)?.[2];
  if (base64 === undefined) throw new Error(`Cannot import "${ZSTD_DECODER}": zstddec has no wasm where it had it`);
  return gzipSync(Buffer.from(base64, "base64"), { level: 9 });
}

/** Without indentation and comments. */
const folded = (html: string): string => html.replace(/<!--.*?-->/gs, "").replace(/\n\s+/g, "\n");

/** @throws Error for a name without a file. */
async function textOf(name: string): Promise<string> {
  const stem = name.slice(SCHEME.length);
  const candidates = stem.endsWith("-page")
    ? [`${stem.slice(0, -"-page".length)}.html`]
    : [`${stem.replace(/-script$/, "")}.ts`, `${stem}.ts`];
  const path = candidates.map((file) => join(directory, file)).find(existsSync);
  if (path === undefined)
    throw new Error(`Cannot import "${name}": pwa/slot/documents has no ${candidates.join(" or ")}`);
  if (path.endsWith(".html")) return folded(await readFile(path, "utf8"));
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
      onLoad({ filter: /.*/, namespace: "ropeway" }, async ({ path }) => {
        const wasm = await WASM[path]?.();
        return wasm === undefined
          ? { contents: await textOf(path), loader: "text" }
          : { contents: wasm, loader: "binary" };
      });
    },
  };
}

/** The same for Vite, which Vitest uses. */
export function viteVirtualModules() {
  return {
    name: "ropeway-virtual-modules",
    enforce: "pre" as const,
    resolveId: (id: string) => (id.startsWith(SCHEME) ? `\0${id}` : null),
    async load(id: string) {
      if (!id.startsWith(`\0${SCHEME}`)) return null;
      const wasm = await WASM[id.slice(1)]?.();
      if (wasm === undefined) return `export default ${JSON.stringify(await textOf(id.slice(1)))};`;
      const base64 = wasm.toString("base64");
      return `export default Uint8Array.from(atob("${base64}"), (each) => each.charCodeAt(0));`;
    },
  };
}
