import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../build/paths.ts";

interface DenoLock {
  readonly specifiers: Readonly<Record<string, string>>;
  readonly npm: Readonly<Record<string, { readonly integrity?: string }>>;
}

interface PackageLock {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}

const read = <Content>(file: string): Content => JSON.parse(readFileSync(join(root, file), "utf8"));
const lock = read<DenoLock>("deno.lock");

it("Deno's lock has the packages that npm's has, in the same versions (npx deno install --lockfile-only)", () => {
  const { dependencies, devDependencies } = read<Record<string, Record<string, string>>>("package.json");
  const { packages } = read<PackageLock>("package-lock.json");
  const wanted = Object.keys({ ...dependencies, ...devDependencies }).map((name) => [
    name,
    packages[`node_modules/${name}`]?.version,
  ]);
  // Of what a package is resolved beside, its version tells more behind a "_".
  const locked = Object.entries(lock.specifiers).map(([specifier, version]) => [
    specifier.slice("npm:".length, specifier.lastIndexOf("@")),
    version.split("_")[0],
  ]);
  expect(Object.fromEntries(locked)).toEqual(Object.fromEntries(wanted));
});

it("Deno's lock has the hash of each package, and none of another registry", () => {
  expect(Object.keys(lock)).toEqual(["version", "specifiers", "npm", "workspace"]);
  for (const [name, { integrity }] of Object.entries(lock.npm)) expect(integrity, name).toMatch(/^sha512-/);
});

it("Deno's tasks run what npm's scripts of their names do, and Deno's own commands", () => {
  const { scripts } = read<{ scripts: Record<string, string> }>("package.json");
  const { tasks } = read<{ tasks: Record<string, { command: string }> }>("deno.json");
  const ran = Object.entries(tasks).map(([name, { command }]) => {
    const [, run = ""] = /^sh -c 'exec (.+)'$/.exec(command) ?? [];
    for (const file of run.match(/\S+\.\w+/g) ?? []) expect(existsSync(join(root, file)), file).toBe(true);
    return [name, run];
  });
  const npms = (name: string) => scripts[name]?.replace(/^exec /, "") ?? "";
  expect(Object.fromEntries(ran)).toEqual({
    start: `${npms("start")} --deno`,
    build: npms("build"),
    test: npms("test"),
    deploy: "deno deploy --prod",
    check: "deno check worker/deno/entry-deno.ts",
  });
});
