import { describe, expect, it } from "vitest";
import { clientHeader, relativeOverhead, ropewayOverhead, serverHeader } from "./frame-overhead.ts";
import { COUNTED_PIECE, COUNTED_STREAM, countMessageBytes } from "./message-bytes.ts";

/** Around each size at which a header grows. */
const PAYLOADS = [
  1, 10, 63, 64, 118, 120, 121, 122, 125, 126, 1_000, 16_383, 16_384, 32_767, 32_768, 32_769, 65_535, 65_536, 1_000_000,
];

describe("bytes per message on the wire", () => {
  it("are the payload for TCP", async () => {
    expect(await countMessageBytes("tcp", PAYLOADS)).toEqual(
      PAYLOADS.map((payload) => ({ payload, up: payload, down: payload })),
    );
  });

  it("are the payload with H_C and H_S for WebSocket", async () => {
    expect(await countMessageBytes("websocket", PAYLOADS)).toEqual(
      PAYLOADS.map((payload) => ({
        payload,
        up: payload + clientHeader(payload),
        down: payload + serverHeader(payload),
      })),
    );
  });

  it("are the payload with its frames' headers and H_C and H_S for Ropeway", async () => {
    const options = { streamId: COUNTED_STREAM, piece: COUNTED_PIECE };
    expect(await countMessageBytes("ropeway", PAYLOADS)).toEqual(
      PAYLOADS.map((payload) => ({
        payload,
        up: payload + ropewayOverhead(payload, { ...options, masked: true }),
        down: payload + ropewayOverhead(payload, { ...options, masked: false }),
      })),
    );
  });
});

describe("the paper's analytic values", () => {
  it("are 2, 4, 10, and 4 more from the client", () => {
    expect([1, 125, 126, 65_535, 65_536].map(serverHeader)).toEqual([2, 2, 4, 4, 10]);
    expect([1, 125, 126, 65_535, 65_536].map(clientHeader)).toEqual([6, 6, 8, 8, 14]);
  });

  it("are under 1% above 1 kB, also for Ropeway", () => {
    for (const payload of [1_001, 5_000, 70_000, 1_000_000]) {
      const ropeway = ropewayOverhead(payload, { streamId: COUNTED_STREAM, piece: COUNTED_PIECE, masked: false });
      expect(relativeOverhead(serverHeader(payload), payload)).toBeLessThan(1);
      expect(relativeOverhead(ropeway, payload)).toBeLessThan(1);
    }
  });
});
