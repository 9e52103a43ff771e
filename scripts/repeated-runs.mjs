/**
 * What came of stages that were run again and again: one line of JSON for each run, in a file that outlives whoever is killed
 * between two of them.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

/** @typedef {{ readonly name: string, readonly message: string }} FailedTest */
/**
 * @typedef {object} Run
 * @property {string} stage
 * @property {string} version of the checkout: only runs of one version say something together.
 * @property {boolean} isBusy whether each core had something else to do.
 * @property {number} seconds
 * @property {readonly FailedTest[]} failed
 */

/** Characters of a message that are kept. */
const MESSAGE = 600;

/**
 * @param {string} file
 * @param {string} version
 * @returns {Run[]} those of this version, in order.
 */
export function readRuns(file, version) {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.flatMap((line) => parsed(line)).filter((run) => run.version === version);
}

/**
 * @param {string} file
 * @param {Run} run
 */
export function keepRun(file, run) {
  mkdirSync(dirname(file), { recursive: true });
  // A line that was cut when its writer was killed ends before this one.
  appendFileSync(file, `\n${JSON.stringify(run)}\n`);
}

/**
 * @param {unknown} report as the JSON reporters of vitest and Playwright write it.
 * @returns {FailedTest[]}
 */
export function failedTests(report) {
  const { testResults, suites, errors } =
    /** @type {{ testResults?: VitestFile[], suites?: Suite[], errors?: Failure[] }} */ (report ?? {});
  if (testResults !== undefined) return testResults.flatMap(failedInFile);
  return [...(suites ?? []).flatMap((suite) => failedInSuite(suite, "")), ...(errors ?? []).map(asFailed("no test"))];
}

/**
 * Tests that failed, how often, and with what words.
 *
 * @param {readonly Run[]} runs
 */
export function summary(runs) {
  const lines = [...Map.groupBy(runs, ({ stage }) => stage)].flatMap(([stage, ofStage]) => {
    const red = ofStage.filter(({ failed }) => failed.length > 0);
    const busy = ofStage.filter(({ isBusy }) => isBusy);
    const seconds = ofStage.map((run) => run.seconds).sort((one, other) => one - other);
    const head = `${stage}: ${red.length} of ${ofStage.length} runs red, ${busy.length} runs beside busy cores, ${seconds[0]} to ${seconds.at(-1)} s`;
    return [head, ...tests(ofStage)];
  });
  return lines.join("\n");
}

/** @param {readonly Run[]} runs */
function tests(runs) {
  const failures = runs.flatMap(({ failed, isBusy }) => failed.map((test) => ({ ...test, isBusy })));
  const byName = [...Map.groupBy(failures, ({ name }) => name)].sort(([, one], [, other]) => other.length - one.length);
  return byName.flatMap(([name, times]) => [
    `  ${times.length} of ${runs.length} (${times.filter(({ isBusy }) => isBusy).length} beside busy cores)  ${name}`,
    ...[...Map.groupBy(times, ({ message }) => message)].map(
      ([message, same]) => `      ${same.length} × ${message.replaceAll("\n", "\n          ")}`,
    ),
  ]);
}

/** @typedef {{ message?: string, value?: string }} Failure */
/**
 * @typedef {object} VitestFile
 * @property {string} name
 * @property {string} status
 * @property {string} [message]
 * @property {{ fullName: string, status: string, failureMessages?: string[] }[]} assertionResults
 */
/**
 * @typedef {object} Suite
 * @property {string} [file]
 * @property {string} title
 * @property {Suite[]} [suites]
 * @property {{ title: string, tests: { projectName: string, status: string, results: { errors?: Failure[] }[] }[] }[]} [specs]
 */

/**
 * @param {VitestFile} file
 * @returns {FailedTest[]}
 */
function failedInFile({ name, status, message = "", assertionResults }) {
  const file = name.replace(`${process.cwd()}/`, "");
  const failed = assertionResults.filter((test) => test.status === "failed");
  // A file that fails as a whole has no test that did.
  if (failed.length === 0) return status === "failed" ? [asFailed(file)({ message })] : [];
  return failed.map(({ fullName, failureMessages = [] }) =>
    asFailed(`${file} > ${fullName}`)({ message: failureMessages.join("\n") }),
  );
}

/**
 * @param {Suite} suite
 * @param {string} path
 * @returns {FailedTest[]}
 */
function failedInSuite({ title, suites = [], specs = [] }, path) {
  const here = path === "" ? title : `${path} > ${title}`;
  const own = specs.flatMap((spec) =>
    spec.tests
      .filter(({ status }) => status === "unexpected")
      .map(({ projectName, results }) =>
        asFailed(`[${projectName}] ${here} > ${spec.title}`)(results.flatMap(({ errors = [] }) => errors)[0] ?? {}),
      ),
  );
  return [...own, ...suites.flatMap((suite) => failedInSuite(suite, here))];
}

/** @param {string} name */
function asFailed(name) {
  return (/** @type {Failure} */ { message, value }) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours start with one.
    const plain = (message ?? value ?? "").replaceAll(/\u001b\[[\d;]*m/g, "");
    // Where in the code it was is the same each time, or says nothing.
    const told = plain.split("\n").filter((line) => !/^\s+at /.test(line));
    return { name, message: told.join("\n").trim().slice(0, MESSAGE) };
  };
}

/**
 * @param {string} line
 * @returns {Run[]}
 */
function parsed(line) {
  try {
    return line === "" ? [] : [JSON.parse(line)];
  } catch {
    return [];
  }
}
