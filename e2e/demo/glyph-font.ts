import { deflateSync } from "node:zlib";

type Point = readonly [x: number, y: number];
type Contour = readonly Point[];

const UNITS_PER_EM = 1000;

/** Code points of the icons in the font, in Unicode's private use area. */
export const GLYPHS = {
  search: 0xe001,
  moon: 0xe002,
  comment: 0xe003,
  feed: 0xe004,
  forward: 0xe005,
} as const;

const OUTLINES: readonly (readonly Contour[])[] = [
  [
    circle(420, 420, 330),
    hole(420, 420, 230),
    [
      [600, 270],
      [670, 340],
      [940, 70],
      [870, 0],
    ],
  ],
  [[...arc(500, 400, 400, 60, 300), ...arc(640, 400, 310, 270, 90)]],
  [
    [
      [80, 760],
      [920, 760],
      [920, 200],
      [480, 200],
      [260, 0],
      [260, 200],
      [80, 200],
    ],
  ],
  [circle(190, 110, 110), band(80, 0, 380, 520), band(80, 0, 680, 820)],
  [
    [
      [120, 440],
      [620, 440],
      [430, 640],
      [540, 740],
      [880, 380],
      [540, 20],
      [430, 120],
      [620, 320],
      [120, 320],
    ],
  ],
];

/**
 * An icon font made here, as WOFF 1.0: a header and zlib-packed TrueType tables.
 *
 * @param width of each icon, in thousandths of the font's size.
 */
export function glyphFont(width = UNITS_PER_EM): Buffer {
  const tables = trueTypeTables(width);
  const directory = Buffer.alloc(tables.length * 20);
  const bodies: Buffer[] = [];
  let offset = 44 + directory.length;
  let unpackedSize = 12 + tables.length * 16;
  tables.forEach(([tag, data], index) => {
    const packed = deflateSync(data);
    const stored = packed.length < data.length ? packed : data;
    directory.write(tag, index * 20, "latin1");
    directory.writeUInt32BE(offset, index * 20 + 4);
    directory.writeUInt32BE(stored.length, index * 20 + 8);
    directory.writeUInt32BE(data.length, index * 20 + 12);
    directory.writeUInt32BE(checksum(data), index * 20 + 16);
    bodies.push(padded(stored));
    offset += padded(stored).length;
    unpackedSize += padded(data).length;
  });
  const header = Buffer.alloc(44);
  header.write("wOFF", 0, "latin1");
  header.writeUInt32BE(0x00010000, 4);
  header.writeUInt32BE(offset, 8);
  header.writeUInt16BE(tables.length, 12);
  header.writeUInt32BE(unpackedSize, 16);
  header.writeUInt16BE(1, 20);
  return Buffer.concat([header, directory, ...bodies]);
}

/** The tables a browser insists on, sorted by tag (OpenType 1.9, chapter "Font file"). */
function trueTypeTables(width: number): [tag: string, data: Buffer][] {
  const glyphs = [[], ...OUTLINES].map((contours) => padded(glyphData(contours)));
  const locations = Buffer.alloc((glyphs.length + 1) * 4);
  let end = 0;
  glyphs.forEach((glyph, index) => {
    end += glyph.length;
    locations.writeUInt32BE(end, (index + 1) * 4);
  });
  const points = [...OUTLINES].map((contours) => contours.reduce((sum, contour) => sum + contour.length, 0));
  const count = glyphs.length;
  return [
    ["OS/2", os2Table()],
    ["cmap", characterMap(count)],
    ["glyf", Buffer.concat(glyphs)],
    [
      "head",
      u16(1, 0, 1, 0, 0, 0, 0x5f0f, 0x3cf5, 3, UNITS_PER_EM, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1000, 1000, 0, 8, 2, 1, 0),
    ],
    ["hhea", u16(1, 0, 800, 0xff38, 0, 1000, 0, 0, 1000, 1, 0, 0, 0, 0, 0, 0, 0, count)],
    ["hmtx", u16(...glyphs.flatMap(() => [width, 0]))],
    ["loca", locations],
    ["maxp", u16(1, 0, count, Math.max(...points), 3, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0)],
    ["name", nameTable("Harbour Glyphs")],
    ["post", u16(3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)],
  ];
}

function glyphData(contours: readonly Contour[]): Buffer {
  if (contours.length === 0) return Buffer.alloc(0);
  const points = contours.flat();
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  let last = -1;
  const ends = contours.map((contour) => {
    last += contour.length;
    return last;
  });
  const deltas = (values: number[]): number[] => values.map((value, index) => value - (values[index - 1] ?? 0));
  return Buffer.concat([
    u16(contours.length, Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys), ...ends, 0),
    Buffer.alloc(points.length, 1),
    u16(...deltas(xs), ...deltas(ys)),
  ]);
}

function characterMap(glyphCount: number): Buffer {
  const codes = Object.values(GLYPHS);
  const first = Math.min(...codes);
  const last = first + glyphCount - 2;
  const segments = [4, 32, 0, 4, 4, 1, 0, last, 0xffff, 0, first, 0xffff, 1 - first, 1, 0, 0];
  return u16(0, 1, 3, 1, 0, 12, ...segments);
}

function os2Table(): Buffer {
  const classes = Buffer.alloc(10);
  return Buffer.concat([
    u16(4, 1000, 400, 5, 0, 650, 600, 0, 75, 650, 600, 0, 350, 50, 300, 0),
    classes,
    u16(0, 0, 0, 0, 0, 0, 0, 0),
    Buffer.from("ROPE", "latin1"),
    u16(0x40, 0xe001, 0xe005, 800, 0xff38, 0, 1000, 200, 0, 0, 0, 0, 500, 700, 0, 0, 0),
  ]);
}

function nameTable(family: string): Buffer {
  const texts = [family, "Regular", family, family, "Version 1.0", family.replaceAll(" ", "")];
  const encoded = texts.map((text) => Buffer.from(text, "utf16le").swap16());
  let offset = 0;
  const records = encoded.flatMap((text, index) => {
    const record = [3, 1, 0x409, index + 1, text.length, offset];
    offset += text.length;
    return record;
  });
  return Buffer.concat([u16(0, texts.length, 6 + texts.length * 12, ...records), ...encoded]);
}

function u16(...values: number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 2);
  values.forEach((value, index) => {
    buffer.writeUInt16BE(Math.round(value) & 0xffff, index * 2);
  });
  return buffer;
}

function padded(data: Buffer): Buffer {
  return Buffer.concat([data, Buffer.alloc((4 - (data.length % 4)) % 4)]);
}

function checksum(data: Buffer): number {
  const whole = padded(data);
  let sum = 0;
  for (let offset = 0; offset < whole.length; offset += 4) sum = (sum + whole.readUInt32BE(offset)) >>> 0;
  return sum;
}

/** Clockwise, which TrueType fills. */
function arc(x: number, y: number, radius: number, from: number, to: number): Point[] {
  const steps = 20;
  return Array.from({ length: steps + 1 }, (_, step): Point => {
    const angle = ((from + ((to - from) * step) / steps) * Math.PI) / 180;
    return [Math.round(x + radius * Math.cos(angle)), Math.round(y + radius * Math.sin(angle))];
  });
}

function circle(x: number, y: number, radius: number): Point[] {
  return arc(x, y, radius, 360, 18);
}

function hole(x: number, y: number, radius: number): Point[] {
  return arc(x, y, radius, 0, 342);
}

function band(x: number, y: number, inner: number, outer: number): Point[] {
  return [...arc(x, y, outer, 90, 0), ...arc(x, y, inner, 0, 90)];
}
