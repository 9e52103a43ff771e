/** Installs packages of Python that tests use. Plain JavaScript, like bootstrap.mjs. */
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fail, run } from "./bootstrap.mjs";
import { installPackages } from "./debian-packages.mjs";

/** Milliseconds in which a slow link brings all packages. */
const INSTALL_TIME = 900_000;

/** pip asks a registry five times by itself, and waits for each answer as long as its settings say. */
const PATIENCE = ["--retries=2", "--timeout=30"];

/**
 * Installs the packages of a folder's `requirements.txt`, which has their hashes, into its `.venv`, unless exactly those are
 * installed. Progress goes to stderr.
 *
 * @param {string} folder
 */
export async function ensurePythonPackages(folder) {
  const wanted = join(folder, "requirements.txt");
  const environment = join(folder, ".venv");
  // It is put there when all the others are.
  const installed = join(environment, "requirements.txt");
  if (existsSync(installed) && readFileSync(installed, "utf8") === readFileSync(wanted, "utf8")) return;
  console.error("Installing packages of Python (once, a minute or two) …");
  // A `timeout` would keep this process from its end where a program is not there.
  const signal = AbortSignal.timeout(INSTALL_TIME);
  const quiet = /** @type {const} */ ({ stdio: ["ignore", 2, 2], signal, killSignal: "SIGKILL" });
  const made = async (/** @type {string} */ python) =>
    (await run(python, ["-m", "venv", "--clear", environment], quiet)) === 0;
  if (!(await made("python3"))) {
    // Debian has Python without what makes such a folder.
    await installPackages(["python3-venv"]);
    if (!(await made("/usr/bin/python3")))
      fail("Cannot install packages of Python: install Python 3.11 or newer, on Debian python3-venv, and try again");
  }
  const flags = ["--quiet", "--disable-pip-version-check", "--only-binary=:all:", "--require-hashes", ...PATIENCE];
  const pip = ["-m", "pip", "install", ...flags, "-r", wanted];
  if ((await run(join(environment, "bin", "python"), pip, quiet)) !== 0)
    fail("Cannot install packages of Python (see above)");
  copyFileSync(wanted, installed);
}
