/** Installs what a run needs of Debian. Plain JavaScript, like bootstrap.mjs. */
import { accessSync, constants, existsSync } from "node:fs";
import { join } from "node:path";
import { run } from "./bootstrap.mjs";

const SYSTEM_DIRECTORIES = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/**
 * Where that is possible: on Debian and its like, as root. Progress goes to stderr.
 *
 * @param {readonly string[]} names
 */
export async function installPackages(names) {
  if (names.length === 0 || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  console.error(`Installing ${names.join(", ")} (once) …`);
  const quiet = { stdio: ["ignore", 2, 2], env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } };
  await run("apt-get", ["-qq", "update"], quiet);
  // A server that its package starts would hold ports that ours listen on.
  await run("apt-get", ["-qq", "install", "-y", "--no-install-recommends", ...names], {
    ...quiet,
    env: { ...quiet.env, RUNLEVEL: "1" },
  });
}

/**
 * @param {string} path of a file.
 * @param {readonly string[]} names of the packages that bring it.
 * @returns {Promise<boolean>} whether it is there now.
 */
export async function ensureFile(path, names) {
  if (!existsSync(path)) await installPackages(names);
  return existsSync(path);
}

/** @param {string} program */
export function isInstalled(program) {
  const directories = [...(process.env.PATH ?? "").split(":"), ...SYSTEM_DIRECTORIES];
  return directories.some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
