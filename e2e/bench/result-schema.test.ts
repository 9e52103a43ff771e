import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readResult, writeResult } from "./result-schema.ts";
import { syntheticResult } from "./testing/synthetic-result.ts";

const result = syntheticResult({ rounds: 2 });

/** A copy with the value at a JSON pointer changed; undefined removes it. */
function broken(pointer: string, value: unknown): string {
  const copy = JSON.parse(JSON.stringify(result));
  const keys = pointer.slice(1).split("/");
  const last = keys.pop() ?? "";
  const parent = keys.reduce((node, key) => node[key], copy);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return JSON.stringify(copy);
}

const RUN = "/experiments/0/cells/0/series/0/runs/0";

describe("readResult", () => {
  it("takes what the bench writes", () => {
    expect(readResult(JSON.stringify(result))).toEqual(result);
  });

  it.each([
    ["/schema", 2, "/schema must be 1"],
    ["/mode", "fast", '/mode must be one of ["quick","full","smoke"]'],
    ["/startedAt", "yesterday", "/startedAt must match pattern"],
    ["/seed", undefined, "the result must have required property 'seed'"],
    ["/rounds", -1, "/rounds must be >= 0"],
    ["/surprise", 1, 'the result must not have "surprise"'],
    ["/machine/cores", 2, "/machine/cores must be string"],
    ["/experiments/0/id", "A <b>", "/experiments/0/id must match pattern"],
    ["/experiments/0/headline", "speed", '/experiments/0/headline "speed" is not among the metrics'],
    ["/experiments/1/id", "A", '/experiments/1 has experiment "A" a second time'],
    ["/experiments/0/cells/1/id", "delay=5", '/experiments/0/cells/1 has cell "delay=5" a second time'],
    [
      "/experiments/0/cells/0/series/1/contestant",
      "http/1.1",
      '/experiments/0/cells/0/series/1 has contestant "http/1.1" a second time',
    ],
    ["/experiments/0/metrics/1/name", "load", '/experiments/0/metrics/1 has metric "load" a second time'],
    ["/experiments/0/metrics/0/better", "faster", "/experiments/0/metrics/0/better must be one of"],
    [`${RUN}/values/load`, "soon", `${RUN}/values/load must be number`],
    [`${RUN}/failure`, { blame: "weather", message: "" }, `${RUN}/failure/blame must be one of`],
    [`${RUN}/failure`, { blame: "harness", message: "" }, `${RUN}/values must be empty: the run failed`],
    [`${RUN}/filmstrip`, [{ at: 0, picture: "https://elsewhere.test/a.jpg" }], `${RUN}/filmstrip/0/picture must match`],
    [`${RUN}/filmstrip`, [{ at: 0, picture: 'data:image/jpeg;base64,AA"onload="' }], `${RUN}/filmstrip/0/picture`],
  ])("refuses %s = %j", (pointer, value, fault) => {
    expect(() => readResult(broken(pointer, value))).toThrow(fault);
  });

  it("names several faults, and counts the rest", () => {
    const faults = broken("/machine", { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7 });
    expect(() => readResult(faults)).toThrow(/\/machine\/e must be string; and 2 more$/);
  });

  it("refuses what is no JSON", () => {
    expect(() => readResult("{")).toThrow("Cannot read the bench result: it is no JSON");
  });
});

describe("writeResult", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "ropeway-result-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("writes what can be read again, a run to a line", async () => {
    const path = join(directory, "deeper", "run.json");
    await writeResult(path, result);
    const text = await readFile(path, "utf8");
    expect(readResult(text)).toEqual(result);
    expect(text.split("\n").filter((line) => line.includes('"round":1,')).length).toBeGreaterThan(100);
    expect(await readdir(join(directory, "deeper"))).toEqual(["run.json"]);
  });

  it("keeps what breaks the schema under another name", async () => {
    const path = join(directory, "run.json");
    await expect(writeResult(path, { ...result, seconds: Number.NaN })).rejects.toThrow(
      `Cannot write the bench result to ${path}: /seconds must be number; it is kept as ${path}.refused`,
    );
    expect(await readdir(directory)).toEqual(["run.json.refused"]);
  });
});
