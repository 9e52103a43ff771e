import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { root } from "../../../scripts/build/paths.ts";
import { readResult } from "../result-schema.ts";
import { PUBLISHED, publishTables, secondRunOf } from "./publish.ts";

const RESULTS = join(import.meta.dirname, "..", "results");
const FILES = PUBLISHED.map((name) => join(RESULTS, name));

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

  it("says how far a second run agrees, where there is one and a place for it", async () => {
    const copy = join(directory, "some.md");
    await writeFile(copy, "<!-- bench:seed-a-3g/agreement -->\n<!-- /bench -->");
    await publishTables(copy, [join(RESULTS, "seed-a-3g.json"), join(RESULTS, "seed-b.json")]);
    expect(await readFile(copy, "utf8")).toContain("All 6 medians agree within 5.0 %");
  });
});

describe("the results that are kept", () => {
  it("are in the form that the schema asks for", async () => {
    const kept = (await readdir(RESULTS)).filter((name) => /^seed-(?!profile).*\.json$/.test(name));
    expect(kept).toEqual(expect.arrayContaining([...PUBLISHED, secondRunOf("seed-a.json")]));
    for (const name of kept) {
      const text = await readFile(join(RESULTS, name), "utf8");
      expect(() => readResult(text), name).not.toThrow();
    }
  });
});
