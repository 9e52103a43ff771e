/** What an edge does and says where its state cannot be read, or nothing more can be stored. */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startEdge } from "../../scripts/edge-process.ts";
import { offeredProtocols, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { askEdge } from "../testing/contract.ts";
import { missingForSealing, runSealed } from "../testing/sealed-network.ts";
import { openTunnelSocket, pairPhone } from "../testing/test-phone.ts";

/** Two edges one after the other, which takes its time on a busy machine. */
const patience = { timeout: 90_000 };

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

it.each(["metadata", "a phone's"])(
  "an edge on workerd names a damaged file of its state: %s",
  patience,
  async (which) => {
    const directory = await mkdtemp(join(tmpdir(), "ropeway-state-"));
    const log: string[] = [];
    const options = { runtime: "workerd", port: 0, stateDirectory: directory } as const;
    try {
      const edge = await startEdge(options);
      const { accessKey } = edge;
      const token = await pairPhone(edge.url, accessKey);
      (await openTunnelSocket(edge.url, token, "websocket")).close();
      await edge.close();
      const files = (await readdir(directory, { recursive: true })).filter((name) => name.includes(".sqlite"));
      const isMetadata = (name: string): boolean => name.includes("metadata");
      const damaged = files.filter((name) =>
        which === "metadata" ? isMetadata(name) : name.includes("TunnelObject") && !isMetadata(name),
      );
      for (const name of damaged) await writeFile(join(directory, name), "no database".repeat(1_000));
      const file = join(directory, damaged.find((name) => name.endsWith(".sqlite")) ?? "");

      const start = startEdge({ ...options, accessKey, log: (line) => log.push(line) });
      if (which === "metadata") {
        const { message } = (await start.catch((error: unknown) => error)) as Error;
        expect(message).toMatch(/^Cannot start the edge: it cannot read .* \(SQLITE_NOTADB\); move that away/);
        for (const name of damaged.filter((each) => each.endsWith(".sqlite")))
          expect(message).toContain(join(directory, name));
        return;
      }
      const again = await start;
      const { status, text } = await askEdge(again.url, TUNNEL_PATH, {
        headers: {
          connection: "upgrade",
          upgrade: "websocket",
          "sec-websocket-version": "13",
          "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
          "sec-websocket-protocol": offeredProtocols(token, null).join(", "),
        },
      });
      await again.close();
      expect({ status, text }).toEqual({ status: 503, text: expect.stringContaining("its log names the file") });
      const said = log.filter((line) => line.includes(file));
      expect(said).toEqual([expect.stringContaining("move it away")]);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
);

const missing = await missingForSealing();
if (missing !== null) console.error(`Without the test of a full disk: it needs ${missing}`);

it.runIf(missing === null)("an edge on workerd goes on where its disk is full", patience, async () => {
  const directory = await mkdtemp(join(tmpdir(), "ropeway-state-"));
  try {
    const { answers, post, answersOfNew, isFullStored, closed, log } = (await runSealed(
      join(import.meta.dirname, "../testing/full-disk.sealed.ts"),
      directory,
    )) as Readonly<Record<string, unknown>>;
    expect(answers).toEqual([
      "",
      "before",
      "before; full",
      "before; full; other",
      "before; full; other; later",
      "before; full; other; later; last",
    ]);
    expect(isFullStored).toBe(false);
    expect(closed).toEqual([null, null, null, null]);
    expect(post).toContain("the disk of the edge is full; free some room");
    expect(answersOfNew).toEqual(["", "a"]);
    expect(log).toContainEqual(expect.stringContaining("the disk of the edge is full; free some room"));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
