import { expect, it } from "vitest";
import {
  acceptToFields,
  fieldsToAccept,
  ownAccept,
  withDefaultAccept,
  withoutDefaultAccept,
} from "../http/phone-fields.ts";

const FIREFOX = "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5";
const [[, CHROMIUM] = ["", ""]] = withDefaultAccept([], "image");

it("is said where it is not Chromium's, and added where it was not said", () => {
  expect(withoutDefaultAccept([["accept", CHROMIUM]], "image")).toEqual([]);
  const own = [["accept", FIREFOX]] as const;
  expect(withoutDefaultAccept(own, "image")).toEqual(own);
  expect(withDefaultAccept(own, "image")).toEqual(own);
  expect(withDefaultAccept([], "")).toEqual([]);
});

it("is a browser's own where it is not Chromium's, once all of it was seen", () => {
  const seen = new Map([
    ["font", "*/*"],
    ["image", FIREFOX],
    ["script", "*/*"],
  ]);
  expect(ownAccept(seen)).toBeNull();
  expect(ownAccept(seen.set("style", "text/css,*/*;q=0.1"))).toEqual({ image: FIREFOX });
  expect(ownAccept(seen.set("image", CHROMIUM))).toEqual({});
});

it("is announced by the phone, and holds for what the edge pushes", () => {
  const own = { font: "application/font-woff2;q=1.0", image: FIREFOX };
  const fields = acceptToFields(own);
  expect(fields).toEqual([
    ["accept-font", "application/font-woff2;q=1.0"],
    ["accept-image", FIREFOX],
  ]);
  const read = fieldsToAccept([["user-agent", "x"], ...fields]);
  expect(withDefaultAccept([], "image", read)).toEqual([["accept", FIREFOX]]);
  expect(withDefaultAccept([], "style", read)).toEqual([["accept", "text/css,*/*;q=0.1"]]);
  expect(acceptToFields({})).toEqual([]);
});

it.each([
  ["empty", ""],
  ["long", "a".repeat(257)],
  ["more than a line", "a\r\nb: c"],
  ["not ASCII", "é"],
])("that is %s counts as unsaid", (_, value) => {
  expect(
    fieldsToAccept([
      ["accept-image", value],
      ["accept-document", "a"],
    ]),
  ).toEqual({});
});
