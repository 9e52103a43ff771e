import type { BuildOptions } from "esbuild";
import { root } from "./paths.ts";

/** For the profiler; no phone loads such a build. */
export const withSourceMaps = process.env.ROPEWAY_SOURCEMAPS === "1";

const common = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  sourcemap: withSourceMaps ? "linked" : false,
  legalComments: "none",
  charset: "utf8",
  metafile: true,
  write: false,
  logLevel: "silent",
  define: { "process.env.NODE_ENV": '"production"' },
} as const satisfies BuildOptions;

/**
 * For the browser: Chromium 119 has all that is used, and so have the Firefox and Safari of its time. The product's
 * scripts need `virtualModules` of virtual-modules.ts too.
 */
export const browserOptions = {
  ...common,
  platform: "browser",
  target: ["chrome119", "firefox121", "safari17.2"],
  jsx: "automatic",
  jsxImportSource: "preact",
} as const satisfies BuildOptions;

/** For workerd: the conditions and externals that wrangler uses. */
export const workerdOptions = {
  ...common,
  platform: "browser",
  format: "esm",
  target: "es2024",
  conditions: ["workerd", "worker", "browser"],
  external: ["node:*", "cloudflare:*"],
  // A module of its own beside the script, as wrangler has it.
  loader: { ".wasm": "copy" },
  assetNames: "[name]",
} as const satisfies BuildOptions;
