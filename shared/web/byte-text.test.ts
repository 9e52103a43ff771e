import { expect, it } from "vitest";
import { decodeByteString } from "./origin.ts";

const bytesOf = (text: string) => Buffer.from(text).toString("latin1");

it.each([
  ["UTF-8", bytesOf("ü界"), "ü界"],
  ["ASCII", "plain", "plain"],
  ["a byte order mark", bytesOf("\ufeffx"), "\ufeffx"],
  ["what is no UTF-8", "caf\u00e9", "caf\u00e9"],
  ["text", "界", "界"],
  ["text among bytes", `${bytesOf("ü")}界`, `${bytesOf("ü")}界`],
])("reads %s", (_what, given, expected) => {
  expect(decodeByteString(given)).toBe(expected);
});
