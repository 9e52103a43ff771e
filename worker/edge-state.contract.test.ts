/** What an edge says of state that it cannot read. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startEdge } from "../scripts/edge-process.ts";

it("an edge on Deno names a damaged file of its state, and says what to do", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ropeway-state-"));
  try {
    const file = join(directory, "deno.kv");
    await writeFile(file, "no database".repeat(1_000));
    const log: string[] = [];
    const start = startEdge({ runtime: "deno", port: 0, stateDirectory: directory, log: (line) => log.push(line) });
    await expect(start).rejects.toThrow(`Cannot open ${file}`);
    const said = log.filter((line) => line.includes(file));
    expect(said).toEqual([expect.stringContaining("move it away")]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
