/**
 * What each command takes: for the command that reads its arguments, and for `--help`. Plain JavaScript without dependencies,
 * as bootstrap.mjs is: help is there before anything is installed.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** The variables that matter at first; docs/options.md has all of them. */
const VARIABLES = /** @type {const} */ ({
  ROPEWAY_HOST: "base host, below which pages get names of their own",
  ROPEWAY_SLOT_HOSTS: "a list of hosts for pages, where there is no wildcard below the base host",
  ROPEWAY_ACCESS_KEY: "the key that pairs phones (openssl rand -hex 32)",
  ROPEWAY_PORT: "port to listen on, 8787 unless it is set",
  ROPEWAY_IP: "address to listen on, 127.0.0.1 unless it is set",
  ROPEWAY_TLS_CERT: "PEM file of the certificate, with ROPEWAY_TLS_KEY",
  ROPEWAY_TLS_KEY: "PEM file of its private key",
  ROPEWAY_ALLOW_PRIVATE: "1: the edge may reach private addresses",
  ROPEWAY_STATE: "folder of keys, cookies and sessions, .ropeway unless it is set",
  CHROME_PATH: "the browser to test with",
  ROPEWAY_FUZZ_SEED: "what all dice of the tests in Node follow from; fresh: another seed",
});

/** @typedef {keyof typeof VARIABLES} Variable */
/** @typedef {{ name: string, what: string }} Listed */
/**
 * @typedef {object} Command
 * @property {string} usage how it is called in the checkout.
 * @property {string} [packaged] how it is called where the package is installed.
 * @property {string} what it does.
 * @property {Readonly<Record<string, Option>>} [options]
 * @property {boolean} [takesNames] beside options.
 * @property {readonly Variable[]} [variables]
 * @property {Readonly<Record<string, readonly Listed[]>>} [lists] of what may be named, by heading.
 */
/** @typedef {{ type: "boolean" | "string", default?: boolean | string, value?: string, what: string }} Option */

const START_VARIABLES = /** @type {const} */ ([
  "ROPEWAY_PORT",
  "ROPEWAY_STATE",
  "ROPEWAY_ACCESS_KEY",
  "ROPEWAY_ALLOW_PRIVATE",
  "ROPEWAY_HOST",
  "ROPEWAY_SLOT_HOSTS",
  "ROPEWAY_IP",
  "ROPEWAY_TLS_CERT",
  "ROPEWAY_TLS_KEY",
]);

export const COMMANDS = /** @type {const} */ ({
  start: {
    usage: "npm start -- [options]",
    packaged: "ropeway [start] [options]",
    what: "Runs an edge and a demo site on this machine, and prints the link that pairs a browser with it. Ctrl+C ends both.",
    options: {
      deno: { type: "boolean", default: false, what: "runs the edge on Deno, not on workerd (in the checkout only)" },
      tunnel: { type: "string", value: "ADDRESS", what: "the https address of a tunnel that leads here" },
    },
    variables: START_VARIABLES,
  },
  smoke: {
    usage: "npm run smoke -- ADDRESS [options]",
    packaged: "ropeway smoke ADDRESS [options]",
    what: "Checks a running edge from outside, as a phone would use it, and says of each fault what to do. ADDRESS is that of the edge, or a pairing link.",
    takesNames: true,
    options: {
      page: {
        type: "string",
        value: "ADDRESS",
        what: "the page to load, with pictures; else one of Wikipedia, or the demo",
      },
    },
    variables: ["ROPEWAY_ACCESS_KEY", "ROPEWAY_STATE"],
  },
  deploy: {
    usage: "npm run deploy -- [options]",
    packaged: "ropeway deploy [options]",
    what: "Puts an edge into the Cloudflare account that wrangler is signed in to, and prints the link that pairs a phone. Run again, it updates the edge.",
    options: {
      "dry-run": { type: "boolean", default: false, what: "only says what it would do; needs no account" },
      host: { type: "string", value: "NAME", what: "base host, a domain of yours at Cloudflare; else workers.dev" },
      zone: { type: "string", value: "NAME", what: "the zone that the host is in, where that is not the host itself" },
      slots: {
        type: "string",
        default: "24",
        value: "NUMBER",
        what: "hosts for pages below workers.dev, 24 unless it is given",
      },
      plan: {
        type: "string",
        value: "PLAN",
        what: "free or paid, that of the account; else it is asked for, once, where somebody can answer",
      },
      "new-key": { type: "boolean", default: false, what: "replaces the access key, which unpairs all phones" },
    },
    variables: ["ROPEWAY_STATE"],
  },
  package: {
    usage: "npm run package",
    what: "Builds, and makes ropeway-VERSION.tgz: a file that runs without the repository (docs/deploy.md).",
  },
  test: {
    usage: "npm test -- [stage …]",
    what: "Sees to packages and a browser, then builds, checks and tests: all stages that are not named below as long, or those that are given.",
    variables: ["CHROME_PATH", "ROPEWAY_FUZZ_SEED"],
  },
  "test:repeat": {
    usage: "npm run test:repeat -- STAGE=COUNT … [options]",
    what: "Runs stages of the tests so many times, and says which test failed how often and with what. Ended, it goes on where it was when it is started again at the same commit.",
    takesNames: true,
    options: {
      busy: { type: "boolean", default: false, what: "every second run is beside a busy loop on each core" },
      again: { type: "boolean", default: false, what: "forgets what was run before" },
    },
    variables: ["CHROME_PATH", "ROPEWAY_FUZZ_SEED"],
  },
  "test:engines": {
    usage: "npm run test:engines -- [engine …]",
    what: "Walks through the app in both engines, or in the one that is given. As root on Debian it installs what they need.",
    lists: {
      Engines: [
        { name: "firefox", what: "Firefox, the system's" },
        { name: "webkit", what: "WebKitGTK, by WebKitWebDriver and Xvfb" },
      ],
    },
  },
  "test:wpt": {
    usage: "npm run test:wpt -- CHECKOUT [directory …] [options]",
    what: "Runs tests of web-platform-tests (a checkout of theirs is needed) directly and through the app, and prints what passes directly and is lost in the app: of the directories that are given, or of sixteen (docs/platform-tests.md).",
    takesNames: true,
    options: {
      sample: {
        type: "string",
        value: "NUMBER",
        what: "no more than so many files of a directory, the same each time",
      },
      match: { type: "string", value: "TEXT", what: "only files whose path has it" },
      minutes: { type: "string", value: "NUMBER", what: "begins no test later than that" },
      lanes: { type: "string", default: "2", value: "NUMBER", what: "tests at the same time, 2 unless it is given" },
      lost: {
        type: "string",
        value: "FILE",
        what: "gets a line of JSON for each that is lost, with what its test said",
      },
      deno: { type: "boolean", default: false, what: "runs the edge on Deno, not on workerd" },
    },
    variables: ["CHROME_PATH"],
  },
  way: {
    usage: "npm run way",
    what: "Lists the files with a function that ran for one picture on a warm session, on phone and edge.",
    variables: ["CHROME_PATH"],
  },
  ropeway: {
    usage: "npx ropeway [command] [options]",
    packaged: "ropeway [command] [options]",
    what: "Loads the web over one warm WebSocket. Each command has a --help of its own.",
    lists: {
      Commands: [
        { name: "start", what: "runs an edge on this machine; so it does where no command is given" },
        { name: "deploy", what: "puts an edge into your Cloudflare account" },
        { name: "smoke", what: "checks a running edge from outside" },
      ],
    },
    variables: START_VARIABLES,
  },
});

const isCheckout = existsSync(join(fileURLToPath(import.meta.url), "..", "..", "package-lock.json"));

/** Columns of a line of help. */
const WIDTH = 100;

/**
 * Prints what the command takes and ends the process, where that was asked for.
 *
 * @param {string} name of a command in COMMANDS.
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, readonly Listed[]>>} lists of what only the command knows, by heading.
 */
export function answerHelp(name, args, lists = {}) {
  if (!args.some((argument) => argument === "--help" || argument === "-h")) return;
  console.log(helpText(/** @type {keyof typeof COMMANDS} */ (name), lists));
  process.exit(0);
}

/**
 * @param {keyof typeof COMMANDS} name
 * @param {Readonly<Record<string, readonly Listed[]>>} lists as for `answerHelp`.
 */
export function helpText(name, lists = {}) {
  /** @type {Command} */
  const { usage, packaged, what, options = {}, variables = [], lists: own = {} } = COMMANDS[name];
  const rows = [
    ...Object.entries(options).map(([option, { value, what: meaning }]) => ({
      name: `--${option}${value === undefined ? "" : ` ${value}`}`,
      what: meaning,
    })),
    { name: "--help", what: "prints this" },
  ];
  const parts = [
    `Usage: ${isCheckout ? usage : `npx ${packaged}`}`,
    folded(what, 0),
    ...Object.entries({ ...own, ...lists }).map(([heading, listed]) => table(heading, listed)),
    table("Options", rows),
  ];
  if (variables.length > 0) {
    const listed = variables.map((variable) => ({ name: variable, what: VARIABLES[variable] }));
    parts.push(table("Environment (docs/options.md has all of it)", listed));
  }
  return parts.join("\n\n");
}

/**
 * Ends the process with a sentence where the command does not take these.
 *
 * @param {string} name as for `answerHelp`.
 * @param {readonly string[]} args
 */
export function checkArguments(name, args) {
  /** @type {Command} */
  const { options = {}, takesNames = false } = COMMANDS[/** @type {keyof typeof COMMANDS} */ (name)];
  try {
    readArguments(name, () => parseArgs({ args: [...args], options, allowPositionals: takesNames }));
  } catch (error) {
    console.error(/** @type {Error} */ (error).message);
    process.exit(1);
  }
}

/**
 * @template Values
 * @param {string} name
 * @param {() => Values} parse of node:util, by what COMMANDS has.
 * @throws Error that says what is wrong with the arguments.
 */
export function readArguments(name, parse) {
  try {
    return parse();
  } catch (error) {
    const [why = ""] = /** @type {Error} */ (error).message.split(". ");
    throw new Error(`Cannot run ${name}: ${why.charAt(0).toLowerCase()}${why.slice(1)}; --help lists what there is`);
  }
}

/**
 * @param {string} heading
 * @param {readonly Listed[]} rows
 */
function table(heading, rows) {
  const indent = Math.max(...rows.map(({ name }) => name.length)) + 4;
  const lines = rows.map(({ name, what }) => `  ${name.padEnd(indent - 2)}${folded(what, indent)}`);
  return [heading, ...lines].join("\n");
}

/**
 * @param {string} text
 * @param {number} indent of all lines but the first, which begins at that column, too.
 */
function folded(text, indent) {
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line === undefined || indent + line.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.join(`\n${" ".repeat(indent)}`);
}
