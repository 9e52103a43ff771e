/**
 * `npm test`: all set-up, then build, check and the three runners; stops where something fails.
 * `npm test -- unit e2e` runs only those stages (and the build, which they need).
 * `npm run test:long`: what takes long, the unit tests with dice of other seeds, the specs named `@long`, those of isolation
 * on a list of hosts, real applications, the bench's pages and the bench in short.
 */
import { answerHelp } from "./command-line.mjs";
import { checkStages, LISTED_STAGES, LONG, prepare, runStage, STAGES, secondsSince } from "./test-stages.mjs";

const wanted = process.argv.slice(2);
answerHelp("test", wanted, LISTED_STAGES);
checkStages(wanted);
const chosen = STAGES.filter(({ name }) =>
  wanted.length === 0 ? !LONG.includes(name) : name === "build" || wanted.includes(name),
);
const environment = await prepare(chosen);

const started = Date.now();
/** @type {string[]} */
const report = [];
for (const stage of chosen) {
  console.log(`\n=== ${stage.name}`);
  const { code, closing, seconds } = await runStage(stage, { environment });
  report.push(
    `${code === 0 ? "passed" : "FAILED"}  ${stage.name} (${seconds} s)`,
    ...closing.map((line) => `        ${line}`),
  );
  if (code === 0) continue;
  process.exitCode = 1;
  break;
}
console.log(`\n=== summary, ${secondsSince(started)} s\n${report.join("\n")}`);
