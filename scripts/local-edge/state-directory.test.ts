import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RESERVE_FILE } from "../../worker/workerd/state-disk.ts";
import { adviceOnState, prepareStateDirectory } from "./state-directory.ts";

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

  it("has advice where workerd ended for its state, and none elsewhere", async () => {
    await writeFile(join(directory, "metadata.sqlite"), "");
    const damaged = await adviceOnState("file is not a database: SQLITE_NOTADB", directory);
    expect(damaged).toContain(`cannot read ${join(directory, "metadata.sqlite")} (SQLITE_NOTADB); move that away`);
    expect(await adviceOnState("database or disk is full: SQLITE_FULL", directory)).toContain("free some room");
    expect(await adviceOnState("bad flag", directory)).toBeNull();
  });
});
