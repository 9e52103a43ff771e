import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ErrorCode } from "./errors.ts";
import * as limits from "./limits.ts";
import { offeredProtocols, parseOffer, SUBPROTOCOL } from "./subprotocol.ts";

describe("the offer of a handshake", () => {
  it("comes out as it went in, made of tokens only", () => {
    const bytes = fc.option(fc.uint8Array({ maxLength: limits.openingBytes, size: "max" }));
    fc.assert(
      fc.property(bytes, fc.constantFrom(", ", ","), (opening, separator) => {
        const protocols = offeredProtocols("device.signature", opening);
        for (const protocol of protocols) expect(protocol).toMatch(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/);
        expect(parseOffer(protocols.join(separator))).toEqual({
          speaksVersion: true,
          token: "device.signature",
          opening,
        });
      }),
    );
  });

  it("fits into 4 KiB with a token", () => {
    const token = "x".repeat(22 + 1 + 43);
    const field = offeredProtocols(token, new Uint8Array(limits.openingBytes)).join(", ");
    expect(`Sec-WebSocket-Protocol: ${field}\r\n`.length).toBeLessThanOrEqual(4096);
  });

  it("need not have anything", () => {
    expect(parseOffer("")).toEqual({ speaksVersion: false, token: "", opening: null });
    expect(parseOffer(`chat, ${SUBPROTOCOL}`)).toEqual({ speaksVersion: true, token: "", opening: null });
  });

  it.each(["a", "a+b/", "ab==", "a b", "A".repeat(limits.openingBytes * 2)])("refuses the opening “%s”", (opening) => {
    expect(() => parseOffer(`ropeway.opening.${opening}`)).toThrow(
      expect.objectContaining({ code: ErrorCode.PROTOCOL_ERROR, scope: "session" }),
    );
  });
});
