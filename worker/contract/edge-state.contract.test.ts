/** What an edge does and says where its state cannot be read, or nothing more can be stored. */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startEdge } from "../../scripts/edge-process.ts";
import { DEVICES_PATH, offeredProtocols, PAIR_PATH, TUNNEL_PATH } from "../../shared/subprotocol.ts";
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

const isMetadata = (name: string): boolean => name.includes("metadata");

/** Files of each kind below the directory of a workerd's state. */
const STATE_FILES = {
  metadata: isMetadata,
  "a phone's": (name: string) => name.includes("TunnelObject") && !isMetadata(name),
  "the list of devices": (name: string) => name.includes("DirectoryObject") && !isMetadata(name),
} as const;

it.each(Object.keys(STATE_FILES) as (keyof typeof STATE_FILES)[])(
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
      const damaged = files.filter(STATE_FILES[which]);
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
      const ask = () =>
        which === "a phone's"
          ? askEdge(again.url, TUNNEL_PATH, { headers: handshake(token) })
          : askEdge(again.url, PAIR_PATH, { method: "POST", headers: { authorization: `Bearer ${accessKey}` } });
      const { status, text } = await ask();
      if (which === "the list of devices") {
        const { status: ofList } = await askEdge(again.url, DEVICES_PATH, {
          headers: { authorization: `Bearer ${token}` },
        });
        expect(ofList).toBe(503);
        // Whoever is paired stays so.
        (await openTunnelSocket(again.url, token, "websocket")).close();
      }
      await again.close();
      expect({ status, text }).toEqual({ status: 503, text: expect.stringContaining("its log names the file") });
      const said = new Set(log.filter((line) => line.includes(file)));
      expect([...said]).toEqual([expect.stringContaining("move it away")]);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
);

function handshake(token: string): Record<string, string> {
  return {
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    "sec-websocket-protocol": offeredProtocols(token, null).join(", "),
  };
}

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
