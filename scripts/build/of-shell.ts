/** What the script of the sheets shares with the shell's: it imports it from there, and does not carry it again. */
import { join } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { UNKNOWN_HASH } from "./content-hash.ts";
import { browserOptions } from "./options.ts";
import { root } from "./paths.ts";

const SHELL = `/shell-${UNKNOWN_HASH}.js`;
/** Exports what is shared. */
const SOURCE = "pwa/shell/views/sheets/of-shell.ts";

/** The shell as it is built: it exports all that is shared. */
export const shellEntry = {
  contents: `import "./pwa/shell/main/shell.ts"; export * from "./${SOURCE}";`,
  resolveDir: root,
} as const satisfies BuildOptions["stdin"];

/** Each import of a module that the shell shares becomes one of the shell. A name that it does not export is an error. */
export async function ofShell(): Promise<Plugin> {
  const { metafile } = await build({ ...browserOptions, entryPoints: [SOURCE], format: "esm", outdir: root });
  const names = Object.values(metafile.outputs).flatMap((output) => output.exports);
  const modules = new Set(metafile.inputs[SOURCE]?.imports.map(({ path }) => join(root, path)));
  return {
    name: "ropeway-of-shell",
    setup({ onResolve, onLoad, resolve }) {
      onResolve({ filter: /.*/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (path === SHELL) return { path, external: true };
        if (kind === "entry-point" || pluginData === SHELL) return null;
        const resolved = await resolve(path, { kind, importer, resolveDir, pluginData: SHELL });
        return modules.has(resolved.path) ? { path: SHELL, namespace: "of-shell", sideEffects: false } : null;
      });
      onLoad({ filter: /.*/, namespace: "of-shell" }, () => ({
        contents: `export { ${names.join(", ")} } from "${SHELL}";`,
      }));
    },
  };
}
