/**
 * `shared/limits.ts` for scripts of browsers: the values alone, since units and reasons are for people. As an enum, for
 * esbuild puts its members where they are used, and leaves the others out.
 */
import type { Plugin } from "esbuild";
import { limits } from "../../shared/limits.ts";

export function limitValues(): Plugin {
  return {
    name: "ropeway-limit-values",
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]shared[\\/]limits\.ts$/ }, () => ({
        contents: `export const enum limits { ${Object.entries(limits).map(([name, value]) => `${name} = ${value}`)} }`,
        loader: "ts",
      }));
    },
  };
}
