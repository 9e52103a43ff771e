/** What codes pictures anew: the codecs in wasm, or a service of the platform. `ImageRecoder` says which picture, and how. */
import type { Recoding } from "../../../shared/http/heads.ts";
import type { ImageFacts } from "./image-facts.ts";

export type Target = "avif" | "webp";

/** Photographs and drawings, and those of either that are too large for the encoder of AVIF. */
export type Kind = "photo" | "drawing" | "large";

export const TARGETS: Readonly<Record<Kind, Target>> = { photo: "avif", drawing: "avif", large: "webp" };

export interface Coding {
  readonly kind: Kind;
  readonly recoding: Exclude<Recoding, "none">;
}

export interface PictureCodec {
  /** The same pixels, coded anew; null where it cannot, or will not. It does not reject. */
  recode(picture: Uint8Array, facts: ImageFacts, coding: Coding): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Nobody needs it for a while. */
  rest(): void;
}
