/**
 * The codecs of `@jsquash`, each a wasm module that the platform has compiled, and a script that is evaluated only when
 * it is first needed.
 */

/** RGBA, eight bits each. */
export interface Pixels {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

export interface ImageCodecs {
  /** Turned as its EXIF says. */
  decodeJpeg(bytes: Uint8Array): Pixels | null;
  decodePng(bytes: Uint8Array): Pixels | null;
  /** @param quality 0 to 100. */
  encodeAvif(pixels: Pixels, quality: number): Uint8Array | null;
  encodeWebp(pixels: Pixels, quality: number): Uint8Array | null;
  /** Whether they hold so much memory that they are to be opened anew: wasm never gives memory back. */
  hasGrown(): boolean;
}

/** The wasm of `@jsquash/avif`, `jpeg`, `png` and `webp`. */
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
 * Bytes of memory of all codecs above which they are opened anew. At rest they have 53 MB, most of which is never
 * touched.
 */
const KEPT_MEMORY = 72 * 1024 * 1024;

/** 4:2:0, as most photographs are; the quickest but one, which is no quicker. */
const AVIF_OPTIONS = {
  qualityAlpha: -1,
  denoiseLevel: 0,
  tileColsLog2: 0,
  tileRowsLog2: 0,
  speed: 9,
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

/** Opened once for all phones of an isolate: no two calls overlap. */
export class SharedCodecs {
  readonly #modules: () => Promise<CodecModules>;
  #open: Promise<ImageCodecs> | null = null;

  /** @param modules loads them; asked when they are first needed, and again after they were dropped. */
  constructor(modules: () => Promise<CodecModules>) {
    this.#modules = modules;
  }

  /** Rejects where they cannot be had; they are tried again the next time. */
  open(): Promise<ImageCodecs> {
    const opening = this.#open ?? this.#modules().then(openCodecs);
    this.#open = opening;
    opening.catch(() => {
      if (this.#open === opening) this.#open = null;
    });
    return opening;
  }

  /** Wasm never gives memory back: the instances go with it, but that of PNG, which its package keeps. */
  drop(): void {
    this.#open = null;
  }
}

type Create<Codec> = (options: ReturnType<typeof emscriptenOptions>) => Promise<Codec>;
type Decode = { decode(bytes: Uint8Array, turns: boolean): Pixels | null };
type Encode<Options> = {
  encode(data: Uint8Array | Uint8ClampedArray, width: number, height: number, options: Options): Uint8Array | null;
};

async function openCodecs(modules: CodecModules): Promise<ImageCodecs> {
  const [avif, jpeg, png, webp] = await Promise.all([
    import("@jsquash/avif/codec/enc/avif_enc.js"),
    import("@jsquash/jpeg/codec/dec/mozjpeg_dec.js"),
    import("@jsquash/png/codec/pkg/squoosh_png.js"),
    import("@jsquash/webp/codec/enc/webp_enc_simd.js"),
  ]);
  const memories: WebAssembly.Memory[] = [];
  const options = (module: WebAssembly.Module) => emscriptenOptions(module, memories);
  const createAvif = avif.default as unknown as Create<Encode<typeof AVIF_OPTIONS & { quality: number }>>;
  const createJpeg = jpeg.default as unknown as Create<Decode>;
  const createWebp = webp.default as unknown as Create<Encode<typeof WEBP_OPTIONS & { quality: number }>>;
  const avifEncoder = await createAvif(options(modules.avifEncoder));
  const jpegDecoder = await createJpeg(options(modules.jpegDecoder));
  const webpEncoder = await createWebp(options(modules.webpEncoder));
  png.initSync(modules.pngDecoder);
  return {
    decodeJpeg: (bytes) => jpegDecoder.decode(bytes, true),
    decodePng: (bytes) => png.decode(bytes) as unknown as Pixels,
    encodeAvif: ({ data, width, height }, quality) =>
      avifEncoder.encode(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), width, height, {
        ...AVIF_OPTIONS,
        quality,
      }),
    encodeWebp: ({ data, width, height }, quality) =>
      webpEncoder.encode(data, width, height, { ...WEBP_OPTIONS, quality }),
    hasGrown: () => memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0) > KEPT_MEMORY,
  };
}

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
