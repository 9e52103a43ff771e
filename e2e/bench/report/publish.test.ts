import { copyFile, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { root } from "../../../scripts/build/paths.ts";
import { readResultFile } from "../result-schema.ts";
import { PUBLISHED, publishTables } from "./publish.ts";

const RESULTS = join(import.meta.dirname, "..", "results");
const FILES = PUBLISHED.map((name) => join(RESULTS, name));

/** Bytes: of all results together, so that a clone stays small; older ones are in git. */
const MOST_KEPT = 1_000_000;

describe("publishTables", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "ropeway-publish-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("leaves BENCHMARKS.md as it is: each table is what the kept results say", { timeout: 60_000 }, async () => {
    const copy = join(directory, "BENCHMARKS.md");
    await copyFile(join(root, "BENCHMARKS.md"), copy);
    await publishTables(copy, FILES);
    const lines = (text: string): string[] => text.split("\n");
    expect(lines(await readFile(copy, "utf8"))).toEqual(lines(await readFile(join(root, "BENCHMARKS.md"), "utf8")));
  });
});

describe("the results that are kept", () => {
  it("are in the form that the schema asks for, and those that are published", async () => {
    const kept = (await readdir(RESULTS)).filter((name) => /^seed-(?!profile).*\.json\.gz$/.test(name));
    expect(kept.toSorted()).toEqual(PUBLISHED.toSorted());
    for (const name of kept) await expect(readResultFile(join(RESULTS, name)), name).resolves.toBeDefined();
  });

  it("are small", async () => {
    const kept = (await readdir(RESULTS)).filter((name) => name.startsWith("seed-"));
    const sizes = await Promise.all(kept.map(async (name) => (await stat(join(RESULTS, name))).size));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST_KEPT);
  });
});
