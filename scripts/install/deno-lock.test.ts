import { readFileSync } from "node:fs";
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
