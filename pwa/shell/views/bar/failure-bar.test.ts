import { expect, it } from "vitest";
import { ErrorCode } from "../../../../shared/errors.ts";
import { failureText } from "./bar.tsx";

it("says what did not open, why, and what follows", () => {
  const error = { code: ErrorCode.LINK_LOST, url: "https://www.example.com/page", method: "GET", detail: "" };
  expect(failureText(error, "with the link")).toBe(
    "example.com did not open. Your edge cannot be reached. It opens as soon as the link is back.",
  );
  expect(failureText({ ...error, code: ErrorCode.UPSTREAM_TIMEOUT }, "soon")).toBe(
    "example.com did not open. The site took too long. Ropeway will try again soon.",
  );
  expect(failureText({ ...error, code: ErrorCode.NAME_NOT_RESOLVED }, "not")).toBe(
    "example.com did not open. No site with this name.",
  );
});
