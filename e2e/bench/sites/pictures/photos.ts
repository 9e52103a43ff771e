import jpeg from "jpeg-js";
import { seededRandom, seedOf } from "../../../demo/random.ts";
import { packageFile } from "../package-content.ts";
import { pictureOfSize } from "./picture-size.ts";
import { type Area, type Pixels, resize } from "./pixels.ts";

/** Photographs that the pictures of all generated sites are cut from. */
const SOURCES = [
  ...[1, 2, 3, 4, 5, 6].map((number) => `startbootstrap-agency/dist/assets/img/portfolio/${number}.jpg`),
  ...[1, 2, 3].map((number) => `startbootstrap-agency/dist/assets/img/team/${number}.jpg`),
  ...["macos-sierra", "macos-sierra-2", "osx-el-capitan", "osx-el-capitan-2", "osx-yosemite", "osx-yosemite-2"].map(
    (name) => `spectre.css/docs/img/${name}.jpg`,
  ),
];

const decoded = new Map<string, Promise<Pixels>>();

/** A part of one of the photographs, chosen by name: as wide as it is high times `aspect`. */
export async function photoArea(
  name: string,
  aspect: number,
): Promise<{ readonly source: Pixels; readonly area: Area }> {
  const random = seededRandom(seedOf(name));
  const source = await decode(SOURCES[Math.floor(random() * SOURCES.length)] ?? "");
  const largest = Math.min(source.width, source.height * aspect);
  const width = largest * (0.6 + 0.4 * random());
  const height = width / aspect;
  const left = random() * (source.width - width);
  const top = random() * (source.height - height);
  return { source, area: { left, top, width, height } };
}

/** A photograph chosen by name, `width` pixels wide. */
export async function photoPixels(name: string, width: number, aspect: number): Promise<Pixels> {
  const { source, area } = await photoArea(name, aspect);
  return resize(source, area, width, Math.round(width / aspect));
}

export interface PhotoShape {
  /** Width over height. */
  readonly aspect: number;
  /** 1 to 100, as in libjpeg. */
  readonly quality: number;
}

/** A photograph as JPEG of this many bytes or a little less, as wide as that allows. */
export async function photoOfSize(
  name: string,
  bytes: number,
  { aspect, quality }: PhotoShape = { aspect: 1.5, quality: 70 },
): Promise<Buffer> {
  return pictureOfSize(`jpeg ${name} ${aspect} ${quality}`, bytes, async (width) =>
    encodeJpeg(await photoPixels(name, width, aspect), quality),
  );
}

function encodeJpeg(pixels: Pixels, quality: number): Buffer {
  return jpeg.encode(pixels, quality).data;
}

function decode(path: string): Promise<Pixels> {
  const known = decoded.get(path);
  if (known !== undefined) return known;
  const pixels = packageFile(path).then((file) => jpeg.decode(file, { useTArray: true }));
  decoded.set(path, pixels);
  return pixels;
}
