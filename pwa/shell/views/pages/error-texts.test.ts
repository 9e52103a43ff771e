import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../../../shared/errors.ts";
import { errorSentences } from "./error-texts.ts";
import { errorSmallPrint, errorText, mayHelpPast, retryLabel } from "./error-view.tsx";

const url = "https://www.example.com:8443/page";

/** What a person can meet and do something about; every other code is a fault of ours and gets the general text. */
const OWN_TEXT = [
  "NAME_NOT_RESOLVED",
  "CONNECTION_REFUSED",
  "CONNECTION_RESET",
  "TLS_FAILED",
  "UPSTREAM_TIMEOUT",
  "UPSTREAM_FAILED",
  "EDGE_OFFLINE",
  "NO_PAGE",
  "NOT_HTTP",
  "LINK_LOST",
  "KEY_NOT_ACCEPTED",
  "NO_SLOT_HOST",
  "NO_FREE_HOST",
  "OFFLINE",
  "UNSUPPORTED_SCHEME",
  "DESTINATION_FORBIDDEN",
  "TOO_MANY_REDIRECTS",
  "VERSION_NOT_SUPPORTED",
  "BODY_NOT_REPLAYABLE",
] as const;

describe("errorText", () => {
  it.each(Object.entries(ErrorCode))("%s has a heading and sentences", (_name, code) => {
    const { heading } = errorText({ code });
    const text = errorSentences({ code, url });
    expect(heading).toMatch(/^[A-Z].*[^.]$/);
    expect(text).toMatch(/\.$/);
    expect(text).not.toMatch(/[{}]/);
  });

  it("has a text of its own for everything that a person can meet", () => {
    const codes = [...OWN_TEXT.map((name) => ErrorCode[name]), ErrorCode.INTERNAL_ERROR];
    for (const textOf of [
      (code: number) => errorText({ code }).heading,
      (code: number) => errorSentences({ code, url }),
    ])
      expect(new Set(codes.map(textOf)).size).toBe(OWN_TEXT.length + 1);
  });

  it("names the host, and replaces it literally", () => {
    expect(errorSentences({ code: ErrorCode.NAME_NOT_RESOLVED, url })).toContain("“example.com:8443”");
    expect(errorSentences({ code: ErrorCode.NAME_NOT_RESOLVED, url: "x:$&" })).toContain("“x:$&”");
  });

  it("offers the key only where a key helps, and names the option that allows private networks", () => {
    const offers = Object.entries(ErrorCode).filter(([, code]) => errorText({ code }).asksForKey);
    expect(offers.map(([name]) => name)).toEqual(["KEY_NOT_ACCEPTED"]);
    expect(errorSentences({ code: ErrorCode.DESTINATION_FORBIDDEN, url })).toContain("ROPEWAY_ALLOW_PRIVATE=1");
  });

  it("answers for codes of a later version", () => {
    expect(errorText({ code: 0x7fff }).heading).toBe("The page could not be loaded");
    expect(errorSmallPrint({ code: 0x7fff, detail: "" })).toBe("UNKNOWN_0x7fff");
  });
});

it("offers to try again where that can help, and where a form was sent to look there", () => {
  const offersOf = (label: string | null) =>
    Object.entries(ErrorCode).flatMap(([name, code]) => (retryLabel(code) === label ? [name] : []));
  const hopeless = ["DESTINATION_FORBIDDEN", "KEY_NOT_ACCEPTED", "NO_SLOT_HOST", "UNSUPPORTED_SCHEME"];
  expect(offersOf(null).sort()).toEqual(["BODY_NOT_REPLAYABLE", ...hopeless]);
  expect(offersOf("Look there").sort()).toEqual(["ALREADY_SENT", "OUTCOME_UNKNOWN"]);
  expect(offersOf("Try again")).toContain("LINK_LOST");
});

describe("errorSmallPrint", () => {
  it("is the code's name and the detail", () => {
    const error = { code: ErrorCode.TLS_FAILED, detail: "Cannot connect: expired" };
    expect(errorSmallPrint(error)).toBe("TLS_FAILED: Cannot connect: expired");
  });
});

it("offers the browser itself, but where a key is wanted, a certificate is bad, or there is no network", () => {
  const refused = Object.entries(ErrorCode).filter(([, code]) => !mayHelpPast({ code, url }));
  expect(refused.map(([name]) => name).sort()).toEqual(["KEY_NOT_ACCEPTED", "OFFLINE", "TLS_FAILED"]);
  expect(mayHelpPast({ code: ErrorCode.UNSUPPORTED_SCHEME, url: "mailto:someone@example.com" })).toBe(false);
});
