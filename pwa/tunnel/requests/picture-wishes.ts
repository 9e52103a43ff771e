/** What is asked of the edge for each picture of a page: by the person's settings, what was tapped, and what scripts read. */
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { ImageWish } from "../../../shared/http/heads.ts";
import { ORIGINAL } from "../../../shared/http/image-wish.ts";
import { isSameOrigin } from "../../../shared/web/origin.ts";
import type { PictureSettings } from "../../messages/tunnel-messages.ts";
import { passingOn, type ResponseSource } from "./response-source.ts";

/** Milliseconds of a round trip from which on a link counts as slow. */
const SLOW_ROUND_TRIP = 150;

/** Part of the rest of a page's budget that one picture may take: several are asked for at once. */
const SHARE = 0.25;

export interface PictureHost {
  /** Milliseconds; null before the first. */
  roundTrip(): number | null;
  /** Bytes that the page on screen has got over the link. */
  pageBytes(): number;
}

export class PictureWishes {
  readonly #host: PictureHost;
  #settings: PictureSettings = { recoding: "none", budget: null, readers: [] };
  #readers = new Set<string>();
  /** Bytes that pictures under way may yet bring. */
  #promised = 0;

  constructor(host: PictureHost) {
    this.#host = host;
  }

  set(settings: PictureSettings): void {
    this.#settings = settings;
    this.#readers = new Set([...this.#readers, ...settings.readers]);
  }

  /** Scripts of this origin put pictures where they can read their pixels: it gets those of its own as they are. */
  addReader(origin: string): void {
    this.#readers.add(origin);
  }

  /** The wish for the whole session; null where all is to come as it is. */
  get wish(): ImageWish | null {
    const { recoding: chosen, budget } = this.#settings;
    const isSlow = (this.#host.roundTrip() ?? 0) >= SLOW_ROUND_TRIP;
    const recoding = chosen !== "auto" ? chosen : isSlow ? "balanced" : "none";
    return recoding === "none" && budget === null ? null : { recoding, most: budget };
  }

  /** Comes before all that could answer with another picture than is wished. */
  readonly source: ResponseSource = (request, consumer, next) => {
    const { head } = request;
    const wish = this.wish;
    if (wish === null || head.destination !== "image" || head.mode !== "no-cors" || head.images !== undefined) {
      return next(request, consumer);
    }
    if (isSameOrigin(head.origin, head.url) && this.#readers.has(head.origin ?? "")) {
      return next({ ...request, head: { ...head, images: ORIGINAL } }, consumer);
    }
    const { most } = wish;
    if (most === null || most === 0) return next({ ...request, head: { ...head, takesRecoded: true } }, consumer);
    let promised = 0;
    const promise = (bytes: number): void => {
      this.#promised += bytes - promised;
      promised = bytes;
    };
    const left = Math.max(0, most - this.#host.pageBytes() - this.#promised);
    // In steps, so that the same words go over the link again and again.
    const share = Math.floor((left * SHARE) / 5_000) * 5_000;
    promise(share);
    const asking = { ...head, images: { ...wish, most: share }, takesRecoded: true };
    const exchange = next(
      { ...request, head: asking },
      passingOn(consumer, {
        onHead: (response) => {
          promise(Number(headerValue(response.headers, "content-length") ?? share));
          consumer.onHead(response);
        },
        onEnd: () => {
          promise(0);
          consumer.onEnd();
        },
        onError: (error) => {
          promise(0);
          consumer.onError(error);
        },
      }),
    );
    return {
      ...exchange,
      cancel() {
        promise(0);
        exchange.cancel();
      },
    };
  };
}
