import { chmod, lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RESERVE_FILE } from "../../worker/workerd/state-disk.ts";
import { openStateRoot } from "./access-key.ts";
import { adviceOnState, makePrivate, prepareStateDirectory } from "./state-directory.ts";

describe("the directory of the state", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "ropeway-state-"));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it("keeps a reserve, made anew only where it is gone or cut", async () => {
    const reserve = join(directory, "new", RESERVE_FILE);
    await prepareStateDirectory(join(directory, "new"));
    const first = await readFile(reserve);
    await prepareStateDirectory(join(directory, "new"));
    expect((await readFile(reserve)).equals(first)).toBe(true);
    await writeFile(reserve, "cut");
    await prepareStateDirectory(join(directory, "new"));
    expect((await readFile(reserve)).length).toBe(first.length);
  });

  /** What others may do with it. */
  const modeOf = async (...names: readonly string[]) =>
    ((await lstat(join(directory, ...names))).mode & 0o777).toString(8);

  it("is closed to other accounts, with all that is in it, and no link is followed", async () => {
    const elsewhere = join(directory, "elsewhere");
    const state = join(directory, "state");
    await mkdir(join(state, "objects"), { recursive: true, mode: 0o755 });
    await writeFile(elsewhere, "");
    await chmod(elsewhere, 0o644);
    await writeFile(join(state, "objects", "cookies"), "", { mode: 0o644 });
    await symlink(elsewhere, join(state, "link"));
    await makePrivate(state);
    expect(await modeOf("state")).toBe("700");
    expect(await modeOf("state", "objects")).toBe("700");
    expect(await modeOf("state", "objects", "cookies")).toBe("600");
    expect(await modeOf("elsewhere")).toBe("644");
  });

  it("is in a folder that may have more in it, which stays as it is", async () => {
    await chmod(directory, 0o755);
    await writeFile(join(directory, "access-key"), "key", { mode: 0o644 });
    expect(await openStateRoot(directory)).toBe(join(directory, "state"));
    expect([await modeOf(), await modeOf("access-key")]).toEqual(["700", "600"]);
    await chmod(directory, 0o755);
    await writeFile(join(directory, "program"), "", { mode: 0o755 });
    await openStateRoot(directory);
    expect([await modeOf(), await modeOf("program")]).toEqual(["755", "755"]);
  });

  it("has advice where workerd ended for its state, and none elsewhere", async () => {
    await writeFile(join(directory, "metadata.sqlite"), "");
    const damaged = await adviceOnState("file is not a database: SQLITE_NOTADB", directory);
    expect(damaged).toContain(`cannot read ${join(directory, "metadata.sqlite")} (SQLITE_NOTADB); move that away`);
    expect(await adviceOnState("database or disk is full: SQLITE_FULL", directory)).toContain("free some room");
    expect(await adviceOnState("bad flag", directory)).toBeNull();
  });
});
