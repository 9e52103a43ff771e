import { crc32, deflateSync } from "node:zlib";
import { seededRandom } from "./random.ts";

export interface PalettePicture {
  readonly width: number;
  readonly height: number;
  /** Up to 256 colours as 0xRRGGBB. */
  readonly palette: readonly number[];
  /** One palette index for each pixel, row by row. */
  readonly pixels: Uint8Array;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const CHUNK_OVERHEAD = 12;
const COMMENT_KEYWORD = Buffer.from("Comment\0", "latin1");

/**
 * Encodes a palette picture as PNG (RFC 2083).
 *
 * @param exactBytes pads the file with a tEXt chunk to this size in bytes.
 * @throws RangeError when the picture needs more than `exactBytes`.
 */
export function encodePng(picture: PalettePicture, exactBytes?: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(picture.width, 0);
  header.writeUInt32BE(picture.height, 4);
  header[8] = 8;
  header[9] = 3;

  const palette = Buffer.alloc(picture.palette.length * 3);
  picture.palette.forEach((colour, index) => {
    palette.writeUIntBE(colour, index * 3, 3);
  });

  const rows = Buffer.alloc((picture.width + 1) * picture.height);
  for (let row = 0; row < picture.height; row++) {
    rows.set(picture.pixels.subarray(row * picture.width, (row + 1) * picture.width), row * (picture.width + 1) + 1);
  }

  const before = Buffer.concat([SIGNATURE, chunk("IHDR", header), chunk("PLTE", palette)]);
  const after = Buffer.concat([chunk("IDAT", deflateSync(rows, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
  if (exactBytes === undefined) return Buffer.concat([before, after]);

  const padding = exactBytes - before.length - after.length - CHUNK_OVERHEAD - COMMENT_KEYWORD.length;
  if (padding < 0) throw new RangeError(`Cannot encode PNG in ${exactBytes} bytes: it needs ${-padding} more`);
  const comment = Buffer.concat([COMMENT_KEYWORD, incompressibleText(padding, exactBytes + picture.pixels.length)]);
  return Buffer.concat([before, chunk("tEXt", comment), after]);
}

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

function incompressibleText(length: number, seed: number): Buffer {
  const random = seededRandom(seed);
  return Buffer.from(Array.from({ length }, () => 33 + Math.floor(random() * 94)));
}
