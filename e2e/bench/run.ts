/** `npm run bench`: what the options ask for, told on the terminal. */
import { join, relative, resolve } from "node:path";
import { checkLink, linkCheckTable } from "../lab/check-link.ts";
import { measureAll, planText } from "./all.ts";
import { runBench } from "./bench.ts";
import { endOnSignals } from "./end-on-signals.ts";
import { duration } from "./execute.ts";
import { type BenchResult, EXPERIMENTS } from "./model.ts";
import { type BenchCommand, type BenchOptions, parseBenchArguments, USAGE } from "./options.ts";
import { publish, RESULTS } from "./report/publish.ts";
import { resultTable } from "./report/tables.ts";
import { writeResult } from "./results.ts";
import { sanityFaults } from "./sanity.ts";

const tell = (line: string): void => console.log(line);

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
    case "check-link":
      return await checkTheLink();
    case "plan":
      console.log(planText());
      return 0;
    case "all":
      await measureAll(RESULTS, tell);
      await publish(tell);
      return 0;
    case "publish":
      await publish(tell);
      return 0;
    case "run":
      return await run(command.options);
  }
}

/** @returns 0 also where contestants failed: that is a result. */
async function run(options: BenchOptions): Promise<number> {
  const name = `${new Date().toISOString().slice(0, 16).replaceAll(":", "")}-${options.mode}.json`;
  const file = join(options.output === null ? RESULTS : resolve(options.output), name);
  const keep = (soFar: BenchResult): Promise<void> => writeResult(file, soFar);
  const result = await runBench(options, { tell, keep });
  await keep(result);
  const failures = result.experiments.flatMap(({ cells }) =>
    cells.flatMap(({ series }) => series.flatMap(({ runs }) => runs.flatMap(({ failure }) => failure ?? []))),
  );
  const ofHarness = failures.filter(({ blame }) => blame === "harness").length;
  console.log(
    `${duration(result.seconds)}; ${failures.length} runs failed, ${ofHarness} of them by the bench's own fault`,
  );
  console.log(`${resultTable(result)}\nResult: ${relative(process.cwd(), file)}`);
  if (options.mode === "smoke") return tellFaults(result, options.only.length === 0 ? EXPERIMENTS : options.only);
  return ofHarness > 0 ? 1 : 0;
}

/** A smoke run is a test of the bench, and of whether a contestant loads pages at all. */
function tellFaults(result: BenchResult, experiments: readonly string[]): number {
  const faults = sanityFaults(result, experiments);
  for (const fault of faults) console.log(`Not sane: ${fault}`);
  if (faults.length === 0) console.log("All runs are sane");
  return faults.length === 0 ? 0 : 1;
}

async function checkTheLink(): Promise<number> {
  const checks = await checkLink(({ setting, ok }, done, total) =>
    console.log(`[${done}/${total}] ${setting}: ${ok ? "as asked" : "NOT as asked"}`),
  );
  console.log(linkCheckTable(checks));
  return checks.every(({ ok }) => ok) ? 0 : 1;
}
