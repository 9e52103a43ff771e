/** Packages of the system for the emulated link and the bench's servers. Plain JavaScript, like bootstrap.mjs. */
import { existsSync } from "node:fs";
import { installPackages, isInstalled } from "./debian-packages.mjs";

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
  await installPackages(missingPackages());
  return missingPackages();
}

function missingPackages() {
  const missing = Object.entries(PACKAGES).flatMap(([program, name]) => (isInstalled(program) ? [] : [name]));
  return existsSync(HEADERS.file) ? missing : [...missing, HEADERS.package];
}
