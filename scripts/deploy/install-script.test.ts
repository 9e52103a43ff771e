import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv, promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { readSlotHosts } from "../../worker/front/hosts.ts";
import { root } from "../build/paths.ts";

const HOST = "ropeway.example";
const WILDCARD = { ROPEWAY_HOST: HOST, ROPEWAY_SLOT_HOSTS: "", ROPEWAY_NAMES: `${HOST} *.${HOST}` };

/** Runs it for its settings alone, again and again in one directory. */
async function installer() {
  const into = await mkdtemp(join(tmpdir(), "ropeway-install-"));
  onTestFinished(() => rm(into, { recursive: true }));
  const at = (...names: readonly string[]) => join(into, "etc", ...names);
  const read = (name: string) => readFile(at("ropeway", name), "utf8");
  const install = async (...args: string[]) => {
    const script = join(root, "deploy", "install.sh");
    await promisify(execFile)("sh", [script, "--host", HOST, "--into", into, ...args]);
    return parseEnv(await read("host.env"));
  };
  return { install, read, at };
}

it("writes the wildcard, and keeps key and certificates", async () => {
  const { install, read } = await installer();
  expect(await install("--internal")).toEqual(WILDCARD);
  const key = await read("key.env");
  expect(key).toMatch(/^ROPEWAY_ACCESS_KEY=[0-9a-f]{64}$/m);
  expect(await install()).toEqual(WILDCARD);
  expect([await read("key.env"), await read("tls.caddy")]).toEqual([key, "tls internal\n"]);
});

it.each(["s[08-11].ropeway.example", "a.ropeway.example, b-c.ropeway.example,s[1-10].ropeway.example"])(
  "writes Caddy the names that the edge reads in %s, and keeps the list",
  async (slots) => {
    const { install, read } = await installer();
    const names = [HOST, ...readSlotHosts(slots, HOST)].join(" ");
    expect(await install("--slots", slots)).toEqual({ ...WILDCARD, ROPEWAY_SLOT_HOSTS: slots, ROPEWAY_NAMES: names });
    // Caddy's own way, with no token.
    expect(await read("tls.caddy")).toMatch(/^#[^\n]*\n$/);
    expect((await install()).ROPEWAY_NAMES).toBe(names);
    expect(await install("--slots", "", "--internal")).toEqual(WILDCARD);
  },
);

it.each([
  ["ropeway", []],
  ["ropeway-deno", ["--deno"]],
] as const)("lets no other account read keys, nor what the service %s keeps", async (service, args) => {
  const { install, at } = await installer();
  await install("--internal", ...args);
  expect((await stat(at("ropeway", "key.env"))).mode & 0o777).toBe(0o600);
  const unit = await readFile(at("systemd", "system", `${service}.service`), "utf8");
  expect(unit).toMatch(/^StateDirectory=ropeway$/m);
  expect(unit).toMatch(/^StateDirectoryMode=0700$/m);
  expect(unit).toMatch(/^UMask=0077$/m);
});

it("closes secrets that others could read before, and keeps them", async () => {
  const { install, read, at } = await installer();
  await mkdir(at("ropeway"), { recursive: true });
  const secrets = { "key.env": "ROPEWAY_ACCESS_KEY=kept\n", "dns.env": "DNS_TOKEN=kept\n" };
  for (const [name, text] of Object.entries(secrets)) {
    await writeFile(at("ropeway", name), text);
    await chmod(at("ropeway", name), 0o644);
  }
  await install("--internal");
  for (const [name, text] of Object.entries(secrets)) {
    expect(await read(name)).toBe(text);
    expect([name, (await stat(at("ropeway", name))).mode & 0o777]).toEqual([name, 0o600]);
  }
});

it("lets the service on Deno close what it kept before", async () => {
  const { install, at } = await installer();
  await install("--internal", "--deno");
  const unit = await readFile(at("systemd", "system", "ropeway-deno.service"), "utf8");
  const state = at("state");
  await mkdir(join(state, "deno"), { recursive: true });
  for (const name of ["deno.kv", join("deno", "cache")]) await writeFile(join(state, name), "secret");
  await promisify(execFile)("chmod", ["-R", "u=rwX,go=rX", state]);
  const [program = "", ...args] = (/^ExecStartPre=(.*)$/m.exec(unit)?.[1] ?? "").split(" ");
  await promisify(execFile)(
    program,
    args.map((arg) => arg.replace("/var/lib/ropeway", state)),
  );
  const modes = [".", "deno.kv", "deno", join("deno", "cache")].map(
    async (name) => (await stat(join(state, name))).mode,
  );
  expect((await Promise.all(modes)).map((mode) => mode & 0o777)).toEqual([0o700, 0o600, 0o700, 0o600]);
});

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly integrity?: string; readonly inBundle?: boolean }>
  >;
}

const lockIn = async (...folder: readonly string[]): Promise<Lock["packages"]> =>
  (JSON.parse(await readFile(join(root, ...folder, "package-lock.json"), "utf8")) as Lock).packages;

it("installs from a lock alone, with the workerd that was tested", async () => {
  const script = await readFile(join(root, "deploy", "install.sh"), "utf8");
  expect(script).toMatch(/npm ci/);
  expect(script).not.toMatch(/npm (install|i|add|exec)\b|npx/);
  const [own, server] = await Promise.all([lockIn(), lockIn("deploy", "server")]);
  expect(server["node_modules/workerd"]).toEqual(own["node_modules/workerd"]);
});

it.each([[[]], [["deploy", "server"]]])("has a hash of all that the lock in %j names", async (folder) => {
  const { "": _, ...packages } = await lockIn(...folder);
  // What is in the file of another is hashed with that.
  const without = Object.entries(packages).filter(([, { integrity, inBundle }]) => !integrity && inBundle !== true);
  expect(without.map(([path]) => path)).toEqual([]);
});

it.each([
  [[], "where the certificates come from"],
  [["--slots", "s[3-1].ropeway.example"], "names no host"],
  [["--slots", "a.ropeway.example;reboot"], "no name"],
  [["--slots", " "], "names no host"],
  [["--nonsense"], "there is no --nonsense"],
])("says of %j what it lacks, and writes no settings", async (args, why) => {
  const { install, read } = await installer();
  await expect(install(...args)).rejects.toThrow(why);
  await expect(read("host.env")).rejects.toThrow("ENOENT");
});
