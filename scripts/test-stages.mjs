/** The stages of `npm test` and `npm run test:long`: what each needs, runs, and says in the end. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import {
  ensureApplications,
  ensureBenchDependencies,
  ensureDependencies,
  fail,
  projectEnvironment,
  root,
} from "./install/bootstrap.mjs";
import { ensureBrowser, ensureHeadlessBrowser } from "./install/browser.mjs";
import { ensureFile } from "./install/debian-packages.mjs";
import { ensureLabPackages, missingForLink } from "./install/lab-packages.mjs";
import { ensurePythonPackages } from "./install/python-packages.mjs";

/** @typedef {{
 *   name: string, what: string, command: readonly string[], summary: RegExp, failure?: RegExp,
 *   environment?: Readonly<Record<string, string>>
 * }} Stage */

/** Lines of vitest that say which tests failed, and why. */
const VITEST_FAILURE = /^ *FAIL |^(\w*Error|Unhandled)\b/;

const UNIT = {
  command: ["vitest", "run", "--project", "parts", "--project", "growth", "--project", "edges and links"],
  summary: /^ *(Test Files|Tests|Errors) |ROPEWAY_FUZZ_SEED=\d+$/,
  failure: VITEST_FAILURE,
};

/** The same dice each time find little that is new: with others there are more of them. */
const FRESH = { ROPEWAY_FUZZ_SEED: "fresh", ROPEWAY_FUZZ_FRAMES: "250000" };

const PLAYWRIGHT = {
  summary: /^ *\d+ (passed|failed|skipped|did not run|interrupted)|^The browser owes /,
  failure:
    /^The app('s standing| stood at) |^ {4}(\[\w+\] › |\w*Error\b|Test timeout|Expected|Received|> +\d+ \|| +- )/,
};

/** Where slots live at any label below the app's host. */
const ON_A_WILDCARD = ["--project", "workerd", "--project", "deno"];

/** @type {readonly Stage[]} */
export const STAGES = [
  {
    name: "build",
    what: "the app and the edge, which the others need",
    command: ["node", "scripts/build.ts"],
    summary: / of +[\d.]+ KB|dist\//,
  },
  {
    name: "check",
    what: "types, lint, format, import direction, unused code",
    command: ["node", "scripts/check.ts"],
    summary: /^(ok|failed) /,
  },
  { name: "unit", what: "tests of parts, and of edges on workerd and Deno", ...UNIT },
  {
    name: "workerd",
    what: "tests inside workerd, with the bindings of Cloudflare",
    command: ["vitest", "run", "--config", "vitest.workerd.config.ts"],
    summary: /^ *(Test Files|Tests|Errors) /,
    failure: VITEST_FAILURE,
  },
  {
    name: "e2e",
    what: "the app in Chromium",
    command: ["playwright", "test", "--grep-invert", "@long", ...ON_A_WILDCARD],
    ...PLAYWRIGHT,
  },
  {
    name: "laboratory",
    what: "tests of the emulated link",
    command: ["vitest", "run", "--project", "laboratory"],
    summary: /^ *(Test Files|Tests|Errors) /,
    failure: VITEST_FAILURE,
    environment: FRESH,
  },
  { name: "fresh", what: "the stage unit with dice of another seed, in another order", ...UNIT, environment: FRESH },
  {
    name: "long",
    what: "the specs named @long",
    command: ["playwright", "test", "--grep", "@long", "--workers", "1", ...ON_A_WILDCARD],
    ...PLAYWRIGHT,
  },
  {
    name: "listed",
    what: "the specs of isolation, on a list of hosts",
    command: ["playwright", "test", "--project", "listed"],
    ...PLAYWRIGHT,
  },
  {
    name: "applications",
    what: "real applications, directly and through the app: the same comes of it",
    command: ["playwright", "test", "--project", "applications", "--workers", "1"],
    ...PLAYWRIGHT,
  },
  {
    name: "bench",
    what: "a corner of each cell of the bench, as root on Linux",
    command: [
      "node",
      "e2e/bench/run.ts",
      "--smoke",
      "--laboratories",
      "2",
      "--unquiet",
      "--output",
      "test-results/bench",
    ],
    summary: /sane/,
  },
];

/** Not part of `npm test`. */
export const LONG = ["laboratory", "fresh", "long", "listed", "applications", "bench"];

/** As help lists them, by heading. */
export const LISTED_STAGES = {
  Stages: STAGES.filter(({ name }) => !LONG.includes(name)),
  "Stages that take long": STAGES.filter(({ name }) => LONG.includes(name)),
};

/**
 * Sees to all that these stages need: packages, a browser, a link that can be emulated.
 *
 * @param {readonly Stage[]} chosen
 * @returns {Promise<Readonly<Record<string, string>>>} what they find in their environment.
 */
export async function prepare(chosen) {
  await ensureDependencies();
  await ensureBenchDependencies();
  if (chosen.some(({ name }) => name === "applications")) {
    await ensureApplications();
    await ensurePythonPackages(join(root, "e2e", "applications"));
    // Any small web server spares a large one, which the package would bring along.
    if (!(await ensureFile("/usr/lib/cgi-bin/wiki.pl", ["usemod-wiki", "micro-httpd"])))
      fail("Cannot use the applications: one is UseModWiki; install Debian's usemod-wiki");
  }
  // Without Caddy the specs of an edge behind it fail.
  if (chosen.some(({ name }) => name === "long")) await ensureFile("/usr/bin/caddy", ["caddy"]);
  const usesBrowser = chosen.some(({ name }) => ["e2e", ...LONG].includes(name));
  const browser = usesBrowser ? { CHROME_PATH: await ensureBrowser() } : {};
  if (browser.CHROME_PATH !== undefined) await ensureHeadlessBrowser(browser.CHROME_PATH);
  if (chosen.some(({ name }) => name === "bench")) await ensureBenchLink();
  return browser;
}

/**
 * @param {readonly string[]} wanted
 * @returns {void} ends the process where one is not a stage.
 */
export function checkStages(wanted) {
  const unknown = wanted.filter((name) => !STAGES.some((stage) => stage.name === name));
  if (unknown.length > 0)
    fail(`Cannot test ${unknown.join(", ")}: stages are ${STAGES.map(({ name }) => name).join(", ")}`);
}

/** An emulated link needs what not every machine has. */
async function ensureBenchLink() {
  const missing = [...missingForLink(), ...(missingForLink().length === 0 ? await ensureLabPackages() : [])];
  if (missing.length > 0) fail(`Cannot test the bench: it needs ${missing.join(" and ")}`);
}

/**
 * @param {Stage} stage
 * @param {{ environment: Readonly<Record<string, string>>, args?: readonly string[] }} more of this run: as `prepare` gives
 *   it, and what goes behind the command.
 */
export async function runStage({ command: [program = "", ...args], summary, failure, environment: own }, more) {
  const start = Date.now();
  const environment = {
    ...own,
    ...projectEnvironment(),
    ...more.environment,
    ...(process.stdout.isTTY ? { FORCE_COLOR: "1" } : { NO_COLOR: "1" }),
  };
  const child = spawn(program, [...args, ...(more.args ?? [])], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: environment,
  });
  const stop = () => child.kill("SIGTERM");
  process.on("SIGINT", stop).on("SIGTERM", stop);
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    process.stdout.write(text);
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    process.stderr.write(text);
    output += text;
  });
  /** @type {number} */
  const code = await new Promise((resolve) => {
    child.once("error", (error) => {
      console.error(`Cannot run ${program}: ${error.message}`);
      resolve(127);
    });
    child.once("close", (status) => resolve(status ?? 143));
  });
  process.off("SIGINT", stop).off("SIGTERM", stop);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours start with one.
  const lines = output.replaceAll(/\u001b\[[\d;]*m/g, "").split("\n");
  const isClosing = (/** @type {string} */ line) => summary.test(line) || (code !== 0 && failure?.test(line) === true);
  return {
    code,
    lines,
    closing: lines.filter(isClosing).map((line) => line.trim()),
    seconds: secondsSince(start),
  };
}

/** @param {number} start */
export function secondsSince(start) {
  return Math.round((Date.now() - start) / 1000);
}
