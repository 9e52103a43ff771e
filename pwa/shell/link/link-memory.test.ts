import { afterEach, describe, expect, it, vi } from "vitest";
import { MapStorage } from "../testing/map-storage.ts";
import { fetchConfig, LinkMemory, mayFly, storedConfig } from "./remembered.ts";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function afterOpening(...times: number[]): LinkMemory {
  const storage = new MapStorage();
  const memory = new LinkMemory(storage);
  for (const time of times) memory.opened(time);
  return new LinkMemory(storage);
}

describe("LinkMemory", () => {
  it("knows nothing at first", () => {
    expect(afterOpening().lastOpening).toBeNull();
    expect(afterOpening().isSlow).toBe(false);
  });

  it("tells the next start how long the link took to open, and whether that is slow", () => {
    expect(afterOpening(420.4).lastOpening).toBe(420);
    expect(afterOpening(420).isSlow).toBe(false);
    expect(afterOpening(7_300).isSlow).toBe(true);
  });

  it("lets first frames fly where the edge takes them once, its host speaks HTTP/2 or 3, and the link is not slow", () => {
    const flies = (config: unknown, opening = 400) => {
      const storage = new MapStorage();
      if (config !== undefined) storage.setItem("ropeway.config", JSON.stringify(config));
      storage.setItem("ropeway.link-opening", String(opening));
      return mayFly(storage);
    };
    for (const hop of ["h3", "h2"]) expect(flies({ takesLinksOnce: true, hop })).toBe(true);
    // An edge of before, whose host may speak all of them.
    expect(flies({ hop: "h3" })).toBe(false);
    expect(flies({ takesLinksOnce: true })).toBe(false);
    expect(flies({ takesLinksOnce: true, hop: "http/1.1" })).toBe(false);
    expect(flies({ takesLinksOnce: true, hop: "h3" }, 7_300)).toBe(false);
    expect(flies(undefined)).toBe(false);
  });

  it("takes no error of the edge for its config", async () => {
    const storage = new MapStorage();
    vi.stubGlobal("fetch", async () => Response.json({ error: "Cannot start" }, { status: 500 }));
    await expect(fetchConfig(storage)).rejects.toThrow("500");
    expect(storedConfig(storage)).toBeNull();
  });

  it("remembers how the edge's host spoke when it was asked last", async () => {
    const storage = new MapStorage();
    vi.stubGlobal("fetch", async () => Response.json({ slotHost: null, takesLinksOnce: true }));
    const timings = [{ nextHopProtocol: "h2" }, { nextHopProtocol: "h3" }];
    const named = vi.spyOn(performance, "getEntriesByName").mockReturnValue(timings as unknown as PerformanceEntry[]);
    await fetchConfig(storage);
    expect([storedConfig(storage)?.hop, mayFly(storage)]).toEqual(["h3", true]);
    named.mockReturnValue([]);
    await fetchConfig(storage);
    expect([storedConfig(storage)?.hop, mayFly(storage)]).toEqual([undefined, false]);
  });

  it("does not count how long a network was away", () => {
    expect(afterOpening(300, 9_000).lastOpening).toBe(300);
    expect(afterOpening(3_600_000).lastOpening).toBeNull();
  });
});
