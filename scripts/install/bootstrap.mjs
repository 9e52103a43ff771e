/**
 * What has to be there before anything else can run. Plain JavaScript without dependencies: it runs on Node 20 in a
 * fresh clone. Everything after it runs on the Node that package.json brings.
 */
import { spawn } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

const binaries = join(root, "node_modules", ".bin");

/**
 * Installs the packages of a folder's package-lock.json unless exactly those are installed. Progress goes to stderr.
 *
 * @param {string} folder
 * @param {{ dev?: boolean }} options dev: also those that only checks, tests and deployment need.
 */
export async function ensureDependencies(folder = root, { dev = true } = {}) {
  if (dependenciesAreInstalled(folder, dev)) return;
  console.error("Installing packages (once, a minute or two) …");
  const flags = [
    dev ? "--include=dev" : "--omit=dev",
    "--ignore-scripts=false",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  const loud = { cwd: folder, stdio: ["ignore", "ignore", 2], env: process.env };
  if ((await run("npm", ["ci", ...flags], loud)) !== 0) fail("Cannot install packages (see above)");
}

/** What the bench has beyond the project's own packages: the files of its pages, and codecs for pictures. */
export function ensureBenchDependencies() {
  return ensureDependencies(join(root, "e2e", "bench"));
}

/** The node of package.json: it runs TypeScript as it is. */
export function projectNode() {
  const path = join(binaries, "node");
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
    if (major > 22 || (major === 22 && minor >= 18)) return process.execPath;
    return fail("Cannot run: node_modules/.bin/node is missing; delete node_modules and try again");
  }
}

/** Environment in which `node` and the packages' commands are the project's own. */
export function projectEnvironment() {
  return { ...process.env, PATH: `${binaries}:${process.env.PATH ?? ""}` };
}

/**
 * Runs a program in the checkout until it ends. SIGINT, SIGTERM and SIGHUP are passed on.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {import("node:child_process").SpawnOptions} options
 * @returns {Promise<number>} exit code; 128 and more for signals, 127 when it cannot be started.
 */
export function run(program, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: "inherit", env: projectEnvironment(), ...options });
    const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
    const passOn = signals.map((signal) => /** @type {const} */ ([signal, () => child.kill(signal)]));
    const finish = (/** @type {number} */ code) => {
      for (const [signal, listener] of passOn) process.off(signal, listener);
      resolve(code);
    };
    for (const [signal, listener] of passOn) process.on(signal, listener);
    child.once("error", (error) => {
      console.error(`Cannot run ${program}: ${error.message}`);
      finish(127);
    });
    child.once("close", (code, signal) => finish(code ?? (signal === "SIGINT" ? 130 : 143)));
  });
}

/**
 * @param {string} message
 * @returns {never}
 */
export function fail(message) {
  console.error(message);
  process.exit(1);
}

/**
 * @param {string} folder
 * @param {boolean} dev
 */
function dependenciesAreInstalled(folder, dev) {
  try {
    const wanted = readLock(join(folder, "package-lock.json"));
    const installed = readLock(join(folder, "node_modules", ".package-lock.json"));
    return Object.entries(wanted).every(
      ([path, { version, optional, dev: isDev }]) =>
        path === "" || optional || (isDev && !dev) || installed[path]?.version === version,
    );
  } catch {
    return false;
  }
}

/**
 * @param {string} file
 * @returns {Record<string, { version?: string, optional?: boolean, dev?: boolean }>}
 */
function readLock(file) {
  return JSON.parse(readFileSync(file, "utf8")).packages;
}
