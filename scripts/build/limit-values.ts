/** `shared/limits.ts` for scripts of browsers: the values alone, since units and reasons are for people. */
import type { Plugin } from "esbuild";
import { limits } from "../../shared/limits.ts";

export function limitValues(): Plugin {
  return {
    name: "ropeway-limit-values",
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]shared[\\/]limits\.ts$/ }, () => ({
        contents: `export const limits = ${JSON.stringify(limits)};`,
        loader: "js",
      }));
    },
  };
}
