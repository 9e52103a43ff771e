import { statSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { viteVirtualModules } from "./scripts/build/virtual-modules.ts";
import { Random } from "./shared/testing/random.ts";

const OF_WORKERD = "**/*.workerd.test.ts";
/** Tests that start edges, browsers and links, in a process to each file. */
const WHOLE = ["worker/contract/**/*.test.ts", "e2e/**/*.test.ts"];
/** What decisions stand on: simulations over many seeds, the bench's pages, emulated links, many phones. `npm run test:long`. */
const LABORATORY = [
  "shared/**/*.simulation.test.ts",
  "e2e/bench/sites/sites.test.ts",
  "e2e/bench/first-flight.test.ts",
  "e2e/lab/lab.test.ts",
  "e2e/lab/check-link.test.ts",
  "e2e/scale/scale.test.ts",
  "worker/contract/edge-memory.contract.test.ts",
];

/** Tests that count steps, for which all that they load has to be loaded after the counter: each file in a process of its own. */
const GROWTH = ["{worker,pwa}/linear-work.test.ts", "shared/testing/count-steps.test.ts"];

/** Of `npm test`, too, with fewer of them. */
const ANSWERS = "worker/contract/edge-answers.contract.test.ts";
const MANY = { ROPEWAY_FUZZ_ANSWERS: process.env.ROPEWAY_FUZZ_ANSWERS ?? "4000" };

/** Of all dice, unless ROPEWAY_FUZZ_SEED says otherwise: a number, or `fresh` for another in each run. */
const FIXED_SEED = "20261125";

const isFresh = process.env.ROPEWAY_FUZZ_SEED === "fresh";
const seed = isFresh ? String(Math.floor(Math.random() * 2 ** 32)) : (process.env.ROPEWAY_FUZZ_SEED ?? FIXED_SEED);
if (isFresh) console.log(`All dice follow from ROPEWAY_FUZZ_SEED=${seed}`);
// For the tests, and for this file where it is read again.
process.env.ROPEWAY_FUZZ_SEED = seed;

/**
 * Files follow each other in an order that does not hang on how long each took the last time: with fresh seeds in any,
 * else the largest first, which mostly take longest.
 */
class SeededOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const random = new Random(Number(seed));
    const named = files.toSorted((one, other) => (one.moduleId < other.moduleId ? -1 : 1));
    const places = new Map(named.map((file) => [file, isFresh ? random.uint32() : -statSync(file.moduleId).size]));
    const projects = [...new Set(named.map(({ project }) => project.name))].sort();
    return projects.flatMap((name) =>
      named
        .filter(({ project }) => project.name === name)
        .sort((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0)),
    );
  }
}

/** Tests that run in Node. Those of the Durable Object run in workerd: vitest.workerd.config.ts. */
export default defineConfig({
  plugins: [viteVirtualModules()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: {
    // For tests that hang: beside other work those that compute take a minute.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Those of edges and links wait more than they compute.
    maxWorkers: 4,
    setupFiles: ["shared/testing/seeded-properties.ts"],
    sequence: { sequencer: SeededOrder },
    projects: [
      {
        extends: true,
        test: { name: "edges and links", include: WHOLE, exclude: ["e2e/specs/**", OF_WORKERD, ...LABORATORY] },
      },
      { extends: true, test: { name: "laboratory", include: [...LABORATORY, ANSWERS], env: MANY } },
      {
        extends: true,
        test: { name: "growth", include: GROWTH, setupFiles: ["shared/testing/count-steps.ts"] },
      },
      {
        extends: true,
        test: {
          name: "parts",
          include: ["{shared,worker,pwa,scripts}/**/*.test.{ts,tsx}"],
          exclude: [...WHOLE, ...LABORATORY, ...GROWTH, OF_WORKERD],
          // To start a process for each file took half of their time. Each leaves the globals as they were.
          isolate: false,
        },
      },
    ],
  },
});
