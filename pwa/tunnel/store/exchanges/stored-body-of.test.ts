import { describe, expect, it } from "vitest";
import { bodyName } from "../../../../shared/http/phone-fields.ts";
import { requestHead } from "../../../../shared/testing/http/request-heads.ts";
import { storedBodyOf } from "./named-bodies.ts";
import type { Variant } from "./stored-exchange.ts";

const HASH = "ab".repeat(32);
const head = { ...requestHead, method: "GET", url: "https://a.example/x", origin: "https://a.example" };
const decode = () => ({ write: async () => {}, end() {}, cancel() {} });
const offered = { isOffered: true, decoderFor: () => decode };
const unoffered = { isOffered: false, decoderFor: () => decode };

function variant(size: number, meta: object = {}): Variant {
  const stored = { status: 200, headers: [], ...meta };
  return { entry: { meta: stored, body: { hash: HASH, size } } } as unknown as Variant;
}

describe("the body that a request names", () => {
  it("is that which may come again, or may be a dictionary", () => {
    expect(storedBodyOf(head, variant(5000), null)).toEqual(bodyName(HASH, 5000));
    expect(storedBodyOf(head, variant(5000), offered)).toEqual({ ...bodyName(HASH, 5000), decode });
  });

  it("may be coded against though nothing was offered when it was named: the request may be sent later", () => {
    expect(storedBodyOf(head, variant(5000), unoffered)).toEqual({ ...bodyName(HASH, 5000), decode });
    expect(storedBodyOf(head, variant(5000, { wasOther: true }), unoffered)).toBeNull();
  });

  it("is a dictionary only, where another came the last time", () => {
    expect(storedBodyOf(head, variant(5000, { wasOther: true }), null)).toBeNull();
    expect(storedBodyOf(head, variant(5000, { wasOther: true }), offered)).toEqual({ ...bodyName(HASH, 0), decode });
  });

  it("is none that is too short or too long, or where a part is asked for", () => {
    expect(storedBodyOf(head, variant(255), offered)).toBeNull();
    expect(storedBodyOf(head, variant(1024 * 1024 + 1), offered)).toBeNull();
    expect(storedBodyOf({ ...head, headers: [["range", "bytes=0-1"]] }, variant(5000), offered)).toBeNull();
  });
});
