/** `npm run scale`: what the arguments ask for, told on the terminal. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { root } from "../../scripts/build/paths.ts";
import { countDay } from "./day-run.ts";
import { growthPicture } from "./draw.ts";
import { measure } from "./measure.ts";
import { parseScaleArguments, type ScaleOptions, USAGE } from "./options.ts";
import { readScaleResult, writeScaleResult } from "./result.ts";

const RESULTS = join(import.meta.dirname, "results");
const PICTURE = join(root, "docs", "scale", "growth.svg");

// Edge, origin and phones end with this process, and the lab removes what it made.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

try {
  const command = parseScaleArguments(process.argv.slice(2));
  if (command.kind === "help") console.log(USAGE);
  else if (command.kind === "draw") await draw();
  else if (command.kind === "day") console.log(await countDay((line) => console.log(line)));
  else process.exitCode = await run(command.options);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** @returns 1 where a request failed: none may. */
async function run(options: ScaleOptions): Promise<number> {
  const result = await measure(options, (line) => console.log(line));
  for (const [name, value] of Object.entries(result.figures)) console.log(`${name}: ${value}`);
  for (const failure of result.failures) console.log(`A request failed: ${failure}`);
  if (options.output !== null || !options.quick) {
    const directory = options.output === null ? RESULTS : resolve(options.output);
    const file = join(directory, `${options.experiment}-${options.runtime}.json`);
    await writeScaleResult(file, result);
    console.log(`Result: ${relative(process.cwd(), file)}`);
  }
  return result.failures.length === 0 ? 0 : 1;
}

async function draw(): Promise<void> {
  const files = (await readdir(RESULTS)).filter((name) => name.endsWith(".json")).sort();
  const results = await Promise.all(
    files.map(async (name) => readScaleResult(await readFile(join(RESULTS, name), "utf8"))),
  );
  await writeFile(PICTURE, growthPicture(results.flatMap((each) => (each.experiment === "growth" ? [each] : []))));
  console.log(relative(process.cwd(), PICTURE));
}
