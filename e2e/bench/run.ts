/** `npm run bench`: what the options ask for, told on the terminal. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { root } from "../../scripts/build/paths.ts";
import { checkLink, linkCheckTable } from "../lab/check-link.ts";
import { runBench } from "./bench.ts";
import { endOnSignals } from "./end-on-signals.ts";
import { duration } from "./execute.ts";
import { compareFronts } from "./fronts.ts";
import { mergeResults } from "./merge-results.ts";
import type { BenchResult } from "./model.ts";
import { type BenchCommand, type BenchOptions, parseBenchArguments, USAGE } from "./options.ts";
import { profileMarkdown } from "./profile/markdown.ts";
import { runProfile } from "./profile/profile.ts";
import { profileFault } from "./profile/profile-schema.ts";
import { compareRuns, comparisonTable } from "./report/compare.ts";
import { writePictures } from "./report/pictures.ts";
import { PUBLISHED, publishTables } from "./report/publish.ts";
import { renderReport } from "./report/report.ts";
import { readResult, readResultFile, writeResult } from "./result-schema.ts";
import { sanityFaults } from "./sanity.ts";
import { splitRuns } from "./twice.ts";

const RESULTS = join(import.meta.dirname, "results");
const README = join(root, "README.md");
const BENCHMARKS = join(root, "BENCHMARKS.md");
const PICTURES = join(root, "docs", "bench");

/** The experiments that a smoke run has. */
const SMOKED = ["A", "A-3g", "B", "C", "D", "D-hour", "F", "L", "O", "R", "R-scripts"];

endOnSignals();
try {
  process.exitCode = await carryOut(parseBenchArguments(process.argv.slice(2)));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function carryOut(command: BenchCommand): Promise<number> {
  switch (command.kind) {
    case "help":
      console.log(USAGE);
      return 0;
    case "profile":
      await profile(command.options);
      return 0;
    case "fronts":
      console.log(await compareFronts(command.rounds, (line) => console.log(line)));
      return 0;
    case "check-link":
      return await checkTheLink();
    case "report":
      await reportOf(command.files);
      return 0;
    case "publish":
      await publish(command.files);
      return 0;
    case "compare": {
      const [one, other] = await Promise.all(command.files.slice(0, 2).map(readResultFile));
      if (one === undefined || other === undefined) return 1;
      console.log(comparisonTable(compareRuns(one, other)));
      return 0;
    }
    case "run":
      return await run(command.options);
  }
}

/** @returns 0 also where contestants failed: that is a result. */
async function run(options: BenchOptions): Promise<number> {
  const directory = options.output === null ? RESULTS : resolve(options.output);
  await mkdir(directory, { recursive: true });
  const name = `${new Date().toISOString().slice(0, 16).replaceAll(":", "")}-${options.mode}.json`;
  const file = join(directory, name);
  const keep = async (soFar: BenchResult): Promise<void> => {
    for (const [index, each] of splitRuns(soFar).entries()) await writeResult(fileOf(file, index), each);
  };
  const result = await runBench(options, { tell: (line) => console.log(line), keep });
  await keep(result);
  const failures = result.experiments.flatMap(({ cells }) =>
    cells.flatMap(({ series }) => series.flatMap(({ runs }) => runs.flatMap(({ failure }) => failure ?? []))),
  );
  const ofHarness = failures.filter(({ blame }) => blame === "harness").length;
  console.log(
    `${duration(result.seconds)}; ${failures.length} runs failed, ${ofHarness} of them by the bench's own fault`,
  );
  const runs = splitRuns(result);
  for (const [index, each] of runs.entries()) {
    console.log(`Result: ${relative(process.cwd(), fileOf(file, index))}`);
    await report(each, pageOf(fileOf(file, index)));
  }
  const [first, second] = runs;
  if (first !== undefined && second !== undefined) console.log(comparisonTable(compareRuns(first, second)));
  if (options.mode === "smoke") return tellFaults(result, options.only.length === 0 ? SMOKED : options.only);
  return ofHarness > 0 ? 1 : 0;
}

/** @param index of the run. */
function fileOf(file: string, index: number): string {
  return index === 0 ? file : file.replace(/\.json$/, "-again.json");
}

/** A smoke run is a test of the bench, and of whether a contestant loads pages at all. */
function tellFaults(result: BenchResult, experiments: readonly string[]): number {
  const faults = sanityFaults(readResult(JSON.stringify(result)), experiments);
  for (const fault of faults) console.log(`Not sane: ${fault}`);
  if (faults.length === 0) console.log("All runs are sane");
  return faults.length === 0 ? 0 : 1;
}

async function report(result: BenchResult, page: string): Promise<void> {
  await writeFile(page, renderReport(result));
  console.log(`Report: ${relative(process.cwd(), page)}`);
}

/** One for all, beside the last: named as it is, or "report.html" where there are several. */
async function reportOf(files: readonly string[]): Promise<void> {
  const last = files.at(-1) ?? "";
  const page = files.length > 1 ? join(dirname(last), "report.html") : pageOf(last);
  await report(mergeResults(await Promise.all(files.map(readResultFile))), page);
}

function pageOf(file: string): string {
  return file.replace(/\.json(\.gz)?$/, ".html");
}

async function publish(files: readonly string[]): Promise<void> {
  const merged = await publishTables(
    BENCHMARKS,
    files.length > 0 ? files : PUBLISHED.map((name) => join(RESULTS, name)),
  );
  const documents = await Promise.all([README, BENCHMARKS].map((file) => readFile(file, "utf8")));
  await writePictures(merged, PICTURES, (file) => documents.some((text) => text.includes(`(docs/bench/${file})`)));
}

async function profile({ output, ...options }: (BenchCommand & { kind: "profile" })["options"]): Promise<void> {
  const directory = output === null ? RESULTS : resolve(output);
  await mkdir(directory, { recursive: true });
  const result = await runProfile(options, (line) => console.log(line));
  const file = join(directory, `${result.startedAt.slice(0, 16).replaceAll(":", "")}-profile.json`);
  const text = file.replace(/\.json$/, ".md");
  const fault = profileFault(result);
  // Kept all the same: it was measured.
  await writeFile(fault === null ? file : `${file}.refused`, `${JSON.stringify(result, null, 1)}\n`);
  if (fault !== null) throw new Error(`Cannot write the profile to ${file}: ${fault}; it is kept as ${file}.refused`);
  await writeFile(text, profileMarkdown(result));
  console.log(`Result: ${relative(process.cwd(), file)}\nTables: ${relative(process.cwd(), text)}`);
}

async function checkTheLink(): Promise<number> {
  const checks = await checkLink(({ setting, ok }, done, total) =>
    console.log(`[${done}/${total}] ${setting}: ${ok ? "as asked" : "NOT as asked"}`),
  );
  console.log(linkCheckTable(checks));
  return checks.every(({ ok }) => ok) ? 0 : 1;
}
