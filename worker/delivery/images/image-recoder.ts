/**
 * Codes pictures anew, smaller: AVIF where its encoder has the memory, which at its quickest takes hardly longer than WebP
 * and gives less; WebP for larger ones. A browser sees the same number of pixels.
 */
import type { Clock } from "../../../shared/clock.ts";
import type { Recoding } from "../../../shared/http/heads.ts";
import type { ImageCodecs, Pixels, SharedCodecs } from "./image-codecs.ts";
import { type ImageFacts, scansOf } from "./image-facts.ts";

/** Pixels above which AVIF's encoder would take more than some 45 MB. */
const AVIF_PIXELS = 1_100_000;
/** Pixels above which a picture is left alone: decoded it has four bytes to each. The decoder of PNG gives none back. */
const MOST_PIXELS = { jpeg: 4_000_000, png: 1_500_000 };
/** Scans above which a JPEG is left alone: each costs a pass over all pixels. Encoders make ten or eleven. */
const MOST_SCANS = 12;

type Target = "avif" | "webp";

/** Of the codecs' scales, by eye and SSIM. */
const QUALITY: Readonly<Record<Exclude<Recoding, "none">, Readonly<Record<Target, number>>>> = {
  balanced: { avif: 65, webp: 78 },
  strong: { avif: 40, webp: 45 },
};

/** A picture has to get this much smaller to be worth a change. */
const LEAST_GAIN = 0.1;

/** Nanoseconds a pixel that coding takes until it was measured: of a processor that is not quick. */
const FIRST_COST: Readonly<Record<Target, number>> = { avif: 500, webp: 180 };

/** Milliseconds after which nobody seems to need the codecs. */
const IDLE_TIME = 5_000;

export interface RecodedImage {
  readonly type: "image/avif" | "image/webp";
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export class ImageRecoder {
  readonly #codecs: Pick<SharedCodecs, "open" | "drop">;
  readonly #clock: Pick<Clock, "now" | "setTimer">;
  #cancelDrop: () => void = () => {};
  /** Nanoseconds a pixel, as measured. */
  readonly #cost = { ...FIRST_COST };
  /** Those before are done: one is coded at a time. */
  #turn: Promise<unknown> = Promise.resolve();
  /** Milliseconds that all before will take. */
  #waiting = 0;

  constructor(codecs: Pick<SharedCodecs, "open" | "drop">, clock: Pick<Clock, "now" | "setTimer">) {
    this.#codecs = codecs;
    this.#clock = clock;
  }

  /** Milliseconds until this would be coded, with what waits already. */
  expectedTime(facts: ImageFacts): number {
    return this.#waiting + this.#ownTime(facts);
  }

  #ownTime({ width, height }: ImageFacts): number {
    return (width * height * this.#cost[targetOf(width * height)]) / 1e6;
  }

  /** @param accept of the request. */
  canRecode({ isPlain, type, width, height }: ImageFacts, accept: string): boolean {
    const pixels = width * height;
    if (!isPlain || (type !== "jpeg" && type !== "png") || pixels === 0 || pixels > MOST_PIXELS[type]) return false;
    return accept.includes(`image/${targetOf(pixels)}`);
  }

  /** @returns null where it would not be smaller, or is broken. */
  recode(picture: Uint8Array, facts: ImageFacts, recoding: Exclude<Recoding, "none">): Promise<RecodedImage | null> {
    const time = this.#ownTime(facts);
    this.#waiting += time;
    const recoded = this.#turn.then(() => this.#recodeNow(picture, facts, recoding));
    // A turn of the event loop in between: other responses go on.
    this.#turn = recoded
      .catch(() => {})
      .then(() => {
        this.#waiting -= time;
        return new Promise<void>((resolve) => this.#clock.setTimer(resolve, 0));
      });
    return recoded;
  }

  async #recodeNow(
    picture: Uint8Array,
    facts: ImageFacts,
    recoding: Exclude<Recoding, "none">,
  ): Promise<RecodedImage | null> {
    this.#cancelDrop();
    this.#cancelDrop = this.#clock.setTimer(() => this.#codecs.drop(), IDLE_TIME);
    const startedAt = this.#clock.now();
    try {
      if (facts.type === "jpeg" && scansOf(picture) > MOST_SCANS) return null;
      const codecs = await this.#codecs.open();
      const pixels = facts.type === "jpeg" ? codecs.decodeJpeg(picture) : codecs.decodePng(picture);
      // What the header says is what was counted on.
      if (pixels === null || pixels.width !== facts.width || pixels.height !== facts.height) return null;
      const recoded = encode(codecs, pixels, QUALITY[recoding]);
      if (codecs.hasGrown()) this.#codecs.drop();
      return recoded !== null && recoded.bytes.length <= picture.length * (1 - LEAST_GAIN) ? recoded : null;
    } catch {
      // A broken picture, one that it has no memory for, or no codecs. What wasm trapped in is of no use any more.
      this.#codecs.drop();
      return null;
    } finally {
      this.#measured(facts.width * facts.height, this.#clock.now() - startedAt);
    }
  }

  #measured(pixels: number, milliseconds: number): void {
    // Small ones say little. A platform whose clock stands still while it computes says nothing.
    if (pixels < 50_000 || milliseconds <= 0) return;
    const target = targetOf(pixels);
    const measured = Math.min((milliseconds * 1e6) / pixels, 10 * FIRST_COST[target]);
    this.#cost[target] = (this.#cost[target] + measured) / 2;
  }
}

function targetOf(pixels: number): Target {
  return pixels > AVIF_PIXELS ? "webp" : "avif";
}

function encode(codecs: ImageCodecs, pixels: Pixels, quality: Readonly<Record<Target, number>>): RecodedImage | null {
  const target = targetOf(pixels.width * pixels.height);
  const bytes = target === "webp" ? codecs.encodeWebp(pixels, quality.webp) : codecs.encodeAvif(pixels, quality.avif);
  return bytes && { type: `image/${target}`, bytes: new Uint8Array(bytes) };
}
