import { describe, expect, it } from "vitest";
import { loadFloor } from "./floor.ts";

describe("loadFloor", () => {
  it("is a round trip and the bytes at the link's rate", () => {
    expect(loadFloor({ delay: 300, down: 0, loss: 0 }, 1e6)).toBe(600);
    // 1,448 bytes of content to a packet of 1,500 bytes, 1,000 packets: 12 Mbit.
    expect(loadFloor({ delay: 0, down: 12_000, loss: 0 }, 1_448_000)).toBe(1000);
    expect(loadFloor({ delay: 0, down: 12_000, loss: 50 }, 1_448_000)).toBe(2000);
  });
});
