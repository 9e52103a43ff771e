/** `npm run package`: ropeway-VERSION.tgz, which runs without the repository: the built app and edge, and `npx ropeway`. */
import { execFileSync } from "node:child_process";
import { chmod, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { appDirectory, dist, root, workerDirectory } from "./build/paths.ts";
import { thirdPartyNotices } from "./build/third-party.ts";
import { buildAll } from "./build.ts";

const directory = join(dist, "package");
/** As deep as scripts/build/paths.ts, which finds the package from there. */
const COMMANDS = "lib/cli";

await buildAll((line) => console.error(line));
await rm(directory, { recursive: true, force: true });
await mkdir(directory, { recursive: true });
await Promise.all([
  cp(appDirectory, join(directory, "dist", "app"), { recursive: true }),
  cp(workerDirectory, join(directory, "dist", "worker"), { recursive: true }),
  ...["LICENSE", "wrangler.toml", "docs/deploy.md", "docs/options.md"].map((file) =>
    cp(join(root, file), join(directory, file)),
  ),
  cp(join(root, "deploy"), join(directory, "deploy"), { recursive: true }),
  cp(join(root, "docs", "package.md"), join(directory, "README.md")),
  thirdPartyNotices().then((text) => writeFile(join(directory, "THIRD-PARTY-LICENSES"), text)),
  buildCommands(),
  writePackage(),
]);
const [packed] = JSON.parse(
  execFileSync("npm", ["pack", directory, "--json", "--pack-destination", root], { encoding: "utf8" }),
) as [{ filename: string; size: number; unpackedSize: number }];
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
console.log(`${packed.filename}: ${megabytes(packed.size)}, ${megabytes(packed.unpackedSize)} unpacked`);

async function buildCommands(): Promise<void> {
  const outdir = join(directory, COMMANDS);
  await build({
    entryPoints: [join(root, "scripts", "ropeway.mjs")],
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22",
    // Only a checkout builds, and only there is an edge on Deno.
    external: ["workerd", "./build/app.ts", "./build/worker.ts", "./build/budgets.ts", "./local-edge/run-deno.ts"],
    banner: { js: "#!/usr/bin/env node" },
  });
  await chmod(join(outdir, "ropeway.js"), 0o755);
}

/** With what running needs, and nothing else. */
async function writePackage(): Promise<void> {
  const own = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Record<string, unknown> & {
    dependencies: Record<string, string>;
  };
  const { name, version, license, description, type, dependencies } = own;
  const contents = {
    ...{ name, version, license, description, type, engines: { node: ">=22" } },
    bin: { ropeway: `${COMMANDS}/ropeway.js` },
    dependencies: { workerd: dependencies.workerd },
  };
  await writeFile(join(directory, "package.json"), `${JSON.stringify(contents, null, 2)}\n`);
}
