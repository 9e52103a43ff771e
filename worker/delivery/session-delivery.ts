/** All responses of one session: how each goes to the phone, and which pushes its document leads to. */
import type { Clock } from "../../shared/clock.ts";
import { isPushable, pushKey, type ServerRequest, type ServerResponse } from "../../shared/http/exchange.ts";
import type { RequestHead } from "../../shared/http/heads.ts";
import { isStoreNote } from "../../shared/http/phone-fields.ts";
import type { PhoneTraits } from "../../shared/http/phone-traits.ts";
import * as limits from "../../shared/limits.ts";
import type { MuxStream } from "../../shared/mux/stream/stream.ts";
import type { Priority } from "../../shared/wire/frame.ts";
import { type ObserveBody, pushObserver } from "../push/document-push.ts";
import { PushOrder, UnsentResponse } from "../push/push-order.ts";
import type { UpstreamResponse } from "../upstream/upstream.ts";
import { deliver } from "./deliver.ts";
import type { PhoneDictionaries } from "./dictionaries.ts";
import { type ImageStage, PixelReaders } from "./images/image-stage.ts";
import type { NamesStage } from "./names/names-stage.ts";
import { References } from "./references.ts";

/** Parts that all sessions of a phone share; null where the edge has none. */
export interface PhoneParts {
  readonly dictionaries: PhoneDictionaries | null;
  /** Changes pictures. */
  readonly images: ImageStage | null;
  /** Marks reads of scripts; null where the plan leaves no time for that. */
  readonly names: NamesStage | null;
  /** Knows requests for trackers: `handle` sends none of a phone that has them blocked. */
  readonly trackers: { isTracker(head: RequestHead): boolean } | null;
  /** By default as many as the protocol allows. */
  readonly pushes?: number | undefined;
}

/** Has a request of the phone answered, as `upstream` would. */
export type AskOrigin = (request: ServerRequest, phone: PhoneTraits) => Promise<UpstreamResponse>;

interface SessionDeliveryOptions extends Clock, Partial<PhoneParts> {
  /** A stream for a push, or null while there are as many as there may be. */
  readonly openPush: (priority: Priority) => MuxStream | null;
  readonly handle: AskOrigin;
  readonly phone: () => PhoneTraits;
  /** Whether the phone may have asked for the same before, of an edge that has forgotten it. */
  readonly isRepeat: () => boolean;
}

export class SessionDelivery {
  #options: SessionDeliveryOptions;
  #references: References;
  readonly #readers = new PixelReaders();
  /** Orders of documents that are not sent whole yet. */
  #orders = new Set<PushOrder>();
  /** Responses to pushes that were announced, by `pushKey`. */
  #unsent = new Map<string, UnsentResponse>();

  constructor(options: SessionDeliveryOptions) {
    this.#options = options;
    this.#references = new References(options.setTimer);
  }

  /** Answers a request that the phone made on `stream`. */
  answer(request: ServerRequest, stream: MuxStream): Promise<ServerResponse> {
    // Messages of a page's socket pass no stage.
    if (request.head.protocol !== undefined) return this.#ask(request);
    const { slotScheme, viewport, accept = {} } = this.#options.phone();
    if (slotScheme === undefined) return this.#fetch(request, null);
    if (!isResource(request.head)) {
      const observer = pushObserver(request, stream, {
        openPush: this.#options.openPush,
        most: this.#options.pushes ?? limits.pushesPerDocument,
        isUnwanted: (head: RequestHead) => this.#mayHold(head) || this.#isBlocked(onPageOf(request, head)),
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
    return taken ?? this.#fetch(request, null);
  }

  /** A stream of the session has ended, or was opened. */
  streamsChanged(): void {
    for (const order of this.#orders) {
      order.update();
      if (order.isOver) this.#orders.delete(order);
    }
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
      (request) => this.#fetch(request, observer),
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
    const phone = this.#options.phone();
    const { dictionaryKey, takesBrotli = false, images: wished } = phone;
    const { images, names } = this.#options;
    const wish = request.head.images ?? wished;
    const dictionary =
      dictionaryKey === undefined ? null : this.#options.dictionaries?.stagesFor(dictionaryKey, request.head);
    const response = await this.#ask(request);
    // No stage sees it. That a document has not changed is of interest all the same.
    if (response.body === null) observer?.(response.head)?.(null);
    return deliver(readable(response, phone), {
      request,
      observer: images && wished ? this.#readers.watching(request.head, observer) : observer,
      images:
        images && wish ? (each) => images.apply(each, request.head, this.#readers.wishFor(request.head, wish)) : null,
      setTimer: this.#options.setTimer,
      names: names ? (each) => names.apply(each, request.head) : null,
      refer: this.#references.refer,
      dictionary: dictionary ?? null,
      takesBrotli,
    });
  }

  /** Requests that follow a lost session say so, whether the phone does or not. */
  #ask(request: ServerRequest): Promise<UpstreamResponse> {
    const { handle, phone, isRepeat } = this.#options;
    if (!isRepeat()) return handle(request, phone());
    const delivery = { id: null, continuation: null, ...request.head.delivery, isRepeat: true };
    return handle({ ...request, head: { ...request.head, delivery } }, phone());
  }
}

/** The response without parts of its head that the phone would refuse, or show to its pages. */
function readable(response: UpstreamResponse, { hasStore, takesReasons }: PhoneTraits): UpstreamResponse {
  const { reason, ...others } = response.head;
  const head = takesReasons === true ? response.head : others;
  const headers = hasStore === true ? head.headers : head.headers.filter((field) => !isStoreNote(field));
  return { ...response, head: { ...head, headers } };
}

/** The request as the tunnel would send it for the page that `document` asks for. */
function onPageOf(document: ServerRequest, head: RequestHead): RequestHead {
  const { allowsTrackers, marksReads } = document.head;
  return {
    ...head,
    ...(allowsTrackers === true ? { allowsTrackers } : {}),
    ...(marksReads === true && head.destination === "script" ? { marksReads } : {}),
  };
}

/** Whether an element may load it, so that it could be pushed. */
function isResource({ method, mode, url }: RequestHead): boolean {
  return method === "GET" && mode !== "navigate" && /^https?:/.test(url);
}
