import { defineConfig } from "vitest/config";
import { viteVirtualModules } from "./scripts/build/virtual-modules.ts";

/** Tests that run in Node. Those of the Durable Object run in workerd: vitest.workerd.config.ts. */
export default defineConfig({
  plugins: [viteVirtualModules()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: {
    include: ["{shared,worker,pwa,scripts,e2e}/**/*.test.{ts,tsx}"],
    exclude: ["**/*.workerd.test.ts", "e2e/specs/**"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Tests of edges and links wait more than they compute.
    maxWorkers: 3,
  },
});
