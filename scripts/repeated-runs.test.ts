import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { failedTests, keepRun, readRuns, summary } from "./repeated-runs.mjs";

const run = { stage: "unit", version: "1", isBusy: false, seconds: 10, failed: [] };

it("goes on behind what was kept before somebody was killed, and counts one version alone", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ropeway-runs-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "new", "runs.jsonl");
  expect(readRuns(file, "1")).toEqual([]);
  keepRun(file, run);
  keepRun(file, { ...run, version: "2" });
  await appendFile(file, '{"stage":"unit","vers');
  keepRun(file, { ...run, seconds: 20 });
  expect(readRuns(file, "1")).toEqual([run, { ...run, seconds: 20 }]);
});

it("finds what failed in a report of vitest, files that could not begin too", () => {
  const file = (name: string, rest: object) => ({ name: `${process.cwd()}/${name}`, status: "failed", ...rest });
  const report = {
    testResults: [
      file("a.test.ts", {
        assertionResults: [
          { fullName: "group one", status: "passed", failureMessages: [] },
          {
            fullName: "group two",
            status: "failed",
            failureMessages: ["Error: \u001b[31m2\u001b[39m for 1\n    at x.ts:1:2"],
          },
        ],
      }),
      file("b.test.ts", { message: "Cannot find module", assertionResults: [] }),
      { ...file("c.test.ts", { assertionResults: [] }), status: "passed" },
    ],
  };
  expect(failedTests(report)).toEqual([
    { name: "a.test.ts > group two", message: "Error: 2 for 1" },
    { name: "b.test.ts", message: "Cannot find module" },
  ]);
});

it("finds what failed in a report of Playwright, and what was wrong outside of tests", () => {
  const spec = (title: string, status: string) => ({
    title,
    tests: [{ projectName: "workerd", status, results: [{ errors: [{ message: "Timeout" }] }] }],
  });
  const report = {
    suites: [
      {
        title: "x.spec.ts",
        specs: [spec("one", "unexpected"), spec("two", "expected")],
        suites: [{ title: "inner", specs: [spec("three", "unexpected")] }],
      },
    ],
    errors: [{ message: "no tests found" }],
  };
  expect(failedTests(report)).toEqual([
    { name: "[workerd] x.spec.ts > one", message: "Timeout" },
    { name: "[workerd] x.spec.ts > inner > three", message: "Timeout" },
    { name: "no test", message: "no tests found" },
  ]);
});

it("says which test failed how often, and with what", () => {
  const failed = (message: string) => [{ name: "a.test.ts > two", message }];
  const runs = [
    run,
    { ...run, isBusy: true, seconds: 30, failed: failed("one thing\nand more") },
    { ...run, failed: failed("another") },
    { ...run, stage: "e2e" },
  ];
  expect(summary(runs)).toBe(
    [
      "unit: 2 of 3 runs red, 1 runs beside busy cores, 10 to 30 s",
      "  2 of 3 (1 beside busy cores)  a.test.ts > two",
      "      1 × one thing",
      "          and more",
      "      1 × another",
      "e2e: 0 of 1 runs red, 0 runs beside busy cores, 10 to 10 s",
    ].join("\n"),
  );
});
