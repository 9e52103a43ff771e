/**
 * `npm run test:repeat -- unit=20 e2e=10 --busy`: runs stages of `npm test` again and again, and says which test failed how
 * often. Each run is noted in repeated-tests/runs.jsonl when it has ended: started again, it goes on where it was killed.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { answerHelp, COMMANDS, readArguments } from "./command-line.mjs";
import { fail, projectNode, root } from "./install/bootstrap.mjs";
import { failedTests, keepRun, readRuns, summary } from "./repeated-runs.mjs";
import { checkStages, LISTED_STAGES, prepare, runStage, STAGES } from "./test-stages.mjs";

const FILE = join(root, "repeated-tests", "runs.jsonl");
const REPORT = join(root, "repeated-tests", "report.json");

/** A busy loop that ends with whoever started it, even if that is killed. */
const BUSY = "const parent = process.ppid; while (process.ppid === parent);";

/** What has both runners write a report beside what they print. */
const REPORTED = {
  vitest: ["--reporter=default", "--reporter=json", `--outputFile=${REPORT}`],
  playwright: ["--reporter=list,json"],
};

const args = process.argv.slice(2);
answerHelp("test:repeat", args, LISTED_STAGES);
const { values, positionals } = readArguments("test:repeat", () =>
  parseArgs({ args, options: COMMANDS["test:repeat"].options, allowPositionals: true }),
);
const counts = new Map(positionals.map((each) => countOf(each)));
checkStages([...counts.keys()]);
if (values.again) rmSync(FILE, { force: true });

const version = versionNow();
const chosen = STAGES.filter(({ name }) => counts.has(name));
const environment = await prepare(chosen);
await buildOnce();
for (const stage of chosen) {
  for (let done = runsOf(stage.name).length; done < (counts.get(stage.name) ?? 0); done++) {
    // Every second one.
    const isBusy = values.busy && done % 2 === 1;
    console.log(`\n=== ${stage.name}, run ${done + 1}${isBusy ? " beside busy cores" : ""}`);
    await runOnce(stage, isBusy);
  }
}
const runs = [...counts.keys()].flatMap(runsOf);
console.log(`\n=== summary\n${summary(runs)}`);
if (runs.some(({ failed }) => failed.length > 0)) process.exitCode = 1;

/**
 * @param {string} text such as `unit=20`.
 * @returns {[string, number]}
 */
function countOf(text) {
  const [, name = "", count = ""] = /^([\w-]+)=([1-9]\d*)$/.exec(text) ?? [];
  if (name === "") fail(`Cannot repeat ${text}: say how often, as in unit=20`);
  return [name, Number(count)];
}

/** @param {string} stage */
function runsOf(stage) {
  return readRuns(FILE, version).filter((run) => run.stage === stage);
}

/** The commit, and whether something was changed since. */
function versionNow() {
  const git = (/** @type {string[]} */ ...command) => spawnSync("git", command, { cwd: root, encoding: "utf8" }).stdout;
  return `${git("rev-parse", "--short", "HEAD").trim()}${git("status", "--porcelain").trim() === "" ? "" : " and changes"}`;
}

async function buildOnce() {
  const build = STAGES.filter(({ name }) => name === "build");
  for (const stage of build) if ((await runStage(stage, { environment })).code !== 0) fail("Cannot repeat: no build");
}

/**
 * @param {import("./test-stages.mjs").Stage} stage
 * @param {boolean} isBusy
 */
async function runOnce(stage, isBusy) {
  rmSync(REPORT, { force: true });
  const cores = isBusy ? availableParallelism() : 0;
  const loops = Array.from({ length: cores }, () => spawn(projectNode(), ["-e", BUSY], { stdio: "ignore" }));
  const runner = /** @type {keyof typeof REPORTED} */ (stage.command[0]);
  const { code, seconds, lines } = await runStage(stage, {
    environment: { ...environment, PLAYWRIGHT_JSON_OUTPUT_NAME: REPORT },
    args: REPORTED[runner] ?? [],
  });
  for (const loop of loops) loop.kill();
  // A stage that was told to end has not failed.
  if (code >= 128) fail(`Cannot go on: ${stage.name} was ended; started again, it goes on from here`);
  const failed = existsSync(REPORT) ? failedTests(JSON.parse(readFileSync(REPORT, "utf8"))) : [];
  if (code !== 0 && failed.length === 0)
    failed.push({ name: "the stage itself", message: lines.slice(-20).join("\n") });
  keepRun(FILE, { stage: stage.name, version, isBusy, seconds, failed });
}
