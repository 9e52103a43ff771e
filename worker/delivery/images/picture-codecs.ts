import { type ImageFacts, scansOf } from "../../../shared/web/image-facts.ts";
import { type Coding, type Kind, type PictureCodec, TARGETS, type Target } from "./image-recoder.ts";

/** Milliseconds: for so long what was dropped counts, if the collector, which is slow where memory is no script's, left it. */
const COUNTED = 10_000;

/** Large pieces of memory that were dropped lately, as far as the collector has not taken them yet. */
export class Uncollected {
  readonly #now: () => number;
  #pieces: { readonly piece: WeakRef<ArrayBufferLike>; readonly at: number }[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  add(piece: ArrayBufferLike): void {
    this.#pieces.push({ piece: new WeakRef(piece), at: this.#now() });
  }

  get bytes(): number {
    const since = this.#now() - COUNTED;
    this.#pieces = this.#pieces.filter(({ piece, at }) => at > since && piece.deref() !== undefined);
    return this.#pieces.reduce((sum, { piece }) => sum + (piece.deref()?.byteLength ?? 0), 0);
  }
}

// The codecs of `@jsquash`, each a wasm module that the platform has compiled, and a script that is evaluated only when
// it is first needed.

/** RGBA, eight bits each. */
export interface Pixels {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

interface ImageCodecs {
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
type Source = "jpeg" | "png";

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

// How coarsely a picture may be coded so that nobody sees it. What shows first is that faint texture goes: grain, cloth, a
// wall. Where a picture has much of that it is coded finely, where its blocks are flat, or full of contrast, coarsely.

/** Where nobody looks at the pixels before. */
const USUAL_QUALITY: Readonly<Record<Coding["recoding"], Readonly<Record<Kind, number>>>> = {
  balanced: { photo: 65, drawing: 65, large: 78 },
  strong: { photo: 40, drawing: 40, large: 45 },
};

/** Device pixels across the screen of a phone: wider pictures are shown smaller. */
export const SCREEN_WIDTH = 1080;

/** SSIM that a balanced picture is to have, as a phone shows it. */
const LIKENESS = 0.98;
/** Of SSIM over values of 0 to 255 (Wang et al. 2004). */
const C2 = (0.03 * 255) ** 2;
/** Luma that may be below what is transparent. */
const PAPERS = [255, 0];
/** Pixels on a side. */
const BLOCK = 8;
/** Count: more blocks say nothing more. */
const MOST_BLOCKS = 2_000;

/**
 * Coarsest first: the mean squared error that a picture has to bear, and the quality that it then gets. Found by trial with
 * the pictures of `scripts/measure-pictures.ts`: another encoder, or another speed, needs other figures.
 */
const STEPS: readonly (Readonly<Record<Kind, number>> & { readonly error: number })[] = [
  { error: 40, photo: 48, drawing: 48, large: 65 },
  { error: 18, photo: 55, drawing: 60, large: 72 },
  { error: 12, photo: 58, drawing: 70, large: 77 },
  { error: 9, photo: 61, drawing: 70, large: 81 },
  { error: 6, photo: 64, drawing: 72, large: 83 },
  { error: 2.5, photo: 70, drawing: 79, large: 85 },
];
const FINEST: (typeof STEPS)[number] = { error: 0, photo: 80, drawing: 82, large: 87 };

/** @returns of a balanced picture, on the scale of the codec for its kind. */
export function balancedQuality(pixels: Pixels, kind: Kind): number {
  const onPapers = PAPERS.map((paper) => blockVariances(pixels, paper));
  const bears = (error: number) => onPapers.every((variances) => expectedLikeness(variances, error) >= LIKENESS);
  return (STEPS.find(({ error }) => bears(error)) ?? FINEST)[kind];
}

/** SSIM if each block loses so much of its contrast, or all that it has. */
function expectedLikeness(variances: readonly number[], error: number): number {
  const each = variances.map((variance) => {
    const kept = Math.max(0, variance - error);
    return (2 * kept + C2) / (kept + variance + C2);
  });
  return each.length === 0 ? 1 : each.reduce((sum, one) => sum + one, 0) / each.length;
}

/** Of the luma in blocks here and there, in the size in which it is shown. */
function blockVariances(pixels: Pixels, paper: number): number[] {
  const scale = Math.max(1, pixels.width / SCREEN_WIDTH);
  const [across, down] = [Math.floor(pixels.width / scale / BLOCK), Math.floor(pixels.height / scale / BLOCK)];
  const variances: number[] = [];
  for (let block = 0; block < across * down; block += Math.ceil((across * down) / MOST_BLOCKS)) {
    const [left, top] = [(block % across) * BLOCK, Math.floor(block / across) * BLOCK];
    let [sum, squares] = [0, 0];
    for (let i = 0; i < BLOCK * BLOCK; i++) {
      const luma = shownLuma(pixels, paper, scale, left + (i % BLOCK), top + Math.floor(i / BLOCK));
      sum += luma;
      squares += luma * luma;
    }
    variances.push(squares / BLOCK ** 2 - (sum / BLOCK ** 2) ** 2);
  }
  return variances;
}

/** Of a pixel of the screen: the mean of those that it shows. */
function shownLuma({ data, width }: Pixels, paper: number, scale: number, x: number, y: number): number {
  let [sum, count] = [0, 0];
  for (let row = Math.floor(y * scale); row < Math.floor((y + 1) * scale); row++) {
    for (let column = Math.floor(x * scale); column < Math.floor((x + 1) * scale); column++) {
      const at = 4 * (row * width + column);
      const alpha = (data[at + 3] ?? 255) / 255;
      const luma = 0.299 * (data[at] ?? 0) + 0.587 * (data[at + 1] ?? 0) + 0.114 * (data[at + 2] ?? 0);
      sum += luma * alpha + paper * (1 - alpha);
      count += 1;
    }
  }
  return sum / count;
}

/** Scans above which a JPEG is left alone: each costs a pass over all pixels. Encoders make ten or eleven. */
const MOST_SCANS = 12;

/** The codecs of `@jsquash`, on the edge's own processor. */
export class WasmCodec implements PictureCodec {
  readonly #codecs: Pick<SharedCodecs, "open" | "drop">;

  constructor(codecs: Pick<SharedCodecs, "open" | "drop">) {
    this.#codecs = codecs;
  }

  async recode(picture: Uint8Array, facts: ImageFacts, coding: Coding): Promise<Uint8Array<ArrayBuffer> | null> {
    try {
      return await this.#recode(picture, facts, coding);
    } catch {
      // A broken picture, one that it has no memory for, or no codecs. An instance that trapped is of no use any more.
      this.#codecs.drop();
      return null;
    }
  }

  async #recode(picture: Uint8Array, facts: ImageFacts, { kind, recoding }: Coding) {
    if (facts.type === "jpeg" && scansOf(picture) > MOST_SCANS) return null;
    const codecs = await this.#codecs.open(facts.type === "jpeg" ? "jpeg" : "png", TARGETS[kind]);
    if (codecs.isBusy()) return null;
    const pixels = codecs.decode(picture);
    // The work was counted by the size in the header.
    if (pixels === null || pixels.width !== facts.width || pixels.height !== facts.height) return null;
    const quality = recoding === "balanced" ? balancedQuality(pixels, kind) : USUAL_QUALITY[recoding][kind];
    const coded = codecs.encode(pixels, kind, quality);
    const bytes = coded && new Uint8Array(coded);
    if (codecs.hasGrown()) this.#codecs.drop();
    return bytes;
  }

  rest(): void {
    this.#codecs.drop();
  }
}

/**
 * Cloudflare's Images binding, as far as it is used (developers.cloudflare.com/images/transform-images/bindings). It works
 * on no processor time of the edge, and costs by the picture.
 */
export interface ImagesBinding {
  info(picture: ReadableStream<Uint8Array>): Promise<{ readonly width?: number; readonly height?: number }>;
  input(picture: ReadableStream<Uint8Array>): {
    output(options: { readonly format: `image/${string}`; readonly quality: number }): Promise<{
      contentType(): string;
      image(): ReadableStream<Uint8Array>;
    }>;
  };
}

export class BindingCodec implements PictureCodec {
  readonly #images: ImagesBinding;
  /** Has what the binding cannot, or will not since too much was asked of it. */
  readonly #otherwise: PictureCodec | null;

  constructor(images: ImagesBinding, otherwise: PictureCodec | null) {
    this.#images = images;
    this.#otherwise = otherwise;
  }

  async recode(picture: Uint8Array, facts: ImageFacts, coding: Coding): Promise<Uint8Array<ArrayBuffer> | null> {
    const recoded = await this.#recode(picture, facts, coding).catch(() => null);
    return recoded ?? this.#otherwise?.recode(picture, facts, coding) ?? null;
  }

  async #recode(picture: Uint8Array, facts: ImageFacts, { kind, recoding }: Coding) {
    // Nobody says how it shows those that EXIF turns.
    if (facts.isTurned) return null;
    const format = `image/${TARGETS[kind]}` as const;
    const result = await this.#images
      .input(streamOf(picture))
      .output({ format, quality: USUAL_QUALITY[recoding][kind] });
    const image = result.image();
    // The service may take another format where that one would take long.
    if (result.contentType() !== format) {
      await image.cancel();
      return null;
    }
    const bytes = new Uint8Array(await new Response(image).arrayBuffer());
    const { width, height } = await this.#images.info(streamOf(bytes));
    return width === facts.width && height === facts.height ? bytes : null;
  }

  rest(): void {
    this.#otherwise?.rest();
  }
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new Blob([new Uint8Array(bytes)]).stream();
}
