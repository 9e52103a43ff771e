import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { growthPicture } from "./draw.ts";
import { type Experiment, FIELDS, readScaleResult, type ScaleResult, writeScaleResult } from "./result.ts";

const RESULTS = join(import.meta.dirname, "results");

function resultOf(experiment: Experiment, runtime: "workerd" | "deno" = "workerd"): ScaleResult {
  const { figures, samples } = FIELDS[experiment];
  const filled = (names: readonly string[], value: number): object =>
    Object.fromEntries(names.map((name, index) => [name, value * (index + 1)]));
  return {
    schema: 1,
    experiment,
    runtime,
    startedAt: "2026-11-21T07:00:00.000Z",
    seconds: 1,
    quick: true,
    machine: { processor: "2 x Thing" },
    versions: { node: "v24" },
    load: { before: 0, after: 1 },
    settings: { phones: 3, seconds: 10 },
    figures: filled(figures, 1),
    samples: [filled(samples, 1), filled(samples, 20)],
    failures: [],
  } as unknown as ScaleResult;
}

let directory = "";
afterEach(() => rm(directory, { recursive: true, force: true }));

describe("a result", () => {
  it.each(["idle", "phones", "growth"] as const)("of %s is read as it was written", async (experiment) => {
    directory = await mkdtemp(join(tmpdir(), "ropeway-scale-"));
    const file = join(directory, "new", "result.json");
    const result = resultOf(experiment);
    await writeScaleResult(file, result);
    expect(readScaleResult(await readFile(file, "utf8"))).toEqual(result);
  });

  it.each([
    ["it is no JSON", "{"],
    ['/experiment "other" is unknown', JSON.stringify({ experiment: "other" })],
    ["/samples must NOT have fewer than 1 items", JSON.stringify({ ...resultOf("idle"), samples: [] })],
    ["/samples/0 must have required property", JSON.stringify({ ...resultOf("growth"), samples: [{ phones: 1 }] })],
    ["the result must NOT have additional properties", JSON.stringify({ ...resultOf("phones"), note: "" })],
  ])("that is not whole is refused: %s", (reason, json) => {
    expect(() => readScaleResult(json)).toThrow(reason);
  });

  it("that is kept here is whole, tells its failures, and is no quick one", async () => {
    const files = (await readdir(RESULTS)).filter((name) => name.endsWith(".json"));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const { experiment, runtime, quick, figures, failures } = readScaleResult(
        await readFile(join(RESULTS, file), "utf8"),
      );
      expect([file, quick]).toEqual([`${experiment}-${runtime}.json`, false]);
      if ("failed" in figures) expect(figures.failed > 0).toBe(failures.length > 0);
    }
  });
});

it("the picture of growth shows each runtime by name and all of its samples", () => {
  const growth = growthPicture([resultOf("growth"), resultOf("growth", "deno")] as Parameters<typeof growthPicture>[0]);
  expect(growth).toContain(">workerd<");
  expect(growth).toContain(">Deno<");
  expect(growth.match(/<circle/g)).toHaveLength(2 * 2 * 6);
});
