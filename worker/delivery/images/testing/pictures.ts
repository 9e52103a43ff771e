/** Pictures for tests, of the codecs' own making. */
import { readFile } from "node:fs/promises";
import createJpegEncoder from "@jsquash/jpeg/codec/enc/mozjpeg_enc.js";
import * as png from "@jsquash/png/codec/pkg/squoosh_png.js";
import { type CodecModules, type Pixels, SharedCodecs } from "../picture-codecs.ts";

const PACKAGES = new URL("../../../../node_modules/@jsquash/", import.meta.url);

const compile = async (path: string) => new WebAssembly.Module(await readFile(new URL(path, PACKAGES)));

const modules = async (): Promise<CodecModules> => ({
  avifEncoder: await compile("avif/codec/enc/avif_enc.wasm"),
  jpegDecoder: await compile("jpeg/codec/dec/mozjpeg_dec.wasm"),
  pngDecoder: await compile("png/codec/pkg/squoosh_png_bg.wasm"),
  webpEncoder: await compile("webp/codec/enc/webp_enc_simd.wasm"),
});

let hours = 0;
/** Nothing that they drop counts at the next look: what one test leaves, another need not wait for. */
export const testCodecs = new SharedCodecs(modules, () => hours++ * 3_600_000);

/** Waves of colour, with some noise as of a camera. */
export function photograph(width: number, height: number): Pixels {
  const data = new Uint8ClampedArray(width * height * 4);
  let seed = 1;
  for (let i = 0; i < width * height; i++) {
    const [x, y] = [i % width, Math.floor(i / width)];
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    const noise = ((seed >> 16) % 9) - 4;
    data[4 * i] = 128 + 90 * Math.sin(x / 23) + noise;
    data[4 * i + 1] = 128 + 90 * Math.cos(y / 17) + noise;
    data[4 * i + 2] = 128 + 90 * Math.sin((x + y) / 31) + noise;
    data[4 * i + 3] = 255;
  }
  return { data, width, height };
}

type JpegEncoder = { encode(data: Uint8ClampedArray, width: number, height: number, options: object): Uint8Array };

export async function jpegOf({ data, width, height }: Pixels): Promise<Uint8Array<ArrayBuffer>> {
  const module = await compile("jpeg/codec/enc/mozjpeg_enc.wasm");
  const create = createJpegEncoder as unknown as (options: object) => Promise<JpegEncoder>;
  const encoder = await create({
    noInitialRun: true,
    instantiateWasm(imports: WebAssembly.Imports, onInstance: (instance: WebAssembly.Instance) => void) {
      const instance = new WebAssembly.Instance(module, imports);
      onInstance(instance);
      return instance.exports;
    },
  });
  const options = {
    quality: 90,
    baseline: false,
    arithmetic: false,
    progressive: true,
    optimize_coding: true,
    smoothing: 0,
    color_space: 3,
    quant_table: 3,
    trellis_multipass: false,
    trellis_opt_zero: false,
    trellis_opt_table: false,
    trellis_loops: 1,
    auto_subsample: true,
    chroma_subsample: 2,
    separate_chroma_quality: false,
    chroma_quality: 75,
  };
  return new Uint8Array(encoder.encode(data, width, height, options));
}

export async function pngOf({ data, width, height }: Pixels): Promise<Uint8Array<ArrayBuffer>> {
  png.initSync(await compile("png/codec/pkg/squoosh_png_bg.wasm"));
  return new Uint8Array(png.encode(new Uint8Array(data.buffer), width, height, 8));
}

/** The same JPEG with a segment of EXIF or a profile right after its beginning. @param marker as of 0xffe1. */
export function withSegment(jpeg: Uint8Array, marker: number, content: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(marker, 0);
  head.writeUInt16BE(content.length + 2, 2);
  return new Uint8Array(Buffer.concat([jpeg.subarray(0, 2), head, content, jpeg.subarray(2)]));
}

/** A segment that turns the picture. @param orientation 1 to 8. */
export function exif(orientation: number): Uint8Array {
  const content = Buffer.from("Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\0\0\0\0\0\0\0\0", "latin1");
  content.writeUInt16LE(orientation, 6 + 8 + 2 + 8);
  return content;
}
