import { GifWriter } from "omggif";
import { hslToRgb } from "../../../demo/colour.ts";
import { seededRandom, seedOf } from "../../../demo/random.ts";
import { photoPixels } from "./photos.ts";
import { pictureOfSize } from "./picture-size.ts";
import type { Pixels } from "./pixels.ts";

/** A photograph as GIF of this many bytes or a little less. */
export async function photoGifOfSize(name: string, bytes: number, aspect = 1.5): Promise<Buffer> {
  const colours = bytes < 900 ? 8 : bytes < 3000 ? 16 : 64;
  return pictureOfSize(`gif ${name} ${aspect}`, bytes, async (width) =>
    encodeGif([await photoPixels(name, width, aspect)], colours),
  );
}

/** A button, bar or bullet with a gradient and a rounded edge, as GIF of this many bytes or a little less. */
export async function ornamentOfSize(name: string, bytes: number, aspect = 3): Promise<Buffer> {
  const random = seededRandom(seedOf(name));
  const hue = random() * 360;
  const slant = random();
  const edge = 0.08 + random() * 0.12;
  const colours = bytes < 600 ? 8 : 32;
  return pictureOfSize(`ornament ${name} ${aspect}`, bytes, async (width) => {
    const height = Math.max(3, Math.round(width / aspect));
    const grain = seededRandom(seedOf(name) + 1);
    const data = new Uint8Array(width * height * 4);
    for (let index = 0; index < width * height; index++) {
      const x = ((index % width) + 0.5) / width;
      const y = (Math.floor(index / width) + 0.5) / height;
      const rim = Math.min(x * aspect, (1 - x) * aspect, y, 1 - y) < edge;
      const light = (rim ? 0.32 : 0.5 + 0.3 * (slant * x + (1 - slant) * (1 - y))) + (grain() - 0.5) * 0.03;
      const colour = hslToRgb(hue, 0.6, light);
      data.set([colour >> 16, (colour >> 8) & 255, colour & 255, 255], index * 4);
    }
    return encodeGif([{ width, height, data }], colours);
  });
}

/**
 * Encodes pictures of one size as GIF, more than one as a film that repeats.
 *
 * @param colours a power of two from 2 to 256, for each picture its own.
 */
export function encodeGif(frames: readonly Pixels[], colours: number): Buffer {
  const [first] = frames;
  if (!first) throw new RangeError("Cannot encode a GIF: it needs at least one picture");
  const { width, height } = first;
  const file = Buffer.alloc(1024 + frames.length * (1024 + width * height * 2));
  const writer = new GifWriter(file, width, height, frames.length > 1 ? { loop: 0 } : {});
  for (const frame of frames) {
    const palette = medianCut(frame, colours);
    writer.addFrame(0, 0, width, height, nearestColours(frame, palette), { palette, delay: 12 });
  }
  return Buffer.from(file.subarray(0, writer.end()));
}

/** A colour of a picture, to 5 bits a channel, with the sum of the pixels that have it. */
interface ColourCount {
  pixels: number;
  readonly sums: [number, number, number];
}

/** Palette by median cut (Heckbert 1982): boxes of colours are halved across their longest side. */
function medianCut({ data }: Pixels, colours: number): readonly number[] {
  const boxes = [colourCounts(data)];
  while (boxes.length < colours) {
    let widest = { index: -1, channel: 0, length: 0 };
    for (const [index, box] of boxes.entries()) {
      const side = longestSide(box);
      if (side.length > widest.length) widest = { index, ...side };
    }
    const box = boxes[widest.index];
    if (!box) break;
    const sorted = box.toSorted((left, right) => mean(left, widest.channel) - mean(right, widest.channel));
    const half = sorted.reduce((sum, { pixels }) => sum + pixels, 0) / 2;
    let middle = 0;
    for (let pixels = 0; pixels < half && middle < sorted.length - 1; middle++) pixels += sorted[middle]?.pixels ?? 0;
    boxes.splice(widest.index, 1, sorted.slice(0, middle), sorted.slice(middle));
  }
  const palette = boxes.map((box) => {
    const pixels = box.reduce((sum, colour) => sum + colour.pixels, 0);
    const channel = (index: number): number =>
      Math.round(box.reduce((sum, colour) => sum + (colour.sums[index] ?? 0), 0) / pixels);
    return (channel(0) << 16) | (channel(1) << 8) | channel(2);
  });
  return [...palette, ...Array.from({ length: colours - palette.length }, () => 0)];
}

function colourCounts(data: Uint8Array): readonly ColourCount[] {
  const counts = new Map<number, ColourCount>();
  for (let offset = 0; offset < data.length; offset += 4) {
    const red = data[offset] ?? 0;
    const green = data[offset + 1] ?? 0;
    const blue = data[offset + 2] ?? 0;
    const key = ((red >> 3) << 10) | ((green >> 3) << 5) | (blue >> 3);
    let count = counts.get(key);
    if (!count) {
      count = { pixels: 0, sums: [0, 0, 0] };
      counts.set(key, count);
    }
    count.pixels++;
    count.sums[0] += red;
    count.sums[1] += green;
    count.sums[2] += blue;
  }
  return [...counts.values()];
}

function mean({ pixels, sums }: ColourCount, channel: number): number {
  return (sums[channel] ?? 0) / pixels;
}

function longestSide(box: readonly ColourCount[]): { readonly channel: number; readonly length: number } {
  let longest = { channel: 0, length: 0 };
  for (let channel = 0; channel < 3; channel++) {
    let low = 255;
    let high = 0;
    for (const colour of box) {
      const value = mean(colour, channel);
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (box.length > 1 && high - low > longest.length) longest = { channel, length: high - low };
  }
  return longest;
}

function nearestColours({ data }: Pixels, palette: readonly number[]): Uint8Array {
  const known = new Map<number, number>();
  return Uint8Array.from({ length: data.length / 4 }, (_, index) => {
    const red = data[index * 4] ?? 0;
    const green = data[index * 4 + 1] ?? 0;
    const blue = data[index * 4 + 2] ?? 0;
    const colour = (red << 16) | (green << 8) | blue;
    const seen = known.get(colour);
    if (seen !== undefined) return seen;
    const nearest = nearestColour(red, green, blue, palette);
    known.set(colour, nearest);
    return nearest;
  });
}

function nearestColour(red: number, green: number, blue: number, palette: readonly number[]): number {
  let nearest = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let index = 0; index < palette.length; index++) {
    const colour = palette[index] ?? 0;
    const distance = (red - (colour >> 16)) ** 2 + (green - ((colour >> 8) & 255)) ** 2 + (blue - (colour & 255)) ** 2;
    if (distance < least) {
      least = distance;
      nearest = index;
    }
  }
  return nearest;
}
