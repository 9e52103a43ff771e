/** All responses of one session: what becomes of each, what its document makes be pushed, and what pages have got. */

import type { Clock } from "../../shared/clock.ts";
import {
  isPushable,
  pushKey,
  type ServerRequest,
  type ServerResponse,
  type SlotScheme,
} from "../../shared/http/exchange.ts";
import type { ImageWish, RequestHead } from "../../shared/http/heads.ts";
import { type AcceptTable, isStoreNote, type Viewport } from "../../shared/http/phone-fields.ts";
import * as limits from "../../shared/limits.ts";
import type { MuxStream } from "../../shared/mux/stream/stream.ts";
import type { Priority } from "../../shared/wire/frame.ts";
import type { UpstreamResponse } from "../upstream/upstream.ts";
import { deliver } from "./deliver.ts";
import type { PhoneDictionaries } from "./dictionary/phone-dictionaries.ts";
import type { ImageStage } from "./images/image-stage.ts";
import { PixelReaders } from "./images/pixel-readers.ts";
import { DeliveredResources, type DeliveredSnapshot } from "./push/delivered-resources.ts";
import { pushObserver } from "./push/document-push.ts";
import { PushOrder } from "./push/push-order.ts";
import { UnsentResponse } from "./push/unsent-response.ts";
import { References } from "./reference/refer.ts";
import type { ObserveBody } from "./stage.ts";

/** What the phone has said of itself. */
export interface PhoneTraits {
  /** Scheme of the hosts that pages are on, where it takes pushes. */
  readonly slotScheme?: SlotScheme;
  readonly viewport?: Viewport;
  /** Whether it has a store, and keeps from its pages what is told to that. */
  readonly hasStore?: boolean;
  /** What its browser sends as `accept`, as far as it was announced. */
  readonly accept?: AcceptTable;
  /** Where it undoes `dcz`: what the edge seals with that it keeps of it. */
  readonly dictionaryKey?: Uint8Array<ArrayBuffer>;
  /** It undoes `br`. */
  readonly takesBrotli?: boolean;
  /** What it wants done to pictures, where a request does not say otherwise. */
  readonly images?: ImageWish;
  /** It wants no request to go to a tracker. */
  readonly blocksTrackers?: boolean;
}

/** What all sessions of a phone share; null where the edge has none. */
export interface PhoneParts {
  readonly dictionaries: PhoneDictionaries | null;
  /** Changes pictures. */
  readonly images: ImageStage | null;
  /** Knows requests for trackers: `handle` sends none of a phone that has them blocked. */
  readonly trackers: { isTracker(head: RequestHead): boolean } | null;
  /** By default as many as the protocol allows. */
  readonly pushes?: number | undefined;
}

/** As `upstream` answers it. */
export type AskOrigin = (request: ServerRequest) => Promise<UpstreamResponse>;

export interface SessionDeliveryOptions extends Clock, Partial<PhoneParts> {
  /** A stream for a push, or null while there are as many as there may be. */
  readonly openPush: (priority: Priority) => MuxStream | null;
  readonly handle: AskOrigin;
  readonly phone: () => PhoneTraits;
  readonly snapshot?: DeliveredSnapshot | undefined;
}

export class SessionDelivery {
  #options: SessionDeliveryOptions;
  #delivered: DeliveredResources;
  #references: References;
  readonly #readers = new PixelReaders();
  /** Orders of documents that are not sent whole yet. */
  #orders = new Set<PushOrder>();
  /** Responses to pushes that were announced, by `pushKey`. */
  #unsent = new Map<string, UnsentResponse>();

  constructor(options: SessionDeliveryOptions) {
    this.#options = options;
    this.#references = new References(options.setTimer);
    this.#delivered = new DeliveredResources(options.now, options.snapshot);
  }

  /** Answers a request that the phone made on `stream`. */
  answer(request: ServerRequest, stream: MuxStream): Promise<ServerResponse> {
    // What a socket says is as it is.
    if (request.head.protocol !== undefined) return this.#options.handle(request);
    const { slotScheme, viewport, accept = {} } = this.#options.phone();
    if (slotScheme === undefined) return this.#fetch(request, null);
    if (!isResource(request.head)) {
      const observer = pushObserver(request, stream, {
        openPush: this.#options.openPush,
        most: this.#options.pushes ?? limits.pushesPerDocument,
        isAtHand: (head: RequestHead) =>
          this.#mayHold(head) || this.#isBlocked(onPageOf(request, head)) || this.#delivered.isAtHand(head),
        offer: (pushed: ServerRequest, observed: ObserveBody | null) =>
          this.#offer({ ...pushed, head: onPageOf(request, pushed.head) }, observed),
        slotScheme,
        viewport,
        accept,
        openOrder: (document: MuxStream) => this.#openOrder(document),
      });
      return this.#fetch(request, observer);
    }
    const unsent =
      isPushable(request.head) && request.head.stored === undefined
        ? this.#unsent.get(pushKey(request.head))
        : undefined;
    const taken = unsent?.take(request.signal) ?? null;
    if (taken !== null) return taken;
    this.#delivered.asked(request.head);
    if (request.head.stored !== undefined) this.#delivered.stored(request.head);
    return this.#answerResource(request, null);
  }

  /** A stream of the session has ended, or was opened. */
  streamsChanged(): void {
    for (const order of this.#orders) {
      order.update();
      if (order.isOver) this.#orders.delete(order);
    }
  }

  snapshot(): DeliveredSnapshot {
    return this.#delivered.snapshot();
  }

  /** A picture that may be held back comes when it is asked for. */
  #mayHold({ destination }: RequestHead): boolean {
    return destination === "image" && (this.#options.phone().images?.most ?? null) !== null;
  }

  #isBlocked(head: RequestHead): boolean {
    return this.#options.phone().blocksTrackers === true && this.#options.trackers?.isTracker(head) === true;
  }

  #offer(pushed: ServerRequest, observer: ObserveBody | null): UnsentResponse {
    const key = pushKey(pushed.head);
    const unsent: UnsentResponse = new UnsentResponse(
      pushed,
      (request) => this.#answerResource(request, observer),
      () => {
        if (this.#unsent.get(key) === unsent) this.#unsent.delete(key);
      },
    );
    this.#unsent.set(key, unsent);
    return unsent;
  }

  #openOrder(document: MuxStream): PushOrder {
    const order = new PushOrder(document, this.#options.setTimer);
    this.#orders.add(order);
    return order;
  }

  async #fetch(request: ServerRequest, observer: ObserveBody | null): Promise<ServerResponse> {
    const { dictionaryKey, hasStore, takesBrotli = false, images: wished } = this.#options.phone();
    const { images } = this.#options;
    const wish = request.head.images ?? wished;
    const dictionary =
      dictionaryKey === undefined ? null : this.#options.dictionaries?.stagesFor(dictionaryKey, request.head);
    const response = await this.#options.handle(request);
    // No stage sees it. That a document has not changed is of interest all the same.
    if (response.body === null) observer?.(response.head)?.(null);
    return deliver(hasStore === true ? response : withoutNotes(response), {
      request,
      observer: images && wished ? this.#readers.watching(request.head, observer) : observer,
      images:
        images && wish ? (each) => images.apply(each, request.head, this.#readers.wishFor(request.head, wish)) : null,
      refer: this.#references.refer,
      dictionary: dictionary ?? null,
      takesBrotli,
    });
  }

  async #answerResource(request: ServerRequest, observer: ObserveBody | null): Promise<ServerResponse> {
    const response = await this.#fetch(request, observer);
    if (request.head.stored === undefined) this.#delivered.delivered(request.head, response.head);
    request.signal.addEventListener("abort", () => this.#delivered.undelivered(request.head));
    return response;
  }
}

function withoutNotes({ head, ...rest }: UpstreamResponse): UpstreamResponse {
  return { ...rest, head: { ...head, headers: head.headers.filter((field) => !isStoreNote(field)) } };
}

/** What the tunnel would say of a request of the page that `document` asks for. */
function onPageOf(document: ServerRequest, head: RequestHead): RequestHead {
  return document.head.allowsTrackers === true ? { ...head, allowsTrackers: true } : head;
}

/** What an element may load, so that it could be pushed. */
function isResource({ method, mode, url }: RequestHead): boolean {
  return method === "GET" && mode !== "navigate" && /^https?:/.test(url);
}
