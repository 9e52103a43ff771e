/** What codes pictures anew: the codecs in wasm, or a service of the platform. `ImageRecoder` says which picture, and how. */
import type { ImageFacts } from "./image-facts.ts";

export type Target = "avif" | "webp";

/** @property quality 0 to 100, on the scale of the codec. */
export interface Coding {
  readonly target: Target;
  readonly quality: number;
}

export interface PictureCodec {
  /** The same pixels, coded anew; null where it cannot, or will not. It does not reject. */
  recode(picture: Uint8Array, facts: ImageFacts, coding: Coding): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Nobody needs it for a while. */
  rest(): void;
}
