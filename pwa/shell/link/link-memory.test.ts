import { describe, expect, it } from "vitest";
import { MapStorage } from "../testing/map-storage.ts";
import { LinkMemory } from "./remembered.ts";

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

  it("does not count how long a network was away", () => {
    expect(afterOpening(300, 9_000).lastOpening).toBe(300);
    expect(afterOpening(3_600_000).lastOpening).toBeNull();
  });
});
