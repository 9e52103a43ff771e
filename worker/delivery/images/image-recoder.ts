import type { Clock } from "../../../shared/clock.ts";
import type { Room } from "../../../shared/fair-shares.ts";
import type { Recoding } from "../../../shared/http/heads.ts";
import type { ImageFacts } from "../../../shared/web/image-facts.ts";

// Coders of pictures: the codecs in wasm, or a service of the platform. `ImageRecoder` says which picture, and how.

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

/** Pixels above which AVIF's encoder would take more than some 45 MB. */
const AVIF_PIXELS = 1_100_000;
/** Pixels above which a picture is left alone: decoded it has four bytes to each. The decoder of PNG gives none back. */
const MOST_PIXELS = { jpeg: 4_000_000, png: 1_500_000 };

/** A picture has to get this much smaller to be worth a change. */
const LEAST_GAIN = 0.1;

/** Nanoseconds a pixel that coding takes until it was measured: of a processor that is not quick. */
const FIRST_COST: Readonly<Record<Kind, number>> = { photo: 500, drawing: 800, large: 180 };
/** Milliseconds in which half of what was measured above that is forgotten: a moment that was busy passes. */
const HALF_FORGOTTEN = 30_000;

/** Milliseconds after which nobody seems to need the codecs. */
const IDLE_TIME = 5_000;

export interface RecodedImage {
  readonly type: `image/${Target}`;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Codes pictures anew, smaller: AVIF where its encoder has the memory, which at its quickest takes hardly longer than WebP
 * and gives less; WebP for larger ones. A browser sees the same number of pixels. What comes as PNG is taken for a drawing.
 */
export class ImageRecoder {
  readonly #codec: PictureCodec;
  readonly #time: Room;
  readonly #clock: Pick<Clock, "now" | "setTimer">;
  #cancelRest: () => void = () => {};
  readonly #measured = new Map<Kind, { readonly cost: number; readonly at: number }>();
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

  #ownTime(facts: ImageFacts): number {
    return (facts.width * facts.height * this.#cost(kindOf(facts))) / 1e6;
  }

  /** Nanoseconds a pixel. */
  #cost(kind: Kind): number {
    const measured = this.#measured.get(kind);
    const first = FIRST_COST[kind];
    if (measured === undefined || measured.cost <= first) return measured?.cost ?? first;
    return first + (measured.cost - first) * 0.5 ** ((this.#clock.now() - measured.at) / HALF_FORGOTTEN);
  }

  /** @param accept of the request. */
  canRecode(facts: ImageFacts, accept: string): boolean {
    const { isPlain, type } = facts;
    const pixels = facts.width * facts.height;
    if (!isPlain || (type !== "jpeg" && type !== "png") || pixels === 0 || pixels > MOST_PIXELS[type]) return false;
    return accept.includes(`image/${TARGETS[kindOf(facts)]}`);
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
    const kind = kindOf(facts);
    const bytes = await this.#codec.recode(picture, facts, { kind, recoding });
    this.#measure(facts, this.#clock.now() - startedAt);
    return bytes !== null && bytes.length <= picture.length * (1 - LEAST_GAIN)
      ? { type: `image/${TARGETS[kind]}`, bytes }
      : null;
  }

  #measure(facts: ImageFacts, milliseconds: number): void {
    const pixels = facts.width * facts.height;
    // Small pictures say little of the time per pixel, and a platform whose clock stands still while it computes says
    // nothing.
    if (pixels < 50_000 || milliseconds <= 0) return;
    const kind = kindOf(facts);
    const cost = Math.min((milliseconds * 1e6) / pixels, 10 * FIRST_COST[kind]);
    this.#measured.set(kind, { cost: (this.#cost(kind) + cost) / 2, at: this.#clock.now() });
  }
}

function kindOf({ type, width, height }: ImageFacts): Kind {
  if (width * height > AVIF_PIXELS) return "large";
  return type === "png" ? "drawing" : "photo";
}
