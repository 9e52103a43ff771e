/**
 * What has to be there before anything else can run. Plain JavaScript without dependencies: it runs on Node 20 in a
 * fresh clone. Everything after it runs on the Node that package.json brings.
 */
import { execFile, spawn } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** Of Node: the major version that package.json asks for. */
const OLDEST_NODE = 20;

const binaries = join(root, "node_modules", ".bin");

/**
 * Installs the packages of a folder's package-lock.json unless exactly those are installed. Progress goes to stderr.
 *
 * @param {string} folder
 * @param {{ dev?: boolean, scripts?: boolean }} options dev: also those that only checks, tests and deployment need;
 *   scripts: packages may run their own, which build parts of them.
 */
export async function ensureDependencies(folder = root, { dev = true, scripts = true } = {}) {
  if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE)
    fail(
      `Cannot run: this is Node ${process.versions.node}, and it needs ${OLDEST_NODE} or newer (https://nodejs.org)`,
    );
  if (dependenciesAreInstalled(folder, dev)) return;
  console.error("Installing packages (once, a minute or two) …");
  const flags = [
    dev ? "--include=dev" : "--omit=dev",
    `--ignore-scripts=${!scripts}`,
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    ...PATIENCE,
  ];
  let said = "";
  const loud = { cwd: folder, stdio: ["ignore", 2, "pipe"], env: process.env };
  const listen = (/** @type {import("node:child_process").ChildProcess} */ npm) => {
    npm.stderr?.setEncoding("utf8").on("data", (text) => {
      said += text;
    });
    warnOfSilence(npm, folder);
  };
  if ((await run("npm", ["ci", ...flags], loud, listen)) !== 0) fail(whyNotInstalled(said));
}

/** npm asks three times within seconds, not for a minute. */
const PATIENCE = ["--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=3000"];

/** Names that npm, or the system below it, has for a registry that does not answer. */
const UNREACHABLE = /^(ECONN|E(HOST|NET)UNREACH|ENETDOWN|ENOTFOUND|EAI_|ETIMEDOUT|EPROTO|ERR_SOCKET_TIMEOUT|E5\d\d)/;
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO/;

/** @param {string} said by npm. */
export function whyNotInstalled(said) {
  const [, code = ""] = /npm (?:error|ERR!) code (\S+)/.exec(said) ?? [];
  const [, url = ""] = /request to (\S+) failed/.exec(said) ?? [];
  const registry = `the registry of npm${URL.canParse(url) ? ` at ${new URL(url).host}` : ""}`;
  if (UNREACHABLE.test(code))
    return `Cannot install packages: ${registry} cannot be reached (${code}); see to this machine's network, or to npm's settings "registry" and "proxy", and try again`;
  if (UNTRUSTED.test(code))
    return `Cannot install packages: ${registry} has a certificate that nobody here trusts (${code}); name its authority in NODE_EXTRA_CA_CERTS, and try again`;
  return `${said.trim()}\nCannot install packages (see above)`;
}

/** Milliseconds in which a server takes a connection, if anybody lets it. */
const CONNECTION_TIME = 10_000;

/**
 * Where a network drops what is sent, the system tries for minutes to connect, and npm says nothing meanwhile.
 *
 * @param {import("node:child_process").ChildProcess} npm
 * @param {string} folder
 */
export function warnOfSilence(npm, folder, time = CONNECTION_TIME) {
  // People with a proxy may have no other way to the registry.
  if (Object.keys(process.env).some((name) => /^(npm_config_)?(https?_)?proxy$/i.test(name))) return;
  execFile("npm", ["config", "get", "registry"], { cwd: folder }, (_, answer) => {
    if (!URL.canParse(answer.trim()) || npm.exitCode !== null) return;
    const registry = new URL(answer.trim());
    const port = Number(registry.port) || (registry.protocol === "https:" ? 443 : 80);
    const socket = connect({ host: registry.hostname, port }).setTimeout(time);
    for (const event of ["connect", "error"]) socket.once(event, () => socket.destroy());
    socket.once("timeout", () => {
      console.error(`The registry of npm at ${registry.host} does not answer yet …`);
      socket.destroy();
    });
    npm.once("close", () => socket.destroy());
  });
}

/** What the bench has beyond the project's own packages: the files of its pages, and codecs for pictures. */
export function ensureBenchDependencies() {
  return ensureDependencies(join(root, "e2e", "bench"));
}

/** The applications that a stage uses through the app: as they are, without what they would build or load for themselves. */
export function ensureApplications() {
  return ensureDependencies(join(root, "e2e", "applications"), { scripts: false });
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
 * @param {(child: import("node:child_process").ChildProcess) => void} onStart
 * @returns {Promise<number>} exit code; 128 and more for signals, 127 when it cannot be started.
 */
export function run(program, args, options = {}, onStart = () => {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: "inherit", env: projectEnvironment(), ...options });
    const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
    const passOn = signals.map((signal) => /** @type {const} */ ([signal, () => child.kill(signal)]));
    const finish = (/** @type {number} */ code) => {
      for (const [signal, listener] of passOn) process.off(signal, listener);
      resolve(code);
    };
    for (const [signal, listener] of passOn) process.on(signal, listener);
    onStart(child);
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
