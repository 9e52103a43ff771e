/**
 * A network namespace without a way out, for what must not leave the machine even when it goes wrong. Every address of
 * IPv4 and IPv6 is its own, so servers in it are reached by all of them. Gone when the program in it ends.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** @returns what this machine lacks, as part of a sentence; null when nothing. */
export async function missingForSealing(): Promise<string | null> {
  if (process.platform !== "linux") return "Linux";
  if (process.getuid?.() !== 0) return "root";
  if (!existsSync("/proc/net/if_inet6")) return "IPv6";
  return await sealed(["true"]).then(
    () => null,
    () => "the right to make network namespaces, unshare and ip",
  );
}

/**
 * Runs a program of Node in a fresh namespace. Names are looked up at 127.0.0.1, port 53, where it may start a server.
 *
 * @param program path of its file.
 * @returns what it prints, which has to be JSON.
 */
export async function runSealed(program: string, ...args: string[]): Promise<unknown> {
  return JSON.parse(await sealed([process.execPath, program, ...args]));
}

const FILES: Readonly<Record<string, string>> = {
  "resolv.conf": "nameserver 127.0.0.1\noptions timeout:30 attempts:1\n",
  hosts: "127.0.0.1 localhost\n::1 localhost\n",
  "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
};

/** Resolvers ask for IPv6 addresses where there is an address of that family beside loopback's. */
const SET_UP = [
  "ip link set lo up",
  "ip address add 198.41.0.4/32 dev lo",
  "ip -6 address add 2001:503:ba3e::2:30/128 dev lo nodad",
  "ip route add local 0.0.0.0/0 dev lo",
  "ip -6 route add local ::/0 dev lo",
];

async function sealed(argv: readonly string[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "ropeway-sealed-"));
  try {
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(directory, name), text);
    const binds = Object.keys(FILES)
      .filter((name) => existsSync(join("/etc", name)))
      .map((name) => `mount --bind ${join(directory, name)} /etc/${name}`);
    const script = [...binds, ...SET_UP, 'exec "$@"'].join("\n");
    const { stdout } = await execute("unshare", ["--net", "--mount", "sh", "-ec", script, "sh", ...argv]);
    return stdout;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
