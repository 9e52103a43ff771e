import { expect, it } from "vitest";
import { ErrorCode } from "../../../../shared/errors.ts";
import german from "../../../languages/de.json" with { type: "json" };
import { SOURCE, speak } from "../../app/language.ts";
import { failureText, noticeText } from "./bar.tsx";

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

it.each([
  [
    "not-cleared",
    "Cannot forget a.example: some of it is still there. Try again when the link is back",
    /^Ein Teil .+ erneut/,
  ],
  ["not-cleared", "Cannot forget a.example: some of it is still there: your edge answers 503", /^Ein Teil .+ 503$/],
  ["not-cleared", "Cannot delete all downloads: some files are still there. Try again", /^Einige Dateien/],
  ["wrong-key", "Cannot pair: too many devices are paired; unpair one first", /^Zu viele Geräte/],
  ["wrong-key", null, /^Falscher Schlüssel/],
] as const)("says of %s in the person's language why: %s", (kind, why, said) => {
  const html = { lang: "", dir: "" };
  speak({ ...SOURCE, code: "de", locale: "de", catalogue: german }, html);
  const text = noticeText({ kind, why } as Parameters<typeof noticeText>[0]);
  speak(SOURCE, html);
  expect(text).toMatch(said);
});
