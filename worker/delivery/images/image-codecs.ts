/**
 * The codecs of `@jsquash`, each a wasm module that the platform has compiled, and a script that is evaluated only when
 * it is first needed.
 */

import type { Kind, Target } from "./picture-codec.ts";
import { Uncollected } from "./uncollected.ts";

/** RGBA, eight bits each. */
export interface Pixels {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

export interface ImageCodecs {
  /** Of JPEG turned as its EXIF says. */
  decode(bytes: Uint8Array): Pixels | null;
  /** @param kind that the encoder is for. @param quality 0 to 100, on its scale. */
  encode(pixels: Pixels, kind: Kind, quality: number): Uint8Array | null;
  /** Whether so much of what they took is not collected yet that nothing should be coded now. */
  isBusy(): boolean;
  /** Whether all that are open hold so much memory, which wasm never gives back, that they are to be opened anew. */
  hasGrown(): boolean;
}

/** Formats of pictures that can be decoded. */
export type Source = "jpeg" | "png";

/** Of `@jsquash/avif`, `jpeg`, `png` and `webp`. */
export interface CodecModules {
  readonly avifEncoder: WebAssembly.Module;
  readonly jpegDecoder: WebAssembly.Module;
  readonly pngDecoder: WebAssembly.Module;
  readonly webpEncoder: WebAssembly.Module;
}

/** Bytes of memory that one codec may take; it fails where a picture would need more. */
const MOST_MEMORY = 96 * 1024 * 1024;
const PAGE = 65_536;

/**
 * Bytes that each encoder's memory grows to. Each begins with 16 MB, most of which is never touched.
 */
const NEEDED_MEMORY: Readonly<Record<Target, number>> = { avif: 45 * 1024 * 1024, webp: 25 * 1024 * 1024 };
/** Bytes above which nothing is coded: of what is open, and of what was dropped, pixels too, and is not collected. */
const MOST_TAKEN = 100 * 1024 * 1024;
/** Bytes of all that stay open: what is dropped is garbage for a while, beside what is opened in its place. */
const KEPT_MEMORY = 72 * 1024 * 1024;

/**
 * Of AVIF: the quickest but one, which is no quicker. For drawings the next, which looks for palettes: a fifth smaller, in
 * three times the time. The one after that looks for repetitions, too, and takes 87 MB and seconds for some.
 */
const SPEEDS: Readonly<Record<Kind, number>> = { photo: 9, drawing: 8, large: 9 };

/** 4:2:0, as most photographs are. */
const AVIF_OPTIONS = {
  qualityAlpha: -1,
  denoiseLevel: 0,
  tileColsLog2: 0,
  tileRowsLog2: 0,
  subsample: 1,
  chromaDeltaQ: false,
  sharpness: 0,
  tune: 0,
  enableSharpYUV: false,
  bitDepth: 8,
  lossless: false,
};

/** The defaults of libwebp, but for `method`: half of the time, for a few bytes more. */
const WEBP_OPTIONS = {
  target_size: 0,
  target_PSNR: 0,
  method: 2,
  sns_strength: 50,
  filter_strength: 60,
  filter_sharpness: 0,
  filter_type: 1,
  partitions: 0,
  segments: 4,
  pass: 1,
  show_compressed: 0,
  preprocessing: 0,
  autofilter: 0,
  partition_limit: 0,
  alpha_compression: 1,
  alpha_filtering: 1,
  alpha_quality: 100,
  lossless: 0,
  exact: 0,
  image_hint: 0,
  emulate_jpeg_size: 0,
  thread_level: 0,
  low_memory: 0,
  near_lossless: 100,
  use_delta_palette: 0,
  use_sharp_yuv: 0,
};

/** Each opened once for all phones of an isolate, when it is first needed: what is done with it is done in one go. */
export class SharedCodecs {
  readonly #load: () => Promise<CodecModules>;
  #modules: Promise<CodecModules> | null = null;
  #decoders: Partial<Record<Source, Promise<ImageCodecs["decode"]>>> = {};
  #encoders: Partial<Record<Target, Promise<ImageCodecs["encode"]>>> = {};
  #memories: WebAssembly.Memory[] = [];
  readonly #dropped: Uncollected;

  /** @param load of their modules; asked when one is first needed, and again after they were dropped. */
  constructor(load: () => Promise<CodecModules>, now: () => number) {
    this.#load = load;
    this.#dropped = new Uncollected(now);
  }

  /** Rejects where they cannot be had; then they are to be dropped. */
  async open(source: Source, target: Target): Promise<ImageCodecs> {
    const isOpen = this.#decoders[source] !== undefined && this.#encoders[target] !== undefined;
    if (!isOpen && sizeOf(this.#memories) + NEEDED_MEMORY[target] > KEPT_MEMORY) this.drop();
    const memories = this.#memories;
    this.#modules ??= this.#load();
    const modules = this.#modules;
    this.#decoders[source] ??= modules.then((all) => DECODERS[source](all, memories));
    this.#encoders[target] ??= modules.then((all) => ENCODERS[target](all, memories));
    const [decode, encode] = await Promise.all([this.#decoders[source], this.#encoders[target]]);
    return {
      decode: (bytes) => {
        const pixels = decode(bytes);
        if (pixels !== null) this.#dropped.add(pixels.data.buffer);
        return pixels;
      },
      encode,
      isBusy: () => sizeOf(memories) + this.#dropped.bytes > MOST_TAKEN,
      hasGrown: () => sizeOf(memories) > KEPT_MEMORY,
    };
  }

  /** Wasm never gives memory back: the instances go with it, but that of PNG, which its package keeps. */
  drop(): void {
    this.#modules = null;
    this.#decoders = {};
    this.#encoders = {};
    for (const { buffer } of this.#memories) this.#dropped.add(buffer);
    this.#memories = [];
  }
}

type Create<Codec> = (options: ReturnType<typeof emscriptenOptions>) => Promise<Codec>;
type Decode = { decode(bytes: Uint8Array, turns: boolean): Pixels | null };
type Encode<Options> = {
  encode(data: Uint8Array | Uint8ClampedArray, width: number, height: number, options: Options): Uint8Array | null;
};
type Open<Codec> = (modules: CodecModules, memories: WebAssembly.Memory[]) => Promise<Codec>;

const DECODERS: Readonly<Record<Source, Open<ImageCodecs["decode"]>>> = {
  async jpeg({ jpegDecoder }, memories) {
    const { default: create } = await import("@jsquash/jpeg/codec/dec/mozjpeg_dec.js");
    const decoder = await (create as unknown as Create<Decode>)(emscriptenOptions(jpegDecoder, memories));
    return (bytes) => decoder.decode(bytes, true);
  },
  async png({ pngDecoder }) {
    const png = await import("@jsquash/png/codec/pkg/squoosh_png.js");
    png.initSync(pngDecoder);
    return (bytes) => png.decode(bytes) as unknown as Pixels;
  },
};

const ENCODERS: Readonly<Record<Target, Open<ImageCodecs["encode"]>>> = {
  async avif({ avifEncoder }, memories) {
    const { default: create } = await import("@jsquash/avif/codec/enc/avif_enc.js");
    type Encoder = Encode<typeof AVIF_OPTIONS & { quality: number; speed: number }>;
    const encoder = await (create as unknown as Create<Encoder>)(emscriptenOptions(avifEncoder, memories));
    return ({ data, width, height }, kind, quality) => {
      const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
      return encoder.encode(bytes, width, height, { ...AVIF_OPTIONS, quality, speed: SPEEDS[kind] });
    };
  },
  async webp({ webpEncoder }, memories) {
    const { default: create } = await import("@jsquash/webp/codec/enc/webp_enc_simd.js");
    type Encoder = Encode<typeof WEBP_OPTIONS & { quality: number }>;
    const encoder = await (create as unknown as Create<Encoder>)(emscriptenOptions(webpEncoder, memories));
    return ({ data, width, height }, _kind, quality) =>
      encoder.encode(data, width, height, { ...WEBP_OPTIONS, quality });
  },
};

const sizeOf = (memories: readonly WebAssembly.Memory[]): number =>
  memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);

function emscriptenOptions(module: WebAssembly.Module, memories: WebAssembly.Memory[]) {
  return {
    noInitialRun: true,
    instantiateWasm(imports: WebAssembly.Imports, onInstance: (instance: WebAssembly.Instance) => void) {
      const instance = new WebAssembly.Instance(module, imports);
      for (const each of Object.values(instance.exports))
        if (each instanceof WebAssembly.Memory) memories.push(bounded(each));
      onInstance(instance);
      return instance.exports;
    },
  };
}

/** The scripts of the codecs grow it by this method, and take it well if that fails. */
function bounded(memory: WebAssembly.Memory): WebAssembly.Memory {
  const grow = memory.grow.bind(memory);
  return Object.assign(memory, {
    grow(pages: number) {
      if (memory.buffer.byteLength + pages * PAGE > MOST_MEMORY) throw new RangeError("Cannot grow: it has enough");
      return grow(pages);
    },
  });
}
