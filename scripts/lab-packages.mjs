/** What the emulated link and the bench's servers need from the system. Plain JavaScript, like bootstrap.mjs. */
import { accessSync, constants, existsSync } from "node:fs";
import { join } from "node:path";
import { run } from "./bootstrap.mjs";

/** Debian's package by program. */
const PACKAGES = {
  caddy: "caddy",
  dnsmasq: "dnsmasq-base",
  gcc: "gcc",
  ip: "iproute2",
  openssl: "openssl",
};

/** Debian's package of the headers that gcc alone does not bring. */
const HEADERS = { file: "/usr/include/stdio.h", package: "libc6-dev" };

const SYSTEM_DIRECTORIES = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/**
 * What no package can bring.
 *
 * @param {{ platform: string, isRoot: boolean, hasTun: boolean }} system
 * @returns {string[]} in plain words; empty where an emulated link is possible.
 */
export function missingForLink(system = thisSystem()) {
  const missing = [];
  if (system.platform !== "linux") missing.push("Linux");
  if (!system.isRoot) missing.push("root (try sudo)");
  if (!system.hasTun) missing.push("/dev/net/tun");
  return missing;
}

function thisSystem() {
  return { platform: process.platform, isRoot: process.getuid?.() === 0, hasTun: existsSync("/dev/net/tun") };
}

/**
 * @param {string[]} missing
 * @returns {string} one sentence.
 */
export function withoutLink(missing) {
  return `Cannot run the bench: it emulates a link, which needs ${missing.join(" and ")}`;
}

/**
 * Installs what is missing where that is Debian and we are root.
 *
 * @returns {Promise<string[]>} packages that are still missing.
 */
export async function ensureLabPackages() {
  let missing = missingPackages();
  if (missing.length > 0 && process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    console.error(`Installing ${missing.join(", ")} (once) …`);
    const quiet = { stdio: ["ignore", 2, 2], env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } };
    await run("apt-get", ["-qq", "update"], quiet);
    // A server that its package starts would hold the ports; ours run in namespaces of their own.
    await run("apt-get", ["-qq", "install", "-y", "--no-install-recommends", ...missing], {
      ...quiet,
      env: { ...quiet.env, RUNLEVEL: "1" },
    });
    missing = missingPackages();
  }
  return missing;
}

function missingPackages() {
  const missing = Object.entries(PACKAGES).flatMap(([program, name]) => (isInstalled(program) ? [] : [name]));
  return existsSync(HEADERS.file) ? missing : [...missing, HEADERS.package];
}

/** @param {string} program */
function isInstalled(program) {
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
