/** For rooms that still import the limits as one object: an enum, whose members esbuild puts where they are used. */
import type { Plugin } from "esbuild";
import * as values from "../../shared/limits.ts";

export function limitValues(): Plugin {
  const numbers = Object.entries(values).filter(([, value]) => typeof value === "number");
  return {
    name: "ropeway-limit-values",
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]shared[\\/]limits\.ts$/ }, () => ({
        contents: [
          ...numbers.map(([name, value]) => `export const ${name} = ${value};`),
          `export const enum limits { ${numbers.map(([name, value]) => `${name} = ${value}`)} }`,
        ].join("\n"),
        loader: "ts",
      }));
    },
  };
}
