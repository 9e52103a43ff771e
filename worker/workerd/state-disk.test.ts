import { describe, expect, it, vi } from "vitest";
import { RESERVE_FILE, StateDisk } from "./state-disk.ts";

/** A disk of so many bytes, as workerd's service shows it. */
function diskOf(size: number, files = new Map<string, number>()) {
  const used = (): number => [...files.values()].reduce((sum, length) => sum + length, 0);
  const disk = new StateDisk({
    STATE_DISK: {
      async fetch(url, { method, body }) {
        const name = new URL(url).pathname.slice(1);
        if (method === "DELETE") return { ok: files.delete(name) };
        const length = body?.byteLength ?? 0;
        if (used() + length > size) throw new Error("Network connection lost.");
        files.set(name, length);
        return { ok: true };
      },
    },
  });
  return { disk, files };
}

describe("StateDisk", () => {
  it("finds room, and leaves it as it was", async () => {
    const { disk, files } = diskOf(1e6);
    expect(await disk.hasRoom()).toBe(true);
    await disk.requireRoom();
    expect(files.size).toBe(0);
  });

  it("says that a disk is full, and what to do", async () => {
    const { disk } = diskOf(1e6, new Map([["film", 1e6 - 10]]));
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const advice = "the disk of the edge is full; free some room there";
    for (let time = 0; time < 3; time++) await expect(disk.requireRoom()).rejects.toThrow(advice);
    expect(log.mock.calls).toEqual([[expect.stringContaining(advice)]]);
    log.mockRestore();
  });

  it("has none for a long value where others would find some", async () => {
    const { disk } = diskOf(1e6);
    expect([await disk.hasRoom(), await disk.hasRoom(1000), await disk.hasRoom(500_000)]).toEqual([true, true, false]);
  });

  it("gives the reserve once", async () => {
    const { disk } = diskOf(1e6, new Map([[RESERVE_FILE, 1e6]]));
    expect(await disk.hasRoom()).toBe(false);
    expect([await disk.releaseReserve(), await disk.hasRoom(), await disk.releaseReserve()]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("has room where there is no disk to ask", async () => {
    const disk = new StateDisk({});
    expect([await disk.hasRoom(), await disk.releaseReserve()]).toEqual([true, false]);
  });
});
