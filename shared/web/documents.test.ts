import { describe, expect, it } from "vitest";
import { byteStringToBytes, bytesToByteString } from "../base-encodings.ts";
import { DocumentBytes, writtenEncoding } from "./documents.ts";

const latin = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));

/** Through it, in pieces of so many bytes. */
function passed(encoding: string | null, bytes: Uint8Array, piece = 1): { texts: string; out: Buffer } {
  const document = new DocumentBytes(encoding, false);
  let texts = "";
  const out: Uint8Array[] = [];
  for (let at = 0; at <= bytes.length; at += piece) {
    const text = document.read(at < bytes.length ? bytes.subarray(at, at + piece) : undefined);
    texts += text;
    out.push(document.write(text));
  }
  if (bytes.length % piece !== 0) {
    const text = document.read(undefined);
    texts += text;
    out.push(document.write(text));
  }
  return { texts, out: Buffer.concat(out) };
}

const ALL = Uint8Array.from({ length: 1024 }, (_, index) => (index * 7 + (index >> 3)) & 0xff);

describe("DocumentBytes", () => {
  it.each([
    null,
    "windows-1251",
    "koi8-r",
    "shift_jis",
    "euc-jp",
    "gbk",
    "gb18030",
    "big5",
    "euc-kr",
    "x-user-defined",
  ])("gives every byte back as it was (%s)", (encoding) => {
    for (const piece of [1, 7, 1024]) expect(passed(encoding, ALL, piece).out).toEqual(Buffer.from(ALL));
  });

  it("keeps characters of UTF-8 whole however they are cut, and its mark", () => {
    const bytes = Buffer.from("\ufeff<p>Grüße 😀</p>");
    for (const piece of [1, 2, 5]) expect(passed("windows-1251", bytes, piece).out).toEqual(bytes);
    const document = new DocumentBytes("utf-8", false);
    document.read(Buffer.from("<p>"));
    expect(Buffer.concat([document.write("a\ud83d"), document.write("\ude00")]).toString()).toBe("a😀");
  });

  it.each([
    ["utf-16le", Buffer.from("<p>ü</p>", "utf16le"), "<p>ü</p>"],
    ["utf-16be", Buffer.from("<p>ü</p>", "utf16le").swap16(), "<p>ü</p>"],
    ["iso-2022-jp", latin("<p>\x1b$BF|K\\8l\x1b(B</p>"), "<p>日本語</p>"],
  ])("makes %s UTF-8, and marks it", (encoding, bytes, text) => {
    expect(passed(encoding, bytes).out.toString()).toBe(`\ufeff${text}`);
    expect(writtenEncoding(encoding)).toBe("utf-8");
  });

  it("believes a byte order mark before anything else", () => {
    expect(passed("koi8-r", Buffer.from("\ufeffü", "utf16le")).out.toString()).toBe("\ufeffü");
  });

  it("has no mark within the page of a plain text", () => {
    const document = new DocumentBytes("utf-8", true);
    expect(document.read(Buffer.from("\ufefftext"))).toBe("text");
  });

  it.each([
    ["shift_jis", "\x83\x5d]\x95\x5c\\", "]\\"],
    ["gbk", "\x81\x5d]\x81\x7e", "]"],
    ["gb18030", "\x81\x30\x81\x30]\x81\x5d", "00]"],
    ["big5", "\xa4\x5d]", "]"],
    ["euc-kr", "\x81\x5a]", "]"],
    ["euc-jp", "\xa4\xa2]", "]"],
    ["windows-1251", "\x83\x5d]", "]]"],
  ])("tells bytes of ASCII from those of longer characters (%s)", (encoding, written, ascii) => {
    for (const piece of [1, 2, 16]) {
      const { texts } = passed(encoding, latin(written), piece);
      expect(texts.replace(/[^\0-\x7f]/g, "")).toBe(ascii);
    }
  });
});

describe("values of its attributes", () => {
  const valuesOf = (encoding: string | null) => {
    const document = new DocumentBytes(encoding, false);
    const read = (text: string) => document.read(latin(text));
    return { values: document.values, read };
  };

  it.each([
    ["windows-1251", "/\xcf?\xcf#\xcf", "/П?%CF#П"],
    ["shift_jis", "/\x95\x5c?\x95\x5c=1 2x", "/表?%95\\=1 2x"],
    [null, "/\xe4?\xe4", "/ä?%E4"],
  ])("are characters, and bytes in queries of addresses (%s)", (encoding, written, expected) => {
    const { values, read } = valuesOf(encoding);
    expect(values.decodeAddress(read(written))).toBe(expected);
  });

  it("are characters alone in markup", () => {
    const { values, read } = valuesOf("windows-1251");
    expect(values.decode(read("a?\xcf"))).toBe("a?П");
  });

  it("are written in what the document has", () => {
    const { values, read } = valuesOf("windows-1251");
    read("<p>");
    expect(values.encode("a П😀")).toBe("a &#1055;&#128512;");
    const unicode = valuesOf("utf-8");
    unicode.read("<p>");
    expect(unicode.values.encode("П")).toBe("П");
  });
});

it("makes a character of a byte, and a byte of it", () => {
  expect(byteStringToBytes(bytesToByteString(ALL))).toEqual(ALL);
});
