import { defineConfig } from "vitest/config";
import { viteVirtualModules } from "./scripts/build/virtual-modules.ts";

const OF_WORKERD = "**/*.workerd.test.ts";
/** Tests that start edges, browsers and links, in a process to each file. */
const WHOLE = ["worker/contract/**/*.test.ts", "e2e/**/*.test.ts"];
/** What decisions stand on: simulations over many seeds, the bench's pages and emulated links. `npm run test:long`. */
const LABORATORY = [
  "shared/**/*.simulation.test.ts",
  "e2e/bench/sites/sites.test.ts",
  "e2e/lab/lab.test.ts",
  "e2e/lab/check-link.test.ts",
];

/** Of `npm test`, too, where seed and count are fixed. */
const ANSWERS = "worker/contract/edge-answers.contract.test.ts";
const FRESH = {
  ROPEWAY_FUZZ_SEED: process.env.ROPEWAY_FUZZ_SEED ?? String(Date.now() % 2 ** 32),
  ROPEWAY_FUZZ_ANSWERS: process.env.ROPEWAY_FUZZ_ANSWERS ?? "4000",
};

/** Tests that run in Node. Those of the Durable Object run in workerd: vitest.workerd.config.ts. */
export default defineConfig({
  plugins: [viteVirtualModules()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Those of edges and links wait more than they compute.
    maxWorkers: 4,
    projects: [
      {
        extends: true,
        test: { name: "edges and links", include: WHOLE, exclude: ["e2e/specs/**", OF_WORKERD, ...LABORATORY] },
      },
      { extends: true, test: { name: "laboratory", include: [...LABORATORY, ANSWERS], env: FRESH } },
      {
        extends: true,
        test: {
          name: "parts",
          include: ["{shared,worker,pwa,scripts}/**/*.test.{ts,tsx}"],
          exclude: [...WHOLE, ...LABORATORY, OF_WORKERD],
          // To start a process for each file took half of their time. Each leaves the globals as they were.
          isolate: false,
        },
      },
    ],
  },
});
