import type { ResponseConsumer } from "../../../shared/http/exchange.ts";
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { Destination, ImageWish, RequestHead } from "../../../shared/http/heads.ts";
import { ORIGINAL, parseImageNote } from "../../../shared/http/phone-fields.ts";
import { isSameOrigin } from "../../../shared/web/origin.ts";
import { siteName } from "../../messages/site-name.ts";
import type { PageWaiting, PictureSettings, TrackerSettings } from "../../messages/tunnel-messages.ts";
import { type Answer, type Ask, type PhoneRequest, passingOn, type ResponseSource } from "../exchange/exchange.ts";

/** Milliseconds of a round trip from which on a link counts as slow. */
const SLOW_ROUND_TRIP = 150;

/** Part of the rest of a page's budget that one picture may take unseen. */
const SHARE = 0.25;
/** Bytes. */
const STEP = 5_000;

const FILMS: ReadonlySet<Destination> = new Set(["audio", "video"]);
const NO_FILM: ImageWish = { recoding: "none", most: 0 };

interface PictureHost {
  /** Milliseconds; null before the first. */
  roundTrip(): number | null;
  /** Bytes that the page on screen has got over the link. */
  pageBytes(): number;
}

/**
 * What is asked of the edge for each picture and film of a page, by the person's settings, what was tapped, and what scripts read;
 * and what of the page waits.
 */
export class PictureWishes {
  readonly #host: PictureHost;
  #settings: PictureSettings = { recoding: "none", budget: null, readers: [] };
  #readers = new Set<string>();
  /** Bytes that pictures under way may yet bring. */
  #promised = 0;
  /** What waits of the page on screen, by URL. Another page has another map: what is late counts for nobody. */
  #held = new Map<string, { readonly isFilm: boolean; readonly bytes: number }>();
  /** URL of the page of which all is to come. */
  #spared: string | null = null;

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

  /** A page begins. @param url real, without a fragment; null where nobody knows. */
  begin(url: string | null): void {
    this.#held = new Map();
    if (url !== this.#spared) this.#spared = null;
  }

  /** Nothing of this page waits any more, until another one begins. @param url as of `begin`. */
  spare(url: string): void {
    this.#spared = url;
  }

  /** What of the page on screen waits for the person. */
  get waiting(): PageWaiting {
    const all = [...this.#held.values()];
    const films = all.filter(({ isFilm }) => isFilm).length;
    const isKnown = all.every(({ bytes }) => bytes > 0);
    return {
      pictures: all.length - films,
      films,
      bytes: isKnown ? all.reduce((sum, { bytes }) => sum + bytes, 0) : 0,
    };
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
    const { wish } = this;
    const isFilm = FILMS.has(head.destination);
    const isPicture = head.destination === "image" && head.mode === "no-cors";
    if (wish === null || !(isFilm || isPicture)) return next(request, consumer);
    if (head.images !== undefined) {
      this.#held.delete(head.url);
      return next(request, consumer);
    }
    const most = this.#spared === null ? wish.most : null;
    if (isFilm) {
      if (most === null) return next(request, consumer);
      return next({ ...request, head: { ...head, images: NO_FILM } }, this.#noting(head, consumer));
    }
    if (isSameOrigin(head.origin, head.url) && this.#readers.has(head.origin ?? "")) {
      return next({ ...request, head: { ...head, images: ORIGINAL } }, consumer);
    }
    const asking = (images?: ImageWish): PhoneRequest => ({
      ...request,
      head: { ...head, ...(images === undefined ? {} : { images }), takesRecoded: true },
    });
    if (most !== null && most > 0) {
      return this.#askWithin(most, (share) => asking({ ...wish, most: share }), consumer, next);
    }
    // What holds for the whole session need not be said.
    return next(asking(most === wish.most ? undefined : { ...wish, most }), this.#noting(head, consumer));
  };

  /** Writes down what is held back. */
  #noting({ url, destination }: RequestHead, consumer: ResponseConsumer): ResponseConsumer {
    const held = this.#held;
    const isFilm = FILMS.has(destination);
    return passingOn(consumer, {
      onHead(response) {
        const note = parseImageNote(response.headers);
        if (note?.kind === "held") held.set(url, { isFilm, bytes: note.bytes });
        consumer.onHead(response);
      },
    });
  }

  /**
   * Several are asked for at once, and only the edge knows how large they are. So each gets a share of what is left; what is
   * held back for that, and would fit, is asked for once more.
   *
   * @param asking the request, with the most bytes that the picture may have.
   */
  #askWithin(budget: number, asking: (most: number) => PhoneRequest, consumer: ResponseConsumer, next: Ask): Answer {
    let promised = 0;
    const promise = (bytes: number): void => {
      this.#promised += bytes - promised;
      promised = bytes;
    };
    const left = () => Math.max(0, budget - this.#host.pageBytes() - this.#promised + promised);
    const ask = (most: number, isAgain: boolean): Answer => {
      promise(most);
      const request = asking(most);
      const noting = this.#noting(request.head, consumer);
      const own: Partial<ResponseConsumer> = {
        onHead: (response) => {
          const note = parseImageNote(response.headers);
          const bytes = note?.kind === "held" ? note.bytes : 0;
          if (!isAgain && bytes > 0 && inSteps(bytes + STEP) <= left()) {
            exchange.cancel();
            exchange = ask(inSteps(bytes + STEP), true);
            return;
          }
          promise(Number(headerValue(response.headers, "content-length") ?? most));
          noting.onHead(response);
        },
        onBody: (chunk) => {
          promise(Math.max(0, promised - chunk.length));
          return consumer.onBody(chunk);
        },
        onEnd: () => {
          promise(0);
          consumer.onEnd();
        },
        onError: (error) => {
          promise(0);
          consumer.onError(error);
        },
      };
      return next(request, passingOn(consumer, own));
    };
    let exchange = ask(inSteps(left() * SHARE), false);
    return {
      ...exchange,
      cancel() {
        promise(0);
        exchange.cancel();
      },
    };
  }
}

/** The same words go over the link again and again. */
function inSteps(bytes: number): number {
  return Math.floor(bytes / STEP) * STEP;
}

/** Which requests may go to trackers: by the person's settings, those of all pages, of no page, or of some sites' pages. */
export class TrackerWishes {
  #settings: TrackerSettings = { areBlocked: false, exceptions: [] };

  set(settings: TrackerSettings): void {
    this.#settings = settings;
  }

  /** What the session says: it holds for all requests that do not say otherwise. */
  get areBlocked(): boolean {
    return this.#settings.areBlocked;
  }

  readonly source: ResponseSource = (request, consumer, next) =>
    next({ ...request, head: this.marked(request.head) }, consumer);

  /** The request as the edge gets it. */
  marked(head: RequestHead): RequestHead {
    const { areBlocked, exceptions } = this.#settings;
    const isException = areBlocked && exceptions.includes(siteName(head.topLevelOrigin));
    return isException ? { ...head, allowsTrackers: true } : head;
  }
}

/** Says with navigations that their page runs no scripts, so that nothing comes for those. */
export class ScriptlessPages {
  /** Null: no page runs scripts. */
  #sites: ReadonlySet<string> | null = new Set();

  /** @param sites by `siteName`; null where no page runs scripts. */
  set(sites: readonly string[] | null): void {
    this.#sites = sites && new Set(sites);
  }

  readonly source: ResponseSource = (request, consumer, next) => {
    const { head } = request;
    const isScriptless = head.mode === "navigate" && (this.#sites?.has(siteName(head.topLevelOrigin)) ?? true);
    return next(isScriptless ? { ...request, head: { ...head, isScriptless } } : request, consumer);
  };
}

/** A page that the person loads anew, with all that belongs to it: nothing that is stored counts. */
export class HardReload {
  /** Real, without a fragment; null where no page is loaded so. */
  #url: string | null = null;

  /** @param url of the page; null: it is there, and what it asks for from now on is asked for as ever. */
  set(url: string | null): void {
    this.#url = url;
  }

  /** @param url of the page that begins, as of `page-begins`: this one, or one that ends it. */
  pageBegins(url: string | null): void {
    if (url !== this.#url) this.#url = null;
  }

  /** Comes before all that could answer with what is stored. */
  readonly source: ResponseSource = (request, consumer, next) =>
    next({ ...request, head: this.marked(request.head) }, consumer);

  marked(head: RequestHead): RequestHead {
    const isOfPage = this.#url !== null && head.topLevelOrigin === new URL(this.#url).origin;
    // Who asks the store alone gets its answer, and what was not to be stored is not.
    const isChanged = isOfPage && head.cache !== "only-if-cached" && head.cache !== "no-store";
    return isChanged ? { ...head, cache: "reload" } : head;
  }
}
