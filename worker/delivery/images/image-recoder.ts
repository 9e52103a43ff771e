/**
 * Codes pictures anew, smaller: AVIF where its encoder has the memory, which at its quickest takes hardly longer than WebP
 * and gives less; WebP for larger ones. A browser sees the same number of pixels.
 */
import type { Clock } from "../../../shared/clock.ts";
import type { Recoding } from "../../../shared/http/heads.ts";
import type { Room } from "../../upstream/shared-cache/room.ts";
import type { ImageFacts } from "./image-facts.ts";
import type { PictureCodec, Target } from "./picture-codec.ts";

/** Pixels above which AVIF's encoder would take more than some 45 MB. */
const AVIF_PIXELS = 1_100_000;
/** Pixels above which a picture is left alone: decoded it has four bytes to each. The decoder of PNG gives none back. */
const MOST_PIXELS = { jpeg: 4_000_000, png: 1_500_000 };
/** Qualities on the codecs' scales, chosen by eye and SSIM. */
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
  readonly type: `image/${Target}`;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export class ImageRecoder {
  readonly #codec: PictureCodec;
  readonly #time: Room;
  readonly #clock: Pick<Clock, "now" | "setTimer">;
  #cancelRest: () => void = () => {};
  /** Nanoseconds a pixel, as measured. */
  readonly #cost = { ...FIRST_COST };
  /** Settles when the pictures before are done: of a phone one is coded at a time. */
  #turn: Promise<unknown> = Promise.resolve();

  /** @param time milliseconds of the processor, for the pictures that wait: of all phones in the process. */
  constructor(codec: PictureCodec, time: Room, clock: Pick<Clock, "now" | "setTimer">) {
    this.#codec = codec;
    this.#time = time;
    this.#clock = clock;
  }

  /** Milliseconds until this would be coded, with what waits already. */
  expectedTime(facts: ImageFacts): number {
    return this.#time.taken + this.#ownTime(facts);
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

  /** @returns null where it would not be smaller, or is broken, or too many wait. */
  async recode(
    picture: Uint8Array,
    facts: ImageFacts,
    recoding: Exclude<Recoding, "none">,
  ): Promise<RecodedImage | null> {
    const taker = {};
    if (!this.#time.take(taker, this.#ownTime(facts))) return null;
    const recoded = this.#turn.then(() => this.#recodeNow(picture, facts, recoding));
    // A turn of the event loop in between: other responses go on.
    this.#turn = recoded
      .catch(() => {})
      .then(() => {
        this.#time.give(taker);
        return new Promise<void>((resolve) => this.#clock.setTimer(resolve, 0));
      });
    return recoded;
  }

  async #recodeNow(
    picture: Uint8Array,
    facts: ImageFacts,
    recoding: Exclude<Recoding, "none">,
  ): Promise<RecodedImage | null> {
    this.#cancelRest();
    this.#cancelRest = this.#clock.setTimer(() => this.#codec.rest(), IDLE_TIME);
    const startedAt = this.#clock.now();
    const target = targetOf(facts.width * facts.height);
    const bytes = await this.#codec.recode(picture, facts, { target, quality: QUALITY[recoding][target] });
    this.#measured(facts.width * facts.height, this.#clock.now() - startedAt);
    return bytes !== null && bytes.length <= picture.length * (1 - LEAST_GAIN)
      ? { type: `image/${target}`, bytes }
      : null;
  }

  #measured(pixels: number, milliseconds: number): void {
    // Small pictures say little of the time per pixel, and a platform whose clock stands still while it computes says
    // nothing.
    if (pixels < 50_000 || milliseconds <= 0) return;
    const target = targetOf(pixels);
    const measured = Math.min((milliseconds * 1e6) / pixels, 10 * FIRST_COST[target]);
    this.#cost[target] = (this.#cost[target] + measured) / 2;
  }
}

function targetOf(pixels: number): Target {
  return pixels > AVIF_PIXELS ? "webp" : "avif";
}
