import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { root } from "./paths.ts";

it("needs no package that only tests and checks install: `npm start` of a new clone has none of those", async () => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["scripts/build.ts", "scripts/serve.ts"],
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    outdir: "out",
    write: false,
    metafile: true,
  });
  const packages = Object.values(metafile.inputs)
    .flatMap(({ imports }) => imports)
    .filter(({ path, external }) => external === true && !path.startsWith("node:"))
    .map(({ path }) => path.split("/", path.startsWith("@") ? 2 : 1).join("/"));
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(packages).toContain("esbuild");
  expect(packages.filter((name) => !(name in dependencies))).toEqual([]);
});
