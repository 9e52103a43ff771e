/**
 * zstd with a dictionary of raw content (RFC 9842). The platforms' own zstd takes none on workerd, so it is wasm, of
 * `@bokuweb/zstd-wasm`: that package's script cannot take a module that the platform has compiled, so its few functions
 * are called here by the names that its build gives them. The version is pinned for that.
 */

/** zstd of the package: its functions of zstd.h, and what Emscripten needs. Sizes are bytes, the rest addresses. */
interface ZstdExports {
  readonly f: WebAssembly.Memory;
  /** Runs constructors. */
  g(): void;
  /** ZSTD_isError */
  h(result: number): number;
  /** ZSTD_compressBound */
  i(size: number): number;
  /** ZSTD_createCCtx */
  j(): number;
  /** ZSTD_freeCCtx */
  k(context: number): number;
  /** ZSTD_compress_usingDict */
  l(
    context: number,
    to: number,
    capacity: number,
    from: number,
    size: number,
    dictionary: number,
    dictionarySize: number,
    level: number,
  ): number;
  /** malloc */
  s(size: number): number;
  /** free */
  t(address: number): void;
}

const PAGE = 65_536;

/** Bytes: memory of wasm never shrinks, so an instance that has grown larger is given up. */
const KEPT_MEMORY = 24 * 1024 * 1024;

/** Levels by bytes of a body, each with the most: a few milliseconds for any. With a dictionary a quick one is nearly as small. */
const LEVELS: readonly (readonly [most: number, level: number])[] = [
  [64 * 1024, 9],
  [256 * 1024, 6],
];
const QUICK_LEVEL = 3;

export class DictionaryCompressor {
  readonly #module: WebAssembly.Module;
  #zstd: ZstdExports | null = null;

  /** @param module zstd.wasm of the package. */
  constructor(module: WebAssembly.Module) {
    this.#module = module;
  }

  /**
   * One frame of zstd, without a checksum.
   *
   * @param level of zstd.
   * @throws Error where zstd has no memory.
   */
  compress(body: Uint8Array, dictionary: Uint8Array, level = levelFor(body)): Uint8Array {
    this.#zstd ??= instantiate(this.#module);
    const zstd = this.#zstd;
    const capacity = zstd.i(body.length);
    const [from, to, prefix, context] = [zstd.s(body.length), zstd.s(capacity), zstd.s(dictionary.length), zstd.j()];
    try {
      if (from === 0 || to === 0 || prefix === 0 || context === 0) throw new Error("Cannot compress: no memory");
      // Views are made anew, since memory that grows has another buffer.
      new Uint8Array(zstd.f.buffer).set(body, from);
      new Uint8Array(zstd.f.buffer).set(dictionary, prefix);
      const size = zstd.l(context, to, capacity, from, body.length, prefix, dictionary.length, level);
      if (zstd.h(size) !== 0) throw new Error("Cannot compress: zstd failed");
      return new Uint8Array(zstd.f.buffer, to, size).slice();
    } finally {
      zstd.k(context);
      for (const address of [from, to, prefix]) zstd.t(address);
      if (zstd.f.buffer.byteLength > KEPT_MEMORY) this.#zstd = null;
    }
  }
}

function levelFor({ length }: Uint8Array): number {
  return LEVELS.find(([most]) => length <= most)?.[1] ?? QUICK_LEVEL;
}

function instantiate(module: WebAssembly.Module): ZstdExports {
  const fail = (): never => {
    throw new Error("Cannot compress: zstd stopped");
  };
  const grow = (size: number): number => {
    try {
      zstd.f.grow(Math.ceil(((size >>> 0) - zstd.f.buffer.byteLength) / PAGE));
      return 1;
    } catch {
      return 0;
    }
  };
  // Exit, keep-alive, abort, timers, and more memory.
  const { exports } = new WebAssembly.Instance(module, { a: { a: fail, b() {}, c: fail, d: () => 0, e: grow } });
  const zstd = exports as unknown as ZstdExports;
  zstd.g();
  return zstd;
}
