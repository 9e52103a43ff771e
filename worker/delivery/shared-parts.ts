/** Parts of deliveries that all phones of a process share: what they may hold, the processor's time for pictures, and the codecs. */
import type { Clock } from "../../shared/clock.ts";
import { Room } from "../../shared/fair-shares.ts";
import { DictionaryCompressor, PhoneDictionaries, type SealedBodyStore } from "./dictionaries.ts";
import { ImageRecoder } from "./images/image-recoder.ts";
import { ImageStage, MOST_WAIT } from "./images/image-stage.ts";
import {
  BindingCodec,
  type CodecModules,
  type ImagesBinding,
  SharedCodecs,
  WasmCodec,
} from "./images/picture-codecs.ts";
import { NamesStage } from "./names/names-stage.ts";

/**
 * Bytes that deliveries of all phones in a process hold at once: pictures that are read whole, texts that are coded against
 * others, or wait to be kept. What finds no room goes as it is. Of the 128 MB that an isolate has on Cloudflare.
 */
export const HELD_BYTES = 12 * 1024 * 1024;

/** Its clock counts milliseconds since the epoch. */
export interface SharedPartsOptions extends Clock {
  /** Of `@bokuweb/zstd-wasm`. */
  readonly zstd: WebAssembly.Module;
  readonly codecs: () => Promise<CodecModules>;
}

export class SharedParts {
  readonly #clock: Clock;
  readonly #held: Room;
  readonly #recodingTime: Room;
  /** Marks scripts' reads of where they are. */
  readonly names: NamesStage;
  readonly #compressor: DictionaryCompressor;
  readonly #codecs: SharedCodecs;

  constructor({ zstd, codecs, ...clock }: SharedPartsOptions) {
    this.#clock = clock;
    this.#held = new Room(HELD_BYTES, clock.now);
    this.#recodingTime = new Room(MOST_WAIT, clock.now);
    this.names = new NamesStage(this.#held, clock.setTimer);
    this.#compressor = new DictionaryCompressor(zstd);
    this.#codecs = new SharedCodecs(codecs, clock.now);
  }

  /** Of one phone. */
  dictionaries(store: SealedBodyStore): PhoneDictionaries {
    return new PhoneDictionaries(store, this.#compressor, this.#held, this.#clock.setTimer);
  }

  /**
   * @param usesCodecs whether the edge's own processor may code pictures.
   * @param binding of the platform, which codes what it can.
   * @returns null where neither is to be.
   */
  images(usesCodecs: boolean, binding: ImagesBinding | null = null): ImageStage | null {
    const own = usesCodecs ? new WasmCodec(this.#codecs) : null;
    const codec = binding === null ? own : new BindingCodec(binding, own);
    return (
      codec &&
      new ImageStage(new ImageRecoder(codec, this.#recodingTime, this.#clock), this.#held, this.#clock.setTimer)
    );
  }
}
