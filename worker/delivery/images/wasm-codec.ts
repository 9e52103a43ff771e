import type { SharedCodecs } from "./image-codecs.ts";
import { type ImageFacts, scansOf } from "./image-facts.ts";
import { type Coding, type PictureCodec, TARGETS } from "./picture-codec.ts";
import { balancedQuality, USUAL_QUALITY } from "./quality.ts";

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
      // A broken picture, one that it has no memory for, or no codecs. What wasm trapped in is of no use any more.
      this.#codecs.drop();
      return null;
    }
  }

  async #recode(picture: Uint8Array, facts: ImageFacts, { kind, recoding }: Coding) {
    if (facts.type === "jpeg" && scansOf(picture) > MOST_SCANS) return null;
    const codecs = await this.#codecs.open(facts.type === "jpeg" ? "jpeg" : "png", TARGETS[kind]);
    if (codecs.isBusy()) return null;
    const pixels = codecs.decode(picture);
    // What the header says is what was counted on.
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
