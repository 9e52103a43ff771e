import { expect, it } from "vitest";
import { ErrorCode } from "../../../shared/errors.ts";
import { pauseAfter, tryingAgain } from "./navigation.ts";

it.each([
  ["LINK_LOST", "with the link"],
  ["OFFLINE", "with the link"],
  ["CONNECTION_REFUSED", "soon"],
  // The site may still be at the work that it was asked for.
  ["UPSTREAM_TIMEOUT", "not"],
  ["EDGE_OFFLINE", "soon"],
  ["NAME_NOT_RESOLVED", "not"],
  ["TLS_FAILED", "not"],
  ["UNSUPPORTED_SCHEME", "not"],
] as const)("%s is tried again: %s", (name, how) => {
  expect(tryingAgain({ code: ErrorCode[name], method: "GET" }, 0)).toBe(how);
  for (const method of ["POST", null]) expect(tryingAgain({ code: ErrorCode[name], method }, 0)).toBe("not");
});

it("tries less and less often, and for five minutes", () => {
  const error = { code: ErrorCode.CONNECTION_RESET, method: "GET" };
  const pauses: number[] = [];
  for (let attempts = 0; tryingAgain(error, attempts) === "soon"; attempts++) pauses.push(pauseAfter(attempts) / 1000);
  expect(pauses).toEqual([5, 10, 20, 40, 80, 160]);
});
