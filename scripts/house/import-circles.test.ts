import { spawnSync } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { root } from "../build/paths.ts";

let project = "";
let reported = "";

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "ropeway-lint-"));
  spawnSync("git", ["init", "--quiet"], { cwd: project });
  await copyFile(join(root, "biome.json"), join(project, "biome.json"));
  await copyFile(join(root, ".gitignore"), join(project, ".gitignore"));
  const files = {
    "first.ts": 'import { second } from "./second.ts";\n\nexport const first = () => second;\n',
    "second.ts": 'import { first } from "./first.ts";\n\nexport const second = () => first;\n',
    "port.ts": 'import type { Ship } from "./ship.ts";\n\nexport type Port = Ship[];\n',
    "ship.ts": 'import type { Port } from "./port.ts";\n\nexport type Ship = Port | undefined;\n',
    "above.ts": 'import type { Ship } from "./ship.ts";\n\nexport type Above = Ship;\n',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text);
  const args = ["lint", "--only=suspicious/noImportCycles", "--max-diagnostics=none", "--reporter=github"];
  reported = spawnSync(join(root, "node_modules", ".bin", "biome"), args, { cwd: project, encoding: "utf8" }).stdout;
});

afterAll(() => rm(project, { recursive: true, force: true }));

it.each(["first.ts", "second.ts", "port.ts", "ship.ts"])("%s, in a circle of imports, is a fault", (file) => {
  expect(reported).toContain(file);
});

it("what only imports from a circle is none", () => {
  expect(reported).not.toContain("above.ts");
});
