import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Bits of Linux's capability sets (linux/capability.h). */
const CAP_NET_ADMIN = 12n;
const CAP_SYS_ADMIN = 21n;

/** Path of a program; undefined if there is none. Looks where root's programs are, too. */
export function findProgram(name: string): string | undefined {
  const directories = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"].filter(Boolean);
  return directories.map((directory) => join(directory, name)).find(isExecutable);
}

/** @throws Error if there is no such program. */
export function requireProgram(name: string): string {
  const path = findProgram(name);
  if (path === undefined) throw new Error(`Cannot find ${name}: install what provides it`);
  return path;
}

/** What the lab needs and this machine has not, in plain words. */
export function missingForLab(): string[] {
  if (process.platform !== "linux") return ["Linux"];
  const missing: string[] = [];
  if (process.getuid?.() !== 0) missing.push("root");
  else if (!hasCapabilities()) missing.push("the right to make network namespaces (CAP_NET_ADMIN and CAP_SYS_ADMIN)");
  if (!existsSync("/dev/net/tun")) missing.push("/dev/net/tun");
  if (findProgram("gcc") === undefined) missing.push("gcc (Debian packages gcc and libc6-dev)");
  if (findProgram("ip") === undefined) missing.push("ip (Debian package iproute2)");
  if (findProgram("dnsmasq") === undefined) missing.push("dnsmasq (Debian package dnsmasq-base)");
  return missing;
}

function hasCapabilities(): boolean {
  const [, effective] = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  if (effective === undefined) return false;
  const needed = (1n << CAP_NET_ADMIN) | (1n << CAP_SYS_ADMIN);
  return (BigInt(`0x${effective}`) & needed) === needed;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
