import type { Clock } from "../../../shared/clock.ts";
import type { ResponseConsumer } from "../../../shared/http/exchange.ts";
import { contentLength } from "../../../shared/http/head-fields.ts";
import type { Destination, ImageWish, RequestHead } from "../../../shared/http/heads.ts";
import { ORIGINAL, parseImageNote } from "../../../shared/http/phone-fields.ts";
import { isSameOrigin } from "../../../shared/web/origin.ts";
import { type PageWaiting, siteName, type TunnelSettings } from "../../messages/tunnel-messages.ts";
import { type Answer, type Ask, type PhoneRequest, passingOn, type ResponseSource } from "../exchange/exchange.ts";
import { HeldResponse } from "./held-responses.ts";

/** Milliseconds of a round trip from which on a link counts as slow. */
const SLOW_ROUND_TRIP = 150;

/** Part of the rest of a page's budget that one picture may take unseen. */
const SHARE = 0.25;
/** Bytes. */
const STEP = 5_000;
/** Milliseconds that a picture waits for those under way: the origin of another may never end its answer. */
const PATIENCE = 10_000;

const FILMS: ReadonlySet<Destination> = new Set(["audio", "video"]);
const NO_FILM: ImageWish = { recoding: "none", most: 0 };

/** A picture that the edge holds back, and that may fit when those under way have come. */
interface Waiting {
  /** Bytes that it needs. */
  readonly bytes: number;
  /** Bytes that the page may have. */
  readonly budget: number;
  readonly decide: (fits: boolean) => void;
}

interface WishHost extends Pick<Clock, "setTimer"> {
  /** Milliseconds; null before the first. */
  roundTrip(): number | null;
  /** Bytes that the page on screen has got over the link. */
  pageBytes(): number;
}

/** The person's settings that requests say. */
export type WishSettings = Pick<TunnelSettings, "pictures" | "trackers" | "savesData" | "scriptless">;

/**
 * All that the person wants of requests: whether they may go to trackers, how large pictures and films may be, whether
 * pages run scripts, whether a page is loaded anew. The wishes go onto the head of each request: of a slot's
 * port, of the shell with a navigation, or of the address bar for an icon.
 */
export class Wishes {
  readonly #host: WishHost;
  #settings: WishSettings = {
    pictures: { recoding: "none", budget: null, readers: [] },
    trackers: { areBlocked: false, exceptions: [] },
    savesData: false,
    scriptless: [],
  };
  /** Origins whose scripts put pictures where they can read their pixels: they get those of their own as they are. */
  readonly #readers = new Set<string>();
  /** Bytes that pictures under way may yet bring. */
  #promised = 0;
  readonly #waiting = new Set<Waiting>();
  /** Pictures and films of the page on screen that wait, by URL. Each page has its own map: late notes count for none. */
  #held = new Map<string, { readonly isFilm: boolean; readonly bytes: number }>();
  /** URL of the page of which all is to come. */
  #spared: string | null = null;
  /** URL of the page that is loaded anew, with all that belongs to it: nothing that is stored counts. */
  #reloaded: string | null = null;

  constructor(host: WishHost) {
    this.#host = host;
  }

  set(change: Partial<WishSettings>): void {
    this.#settings = { ...this.#settings, ...change };
    for (const origin of change.pictures?.readers ?? []) this.#readers.add(origin);
  }

  /** Scripts of this origin put pictures where they can read their pixels. */
  addReader(origin: string): void {
    this.#readers.add(origin);
  }

  /**
   * A page begins. A reload goes on if it is that page.
   *
   * @param url real, without a fragment, as all URLs of pages here; null where nobody knows.
   */
  begin(url: string | null): void {
    // Pictures of the page that is left get nothing of the next page's budget.
    for (const { decide } of this.#waiting) decide(false);
    this.#held = new Map();
    if (url !== this.#spared) this.#spared = null;
    if (url !== this.#reloaded) this.#reloaded = null;
  }

  /** Nothing of this page waits any more, until another one begins. */
  spare(url: string): void {
    this.#spared = url;
    this.#decide();
  }

  /** @param url of a page; null: it is there, and what it asks for from now on is asked for as ever. */
  reload(url: string | null): void {
    this.#reloaded = url;
  }

  /** The session's wishes: they hold for all requests that do not say otherwise. */
  get ofSession() {
    const { trackers, savesData } = this.#settings;
    return { images: this.wish, blocksTrackers: trackers.areBlocked, savesData };
  }

  /** Pictures and films of the page on screen that wait for the person. */
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

  /** The wish for all pictures of the session; null where all is to come as it is. */
  get wish(): ImageWish | null {
    const { recoding: chosen, budget } = this.#settings.pictures;
    const isSlow = (this.#host.roundTrip() ?? 0) >= SLOW_ROUND_TRIP;
    const recoding = chosen !== "auto" ? chosen : isSlow ? "balanced" : "none";
    return recoding === "none" && budget === null ? null : { recoding, most: budget };
  }

  /**
   * The head with all that the person wants of the request.
   *
   * @param isIcon of a site, for which no placeholder may stand.
   */
  marked(head: RequestHead, isIcon = false): RequestHead {
    const { trackers, scriptless } = this.#settings;
    const site = siteName(head.topLevelOrigin);
    const isOfReload = this.#reloaded !== null && head.topLevelOrigin === new URL(this.#reloaded).origin;
    const marks: Partial<RequestHead> = {
      ...(trackers.areBlocked && trackers.exceptions.includes(site) ? { allowsTrackers: true } : {}),
      ...(head.mode === "navigate"
        ? scriptless?.includes(site) !== false
          ? { isScriptless: true }
          : { marksReads: true }
        : {}),
      // A request to the store alone gets the store's answer, and a `no-store` response is not stored.
      ...(isOfReload && head.cache !== "only-if-cached" && head.cache !== "no-store" ? { cache: "reload" } : {}),
      ...this.#pictureMarks(head, isIcon),
    };
    return Object.keys(marks).length === 0 ? head : { ...head, ...marks };
  }

  #pictureMarks(head: RequestHead, isIcon: boolean): Pick<RequestHead, "images" | "takesRecoded"> {
    const { wish } = this;
    if (wish === null || head.images !== undefined) return {};
    if (isIcon) return { images: ORIGINAL };
    const most = this.#mostOf(wish);
    if (isFilm(head)) return most === null ? {} : { images: NO_FILM };
    if (!isPicture(head)) return {};
    if (isSameOrigin(head.origin, head.url) && this.#readers.has(head.origin ?? "")) return { images: ORIGINAL };
    // The session has said its own wish already.
    return most === wish.most ? { takesRecoded: true } : { images: { ...wish, most }, takesRecoded: true };
  }

  /** Bytes that pictures and films of the page on screen may have; null for any number. */
  #mostOf({ most }: ImageWish): number | null {
    return this.#spared === null ? most : null;
  }

  /** Comes before all that could answer with another response than is wished. */
  readonly source: ResponseSource = (request, consumer, next) => {
    const { wish } = this;
    const head = this.marked(request.head);
    const asking = { ...request, head };
    if (wish === null || !(isFilm(head) || isPicture(head))) return next(asking, consumer);
    if (request.head.images !== undefined) this.#held.delete(head.url);
    if (request.head.images !== undefined || head.images === ORIGINAL) return next(asking, consumer);
    const most = this.#mostOf(wish);
    if (isFilm(head) || most === null || most === 0) return next(asking, this.#noting(head, consumer));
    const within = (share: number) => ({ ...asking, head: { ...head, images: { ...wish, most: share } } });
    return this.#askWithin(most, within, consumer, next);
  };

  /** Writes down what is held back. */
  #noting(head: RequestHead, consumer: ResponseConsumer): ResponseConsumer {
    const held = this.#held;
    return passingOn(consumer, {
      onHead(response) {
        const note = parseImageNote(response.headers);
        if (note?.kind === "held") held.set(head.url, { isFilm: isFilm(head), bytes: note.bytes });
        consumer.onHead(response);
      },
    });
  }

  /**
   * Several pictures are asked for at once, and only the edge knows how large they are. So each gets a share of the rest. A
   * picture that is held back for that waits until those under way leave room for it, and is asked for once more; or until
   * they have come and left none.
   *
   * @param asking the request, with the most bytes that the picture may have.
   */
  #askWithin(budget: number, asking: (most: number) => PhoneRequest, consumer: ResponseConsumer, next: Ask): Answer {
    let promised = 0;
    const promise = (bytes: number, hasFailed?: boolean): void => {
      this.#promised += bytes - promised;
      promised = bytes;
      // When the link is lost, all requests fail, one after the other: no new one is made meanwhile.
      if (!hasFailed) this.#decide();
    };
    let giveUp = (): void => {};
    /** @returns where the answer goes until it is decided. */
    const wait = (bytes: number, to: ResponseConsumer): ResponseConsumer => {
      const held = new HeldResponse();
      const decide = (fits: boolean): void => {
        giveUp();
        if (!fits) return held.attach(to);
        exchange.cancel();
        exchange = ask(bytes, true);
      };
      giveUp = this.#wait({ bytes, budget, decide });
      promise(0);
      return held;
    };
    const ask = (most: number, isAgain: boolean): Answer => {
      promise(most);
      const request = asking(most);
      let to = this.#noting(request.head, consumer);
      return next(request, {
        onHead(response) {
          const note = parseImageNote(response.headers);
          const bytes = note?.kind === "held" ? note.bytes : 0;
          if (isAgain || bytes === 0) promise(contentLength(response.headers) ?? most);
          else to = wait(inSteps(bytes + STEP), to);
          to.onHead(response);
        },
        onBody(chunk) {
          promise(Math.max(0, promised - chunk.length));
          return to.onBody(chunk);
        },
        onEnd() {
          promise(0);
          to.onEnd();
        },
        onError(error) {
          promise(0, true);
          to.onError(error);
        },
      });
    };
    let exchange = ask(inSteps(Math.max(0, budget - this.#host.pageBytes() - this.#promised) * SHARE), false);
    return {
      cancel() {
        giveUp();
        promise(0);
        exchange.cancel();
      },
    };
  }

  /** @returns gives the place up. */
  #wait(waiting: Waiting): () => void {
    this.#waiting.add(waiting);
    const stop = this.#host.setTimer(() => waiting.decide(false), PATIENCE);
    return () => {
      this.#waiting.delete(waiting);
      stop();
    };
  }

  /**
   * Asks for the pictures that fit now, and gives up those that cannot fit. The link counts bytes before their pictures have
   * them: so a picture that seems not to fit may do so later, as long as other pictures are under way.
   */
  #decide(): void {
    for (const { bytes, budget, decide } of this.#waiting) {
      const room = budget - this.#host.pageBytes();
      const fits = this.#spared !== null || bytes <= room - this.#promised;
      if (fits || bytes > room || !this.#promised) decide(fits);
    }
  }
}

/** The same words go over the link again and again. */
function inSteps(bytes: number): number {
  return Math.floor(bytes / STEP) * STEP;
}

const isFilm = ({ destination }: RequestHead): boolean => FILMS.has(destination);

const isPicture = ({ destination, mode }: RequestHead): boolean => destination === "image" && mode === "no-cors";
