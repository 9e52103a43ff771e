import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ErrorCode } from "../errors.ts";
import { responseHead } from "../testing/http/exchange-rig.ts";
import { requestHead } from "../testing/http/request-heads.ts";
import type { EncodableField } from "../wire/frame.ts";
import { fieldsToRequest, fieldsToResponse, requestToFields, responseToFields } from "./head-fields.ts";
import type { HeaderList } from "./heads.ts";

const bare = (fields: readonly EncodableField[]): HeaderList => fields.map(([name, value]) => [name, value]);
const withPseudo = (fields: HeaderList, name: string, value: string): HeaderList => [[name, value], ...fields];

const range = fc
  .tuple(fc.nat(), fc.nat(), fc.nat())
  .map(([first, length, rest]) => ({ first, last: first + length, total: first + length + rest + 1 }));
const validator = fc.constantFrom('"abc"', "Sat, 21 Nov 2026 03:00:00 GMT", '""');

describe("what is said of a request's delivery", () => {
  it("arrives as it was sent", () => {
    const delivery = fc
      .record({
        id: fc.constantFrom("AAAAAAAAAAA", "Zz_-0123456", null),
        isRepeat: fc.boolean(),
        continuation: fc.option(fc.tuple(range, validator).map(([extent, value]) => ({ ...extent, validator: value }))),
      })
      .filter(({ id, isRepeat, continuation }) => (id === null ? !isRepeat && continuation !== null : true));
    fc.assert(
      fc.property(delivery, (said) => {
        // All else that a head may have as a field of its own comes behind names with a colon.
        const rest = {
          referrer: "https://a.example/page",
          referrerPolicy: "same-origin",
          learned: "[]",
          stored: { hash: "a".repeat(22), size: 1 },
          allowsTrackers: true,
          pushes: 1,
          cache: "no-store",
          isUnasked: true,
          isScriptless: true,
          marksReads: true,
        } as const;
        for (const head of [requestHead, { ...requestHead, ...rest }])
          expect(fieldsToRequest(bare(requestToFields({ ...head, delivery: said })))).toEqual({
            ...head,
            delivery: said,
          });
      }),
    );
  });

  it("costs nothing where there is nothing to say", () => {
    const delivery = { id: null, isRepeat: false, continuation: null };
    expect(requestToFields({ ...requestHead, delivery })).toEqual(requestToFields(requestHead));
    expect(fieldsToRequest(bare(requestToFields(requestHead)))).not.toHaveProperty("delivery");
  });

  it.each([
    [":request-id", ""],
    [":request-id", "short"],
    [":request-id", "AAAAAAAAAAA twice"],
    [":request-id", "AAAAAAAAAA/"],
    [":continue", '5-4/10 "a"'],
    [":continue", '0-10/10 "a"'],
    [":continue", "0-9/10"],
    [":continue", '-9/10 "a"'],
    [":continue", '9999999999999999-9999999999999999/99999999999999999 "a"'],
  ])("is refused when it is %s: %s", (name, value) => {
    expect(() => fieldsToRequest(withPseudo(bare(requestToFields(requestHead)), name, value))).toThrow(
      expect.objectContaining({ code: ErrorCode.PROTOCOL_ERROR, scope: "stream" }),
    );
  });
});

describe("how a response's body goes on", () => {
  it("arrives as it was sent", () => {
    const resumption = fc.record({ range: fc.option(range), validator });
    fc.assert(
      fc.property(resumption, fc.boolean(), (said, continues) => {
        const head = { ...responseHead, resumption: said, ...(continues ? { continues } : {}) };
        expect(fieldsToResponse(bare(responseToFields(head)), head.url)).toEqual(head);
      }),
    );
  });

  it.each(["", "*", '5 "a"', '3-2/9 "a"', '0-9/9 "a"'])("is refused when it is “%s”", (value) => {
    expect(() => fieldsToResponse(withPseudo(bare(responseToFields(responseHead)), ":resume", value), "")).toThrow(
      expect.objectContaining({ code: ErrorCode.PROTOCOL_ERROR, scope: "stream" }),
    );
  });
});
