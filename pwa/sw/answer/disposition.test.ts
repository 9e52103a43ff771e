import { expect, it } from "vitest";
import { asAttachment } from "./navigation.ts";

it.each([
  ["", "", "attachment"],
  ["inline", "", "attachment"],
  ["", "a b.html", "attachment; filename*=UTF-8''a%20b.html"],
  ["", "it's (1).pdf", "attachment; filename*=UTF-8''it%27s%20%281%29.pdf"],
  ['inline; filename="invoice.pdf"', "", 'attachment; filename="invoice.pdf"'],
  ['attachment; filename="invoice.pdf"', "other.pdf", 'attachment; filename="invoice.pdf"'],
  ["INLINE ;FileName*=UTF-8''%c3%a4.pdf", "", "attachment;FileName*=UTF-8''%c3%a4.pdf"],
  [
    'attachment; filename="gr\xc3\xbc\\"\xe2\x98\x83.txt"',
    "x",
    "attachment; filename*=UTF-8''gr%C3%BC%22%E2%98%83.txt",
  ],
  ["attachment; filename=\xe2\x98\x83.txt; size=3", "", "attachment; filename*=UTF-8''%E2%98%83.txt"],
  ['attachment; filename="gr\xfcn.txt"', "", "attachment"],
  ['attachment; filename="\xc4\xe3\xba\xc3.txt"', "a.txt", "attachment; filename*=UTF-8''a.txt"],
  [
    "attachment; filename=\"\xfc\"; filename*=UTF-8''%c3%bc",
    "",
    "attachment; filename=\"\xfc\"; filename*=UTF-8''%c3%bc",
  ],
  ["attachment; size=3", "a.pdf", "attachment; filename*=UTF-8''a.pdf"],
])("saves %j, by the link %j, as %j", (field, name, expected) => {
  expect(asAttachment(field, name)).toBe(expected);
});
