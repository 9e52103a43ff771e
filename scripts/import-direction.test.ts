import { spawnSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "./build/paths.ts";

/** A file in a directory of the project, and what it tries to import. */
type Import = readonly [directory: string, specifier: string];

const forbidden: readonly Import[] = [
  ["shared", "../worker/front/router.ts"],
  ["shared/http", "../../pwa/slot/page-messages.ts"],
  ["shared/http", "../../e2e/lab/shaper.ts"],
  ["shared/mux", "../../worker/front/router.ts"],
  ["shared/mux", "../http/heads.ts"],
  ["shared/mux", "../content/store.ts"],
  ["shared/wire", "../../pwa/tunnel/link.ts"],
  ["shared/wire", "../mux/session.ts"],
  ["shared/wire", "../content/store.ts"],
  ["shared/wire/hpack", "../../http/heads.ts"],
  ["worker", "../pwa/shell/shell.ts"],
  ["worker/upstream", "../../e2e/lab/shaper.ts"],
  ["worker", "../scripts/edge-process.ts"],
  ["pwa/tunnel", "../../worker/front/router.ts"],
  ["pwa/shell/views", "../../../e2e/lab/shaper.ts"],
  ["e2e/specs", "../../shared/errors.ts"],
  ["e2e/fixtures", "../../worker/front/router.ts"],
  ["e2e/fixtures", "../../pwa/shell/shell.ts"],
];

const allowed: readonly Import[] = [
  ["shared/mux", "../wire/frame.ts"],
  ["shared/http", "../mux/session.ts"],
  ["shared/wire/hpack", "../../errors.ts"],
  ["worker/upstream", "../../shared/http/heads.ts"],
  ["pwa/tunnel", "../../shared/transport.ts"],
  ["e2e/fixtures", "../../scripts/edge-process.ts"],
  ["scripts", "../worker/front/router.ts"],
];

const fileOf = ([directory]: Import, index: number): string => `${directory}/case-${index}.ts`;

describe("import direction", () => {
  let project = "";
  let reported = "";

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), "ropeway-lint-"));
    spawnSync("git", ["init", "--quiet"], { cwd: project });
    await copyFile(join(root, "biome.json"), join(project, "biome.json"));
    await copyFile(join(root, ".gitignore"), join(project, ".gitignore"));
    for (const [index, each] of [...forbidden, ...allowed].entries()) {
      const file = join(project, fileOf(each, index));
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, `import { thing } from "${each[1]}";\n\nexport const other = thing;\n`);
    }
    const biome = join(root, "node_modules", ".bin", "biome");
    const args = ["lint", "--only=style/noRestrictedImports", "--max-diagnostics=none", "--reporter=github"];
    reported = spawnSync(biome, args, { cwd: project, encoding: "utf8" }).stdout;
  });

  afterAll(() => rm(project, { recursive: true, force: true }));

  it.each(forbidden.map((each, index) => [...each, fileOf(each, index)]))("%s does not import %s", (_, __, file) => {
    expect(reported).toContain(file);
  });

  it.each(allowed.map((each, index) => [...each, fileOf(each, forbidden.length + index)]))(
    "%s may import %s",
    (_, __, file) => {
      expect(reported).not.toContain(file);
    },
  );
});
