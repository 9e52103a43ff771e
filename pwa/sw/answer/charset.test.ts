import { describe, expect, it } from "vitest";
import { sniffCharset } from "./document.ts";

const bytes = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

describe("sniffCharset", () => {
  it.each([
    ["a byte order mark before anything else", "text/html; charset=iso-8859-1", "\xef\xbb\xbfx", "utf-8"],
    ["big-endian UTF-16 by its mark", "", "\xfe\xff\0x", "utf-16be"],
    ["little-endian UTF-16 by its mark", "", "\xff\xfex\0", "utf-16le"],
    ["the field before the document", 'text/html;charset="koi8-r"', "<meta charset=utf-8>", "koi8-r"],
    ["a declaration in the document", "text/html", "<!doctype html><meta charset='Shift_JIS'>", "shift_jis"],
    ["the older form of declaration", "", '<meta http-equiv=content-type content="text/html; charset=big5">', "big5"],
    ["no UTF-16 that was read as ASCII", "", "<meta charset=utf-16>", "utf-8"],
    ["UTF-8 where bytes say so", "text/html", "\xc3\xa4", "utf-8"],
    ["UTF-8 of which a chunk cut the last character", "text/html", "a\xe2\x82", "utf-8"],
    ["Windows-1252 for other bytes", "text/html", "\xe4\x20", "windows-1252"],
    ["nothing that a label unknown to it says", "text/html; charset=klingon", "\xe4\x20", "windows-1252"],
  ])("takes %s", (_what, contentType, start, charset) => {
    expect(sniffCharset(contentType, bytes(start))).toBe(charset);
  });

  it("looks no further than a browser does", () => {
    expect(sniffCharset("", bytes(`${" ".repeat(1100)}<meta charset=koi8-r>`))).toBe("utf-8");
  });
});
