import { beforeAll, describe, expect, it } from "vitest";
import { readImageFacts, scansOf } from "../../../shared/web/image-facts.ts";
import { exif, jpegOf, photograph, pngOf, withSegment } from "./testing/pictures.ts";

const icc = (name: string) => Buffer.from(`ICC_PROFILE\0\x01\x01${name}`, "latin1");

describe("readImageFacts", () => {
  let jpeg: Uint8Array<ArrayBuffer>;
  let png: Uint8Array<ArrayBuffer>;
  beforeAll(async () => {
    jpeg = await jpegOf(photograph(60, 40));
    png = await pngOf(photograph(60, 40));
  });

  it("tells type and size", () => {
    expect(readImageFacts(jpeg)).toEqual({ type: "jpeg", width: 60, height: 40, isPlain: true });
    expect(readImageFacts(png)).toEqual({ type: "png", width: 60, height: 40, isPlain: true });
    const gif = Buffer.from("GIF89a\x3c\0\x28\0\0\0\0", "latin1");
    expect(readImageFacts(gif)).toEqual({ type: "gif", width: 60, height: 40, isPlain: false });
    const webp = Buffer.from("RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x3b\0\0\x27\0\0", "latin1");
    expect(readImageFacts(webp)).toEqual({ type: "webp", width: 60, height: 40, isPlain: false });
  });

  it("turns the size as EXIF says", () => {
    for (const orientation of [1, 2, 3, 4]) {
      const facts = readImageFacts(withSegment(jpeg, 0xffe1, exif(orientation)));
      expect(facts).toMatchObject({ width: 60, height: 40, isPlain: true });
    }
    for (const orientation of [5, 6, 7, 8]) {
      const facts = readImageFacts(withSegment(jpeg, 0xffe1, exif(orientation)));
      expect(facts).toMatchObject({ width: 40, height: 60, isPlain: true });
    }
  });

  it("knows what has colours or motion of its own", () => {
    expect(readImageFacts(withSegment(jpeg, 0xffe2, icc("Display P3")))?.isPlain).toBe(false);
    expect(readImageFacts(withSegment(jpeg, 0xffe2, icc("sRGB IEC61966-2.1")))?.isPlain).toBe(true);
    const header = 8 + 25;
    const chunk = (name: string) => Buffer.from(`\0\0\0\x04${name}\0\0\0\x01\0\0\0\0`, "latin1");
    for (const name of ["acTL", "cICP", "gAMA", "eXIf"]) {
      const changed = Buffer.concat([png.subarray(0, header), chunk(name), png.subarray(header)]);
      expect(readImageFacts(changed)?.isPlain).toBe(false);
    }
  });

  it("finds no other frame than a decoder does", () => {
    const other = Buffer.from("ffc0000b080064006401011100", "hex");
    const hide = (...bytes: number[]) =>
      new Uint8Array(Buffer.concat([jpeg.subarray(0, 2), Buffer.from(bytes), other, jpeg.subarray(2)]));
    // Markers without a length, which decoders pass over, and ones that end a picture or are reserved.
    for (const marker of [0x00, 0x01, 0xd0, 0xd7, 0xd8, 0xd9, 0xda, 0xdc, 0xc3, 0xc9, 0xf0]) {
      expect(readImageFacts(hide(0xff, marker, 0x00, 0x0f))).toBeNull();
    }
    expect(readImageFacts(hide(0xff, 0xe0, 0x00, 0x01))).toBeNull();
    const filled = new Uint8Array(
      Buffer.concat([jpeg.subarray(0, 2), Buffer.from([0xff, 0xff, 0xff]), jpeg.subarray(2)]),
    );
    expect(readImageFacts(filled)).toMatchObject({ width: 60, height: 40 });
    expect(
      readImageFacts(Buffer.concat([png.subarray(0, 8), Buffer.from("\0\0\0\x0dtEXt"), png.subarray(16)])),
    ).toBeNull();
  });

  it("counts the scans of a JPEG", () => {
    const scans = scansOf(jpeg);
    expect(scans).toBeGreaterThan(1);
    expect(scans).toBeLessThanOrEqual(12);
    expect(scansOf(new Uint8Array([...jpeg, 0xff, 0xda, 0x00, 0xff, 0xff, 0xda]))).toBe(scans + 2);
  });

  it("says nothing of what is cut off, or something else", () => {
    expect(readImageFacts(jpeg.subarray(0, 20))).toBeNull();
    expect(readImageFacts(png.subarray(0, 20))).toBeNull();
    expect(readImageFacts(new Uint8Array())).toBeNull();
    expect(readImageFacts(Buffer.from("<!doctype html><p>No picture"))).toBeNull();
    for (let length = 0; length < 400; length++) readImageFacts(jpeg.subarray(0, length));
  });
});
