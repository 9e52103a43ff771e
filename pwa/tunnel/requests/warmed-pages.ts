/**
 * Pages that links of the page shown lead to, fetched while nothing else is asked for, if the person has chosen that. The
 * edge asks for them as a stranger (PROTOCOL.md section 5.4), so they are shown to nobody whom the site may know.
 */
import type { Clock } from "../../../shared/clock.ts";
import { ErrorCode, type RopewayError } from "../../../shared/errors.ts";
import type { ClientExchange } from "../../../shared/http/exchange.ts";
import { EDGE_SCHEME, headerValue } from "../../../shared/http/head-fields.ts";
import type { RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { areMaybeSameSite, parseUrl } from "../../../shared/web/origin.ts";
import {
  type Ask,
  type ClaimedPush,
  edgeRequest,
  type PhoneRequest,
  passingOn,
  type ResponseSource,
  readWhole,
  tellingOver,
} from "../exchange/exchange.ts";
import { HeldResponse, HeldResponses } from "./held-responses.ts";

/** Links that are warmed for one page. */
export const LINKS_WARMED = 3;
/** Milliseconds in which nothing is under way before the first is fetched. */
export const IDLE_TIME = 2000;
/** Milliseconds that browsers keep what they prefetch. */
export const WARMED_TIME = 300_000;
/** Bytes, unpacked; the edge sends none of which it knows that it is above 200 KB as its origin codes it. */
const WARMED_BYTES = 600_000;

interface WarmedPlatform extends Pick<Clock, "setTimer"> {
  readonly ask: Ask;
  /** Whether scripts of a document with this head are known to have no cookies. */
  hasNoCookies(head: Pick<RequestHead, "url" | "topLevelOrigin">): boolean;
}

/** Answers as a push does, so that the sources that are asked after it may take a copy. */
class WarmedPage extends HeldResponse implements ClaimedPush {
  readonly session = { wasCarried: true };
  readonly url: string;

  constructor(url: string, response: ResponseHead, body: Uint8Array) {
    super();
    this.url = url;
    this.onHead({ ...response, url });
    if (body.length > 0) void this.onBody(body);
    this.onEnd();
  }
}

export class WarmedPages {
  readonly #platform: WarmedPlatform;
  readonly #pages: HeldResponses<WarmedPage>;
  /** Links of the page shown that are still to be fetched. */
  #links: readonly string[] = [];
  #wasAsked = false;
  /** The page shown has said that robots are not to follow its links. */
  #forbids = false;
  #underWay = 0;
  #fetching: ClientExchange | null = null;
  #cancelTimer: () => void = () => {};
  #counters = { pagesWarmed: 0, pagesWarmedUsed: 0 };

  constructor(platform: WarmedPlatform) {
    this.#platform = platform;
    this.#pages = new HeldResponses(platform, WARMED_TIME);
  }

  get stats() {
    return this.#counters;
  }

  /** @param links of the page of this URL, the likeliest first. Once for each page. */
  warm(page: string, links: readonly string[]): void {
    if (this.#wasAsked || this.#forbids) return;
    this.#wasAsked = true;
    this.#links = links.filter((link) => mayWarm(link, page)).slice(0, LINKS_WARMED);
    this.#startSoon();
  }

  readonly source: ResponseSource = (request, consumer, next) => {
    const { head } = request;
    if (head.url === EdgeRequest.WARMED_PAGE) return next(request, consumer);
    this.#pause();
    const isPage = head.mode === "navigate" && head.destination === "document";
    const push = isPage ? this.#claim(request) : null;
    if (isPage) this.#leave();
    else this.#dropWhatMayDiffer(head);
    this.#underWay += 1;
    const asked = tellingOver(next, () => {
      this.#underWay -= 1;
      this.#startSoon();
    });
    const onHead = (response: ResponseHead): void => {
      if (isPage) this.#forbids = saysNoFollow(response);
      consumer.onHead(response);
    };
    return asked(push === null ? request : { ...request, push }, passingOn(consumer, { onHead }));
  };

  #claim({ head, body, push }: PhoneRequest): WarmedPage | null {
    const origin = parseUrl(head.url)?.origin;
    const isOwn = head.method === "GET" && body === null && head.origin === origin && head.topLevelOrigin === origin;
    const isSignedIn = head.headers.some(([name]) => name === "authorization");
    const isPlain = push === null && (head.cache ?? "default") === "default" && !isSignedIn;
    if (!isOwn || !isPlain || !this.#platform.hasNoCookies(head)) return null;
    const page = this.#pages.claim(head.url);
    if (page !== null) this.#counters.pagesWarmedUsed += 1;
    return page;
  }

  /** Another page comes. */
  #leave(): void {
    this.#pages.drop(() => true);
    this.#links = [];
    this.#wasAsked = false;
    this.#forbids = false;
  }

  /** The answer may bring cookies that the page would be asked for with. */
  #dropWhatMayDiffer({ url, credentials }: RequestHead): void {
    const isToEdge = url.startsWith(EDGE_SCHEME);
    this.#pages.drop((page) => isToEdge || (credentials !== "omit" && areMaybeSameSite(url, page.url)));
  }

  #pause(): void {
    this.#cancelTimer();
    this.#fetching?.cancel();
    this.#fetching = null;
  }

  #startSoon(): void {
    this.#cancelTimer();
    if (this.#underWay > 0 || this.#links.length === 0) return;
    this.#cancelTimer = this.#platform.setTimer(() => void this.#fetchNext(), IDLE_TIME);
  }

  async #fetchNext(): Promise<void> {
    const [url, ...rest] = this.#links;
    this.#links = rest;
    if (url === undefined || this.#forbids) return;
    const { origin } = new URL(url);
    if (!this.#platform.hasNoCookies({ url, topLevelOrigin: origin })) return;
    const message = { method: "GET", url: EdgeRequest.WARMED_PAGE, origin, topLevelOrigin: origin };
    const head = edgeRequest({ ...message, headers: [["document-url", url]] });
    const ask: Ask = (request, consumer) => {
      this.#fetching = this.#platform.ask(request, consumer);
      return this.#fetching;
    };
    try {
      const { response, body } = await readWhole(ask, head, WARMED_BYTES);
      if (response.status === 200) {
        this.#counters.pagesWarmed += 1;
        this.#pages.hold(url, new WarmedPage(url, response, body));
      }
    } catch (error) {
      // A former release of the edge.
      if ((error as RopewayError).code === ErrorCode.PROTOCOL_ERROR) this.#links = [];
    }
    this.#fetching = null;
    await this.#fetchNext();
  }
}

function mayWarm(link: string, page: string): boolean {
  const url = parseUrl(link);
  const here = parseUrl(page);
  if (url === null || here === null || url.origin !== here.origin) return false;
  return url.href === link && url.search === "" && url.hash === "" && url.pathname !== here.pathname;
}

/** X-Robots-Tag, of whatever robot. */
function saysNoFollow({ headers }: ResponseHead): boolean {
  return /\b(?:nofollow|none)\b/i.test(headerValue(headers, "x-robots-tag") ?? "");
}
