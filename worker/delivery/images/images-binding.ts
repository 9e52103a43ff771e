import type { ImageFacts } from "./image-facts.ts";
import { type Coding, type PictureCodec, TARGETS } from "./image-recoder.ts";
import { USUAL_QUALITY } from "./wasm-codec.ts";

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
    // It may take another format where that one would take long.
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
