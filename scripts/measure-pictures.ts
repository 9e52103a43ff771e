/**
 * `node scripts/measure-pictures.ts`: what balanced pictures cost and look like, for those of the bench's pages of pictures.
 * For each page: bytes of what its origin sends, what the edge sends, and SSIM of the two as a phone shows them. Needs the
 * bench's packages. `--write DIRECTORY` puts pieces of two pictures there, the origin's left, the edge's right.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import createAvifDecoder from "@jsquash/avif/codec/dec/avif_dec.js";
import createWebpDecoder from "@jsquash/webp/codec/dec/webp_dec.js";
import { epochClock } from "../shared/clock.ts";
import { Room } from "../shared/fair-shares.ts";
import { readImageFacts } from "../shared/web/image-facts.ts";
import { ImageRecoder } from "../worker/delivery/images/image-recoder.ts";
import { MOST_WAIT } from "../worker/delivery/images/image-stage.ts";
import { type Pixels, SCREEN_WIDTH, SharedCodecs, WasmCodec } from "../worker/delivery/images/picture-codecs.ts";
import { root } from "./build/paths.ts";

const CODECS = join(root, "node_modules", "@jsquash");
const PACKAGES = join(root, "e2e", "bench", "node_modules");

const agency = "startbootstrap-agency/dist/assets/img";
const PAGES: Readonly<Record<string, readonly string[]>> = {
  agency: [
    ...[1, 2, 3, 4].map((number) => `${agency}/about/${number}.jpg`),
    ...[1, 2, 3, 4, 5, 6].map((number) => `${agency}/portfolio/${number}.jpg`),
    ...[1, 2, 3].map((number) => `${agency}/team/${number}.jpg`),
    `${agency}/header-bg.jpg`,
    `${agency}/map-image.png`,
  ],
  webslides: ["android", "davinci", "iphone-hand", "iphone", "setup"].map(
    (name) => `webslides/static/images/${name}.png`,
  ),
};

/** Pieces that are written: of which picture, and where in it. */
const PIECES = [
  { name: "people", path: `${agency}/team/2.jpg`, left: 120, top: 40 },
  { name: "desk", path: `${agency}/header-bg.jpg`, left: 700, top: 420 },
] as const;
const PIECE = { width: 240, height: 200 };
/** Of WebP: high enough to add nothing that shows. */
const PIECE_QUALITY = 96;

const compile = async (path: string) => new WebAssembly.Module(await readFile(join(CODECS, path)));

type Decoder = { decode(bytes: Uint8Array, ...bitDepth: number[]): Pixels | Promise<Pixels> };
type Create = (options: object) => Promise<Decoder>;

async function openDecoder(create: unknown, path: string): Promise<Decoder> {
  const module = await compile(path);
  return (create as Create)({
    noInitialRun: true,
    instantiateWasm(imports: WebAssembly.Imports, onInstance: (instance: WebAssembly.Instance) => void) {
      const instance = new WebAssembly.Instance(module, imports);
      onInstance(instance);
      return instance.exports;
    },
  });
}

/** Luma, in the size in which a phone shows it at most: never larger than its screen is wide. @param paper what is below. */
function shownLuma(
  { data, width, height }: Pixels,
  paper: number,
): { luma: Float64Array; width: number; height: number } {
  const scale = Math.max(1, width / SCREEN_WIDTH);
  const [toWidth, toHeight] = [Math.floor(width / scale), Math.floor(height / scale)];
  const luma = new Float64Array(toWidth * toHeight);
  const counts = new Float64Array(toWidth * toHeight);
  for (let i = 0; i < width * height; i++) {
    const x = Math.min(toWidth - 1, Math.floor((i % width) / scale));
    const y = Math.min(toHeight - 1, Math.floor(Math.floor(i / width) / scale));
    const alpha = (data[4 * i + 3] ?? 255) / 255;
    const channel = (offset: number) => (data[4 * i + offset] ?? 0) * alpha + paper * (1 - alpha);
    const at = y * toWidth + x;
    luma[at] = (luma[at] ?? 0) + 0.299 * channel(0) + 0.587 * channel(1) + 0.114 * channel(2);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return { luma: luma.map((sum, i) => sum / (counts[i] || 1)), width: toWidth, height: toHeight };
}

/** Wang et al. 2004, over blocks of eight pixels every four. */
function ssim(before: Pixels, after: Pixels, paper: number): number {
  const [a, b] = [shownLuma(before, paper), shownLuma(after, paper)];
  const [c1, c2] = [(0.01 * 255) ** 2, (0.03 * 255) ** 2];
  const [block, step] = [8, 4];
  let [sum, count] = [0, 0];
  for (let top = 0; top + block <= a.height; top += step) {
    for (let left = 0; left + block <= a.width; left += step) {
      let [sa, sb, saa, sbb, sab] = [0, 0, 0, 0, 0];
      for (let y = top; y < top + block; y++) {
        for (let x = left; x < left + block; x++) {
          const [p, q] = [a.luma[y * a.width + x] ?? 0, b.luma[y * a.width + x] ?? 0];
          sa += p;
          sb += q;
          saa += p * p;
          sbb += q * q;
          sab += p * q;
        }
      }
      const n = block * block;
      const [ma, mb] = [sa / n, sb / n];
      const [va, vb, cov] = [saa / n - ma * ma, sbb / n - mb * mb, sab / n - ma * mb];
      sum += ((2 * ma * mb + c1) * (2 * cov + c2)) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
      count += 1;
    }
  }
  return sum / count;
}

function sideBySide(before: Pixels, after: Pixels, { left, top }: { left: number; top: number }): Pixels {
  const width = PIECE.width * 2 + 8;
  const data = new Uint8ClampedArray(width * PIECE.height * 4).fill(255);
  for (const [index, { data: from, width: fromWidth }] of [before, after].entries()) {
    for (let y = 0; y < PIECE.height; y++) {
      const start = ((top + y) * fromWidth + left) * 4;
      data.set(from.subarray(start, start + PIECE.width * 4), (y * width + index * (PIECE.width + 8)) * 4);
    }
  }
  return { data, width, height: PIECE.height };
}

const { values } = parseArgs({ options: { write: { type: "string" } } });
/** Each picture has the codecs to itself, as if the one before had been long ago. */
let apart = 0;
const codecs = new SharedCodecs(
  async () => ({
    avifEncoder: await compile("avif/codec/enc/avif_enc.wasm"),
    jpegDecoder: await compile("jpeg/codec/dec/mozjpeg_dec.wasm"),
    pngDecoder: await compile("png/codec/pkg/squoosh_png_bg.wasm"),
    webpEncoder: await compile("webp/codec/enc/webp_enc_simd.wasm"),
  }),
  () => (apart += 60_000),
);
const avif = await openDecoder(createAvifDecoder, "avif/codec/dec/avif_dec.wasm");
const webp = await openDecoder(createWebpDecoder, "webp/codec/dec/webp_dec.wasm");
const decode = {
  "image/avif": (bytes: Uint8Array) => avif.decode(bytes, 8),
  "image/webp": (bytes: Uint8Array) => webp.decode(bytes),
};
const recoder = new ImageRecoder(new WasmCodec(codecs), new Room(MOST_WAIT, epochClock.now), epochClock);

let [allBytes, allSent] = [0, 0];
for (const [page, paths] of Object.entries(PAGES)) {
  const rows: { readonly bytes: number; readonly sent: number; readonly ssim: number }[] = [];
  for (const path of paths) rows.push(await measure(path));
  const total = (key: "bytes" | "sent") => rows.reduce((sum, row) => sum + row[key], 0);
  const likeness = rows.map((row) => row.ssim).sort((a, b) => a - b);
  const mean = likeness.reduce((sum, each) => sum + each, 0) / likeness.length;
  const share = (total("sent") / total("bytes")).toFixed(3);
  console.log(
    `${page}: ${share} of the bytes; SSIM ${mean.toFixed(3)} in the mean, ${likeness[0]?.toFixed(3)} at least\n`,
  );
  allBytes += total("bytes");
  allSent += total("sent");
}
console.log(`all: ${(allSent / allBytes).toFixed(3)} of the bytes`);

async function measure(path: string): Promise<{ bytes: number; sent: number; ssim: number }> {
  const picture = new Uint8Array(await readFile(join(PACKAGES, path)));
  const facts = readImageFacts(picture);
  if (facts === null) throw new Error(`Cannot measure ${path}: it is no picture`);
  const startedAt = process.cpuUsage().user;
  const recoded = await recoder.recode(picture, facts, "balanced");
  const time = (process.cpuUsage().user - startedAt) / 1000;
  const open = await codecs.open(facts.type === "jpeg" ? "jpeg" : "png", "webp");
  const before = open.decode(picture);
  const after = recoded === null ? before : await decode[recoded.type](recoded.bytes);
  if (before === null || after === null) throw new Error(`Cannot measure ${path}: it is broken`);
  const row = {
    bytes: picture.length,
    sent: recoded?.bytes.length ?? picture.length,
    ssim: Math.min(ssim(before, after, 255), ssim(before, after, 0)),
  };
  const name = path.split("/").slice(-2).join("/").padEnd(24);
  const [share, likeness] = [(row.sent / row.bytes).toFixed(2), row.ssim.toFixed(3)];
  console.log(
    `${name} ${String(row.bytes).padStart(7)} ${share} ${likeness} ${time.toFixed(0)} ms ${recoded?.type ?? "as it is"}`,
  );
  for (const piece of PIECES.filter((each) => values.write !== undefined && each.path === path)) {
    await mkdir(values.write ?? "", { recursive: true });
    const pieces = open.encode(sideBySide(before, after, piece), "large", PIECE_QUALITY);
    await writeFile(join(values.write ?? "", `${piece.name}.webp`), pieces ?? "");
  }
  return row;
}
