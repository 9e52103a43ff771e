/** The phone's end of a session without a browser or a socket: sends requests and gives back what came of them. */

import {
  ACCEPT_ENCODING,
  LINK_DECODERS,
  type LinkDecoders,
  type OpenDecoder,
} from "../../shared/coding/link-coding.ts";
import type { RopewayError } from "../../shared/errors.ts";
import {
  ACCEPT_PUSH,
  type ClientExchange,
  fieldsToPush,
  type ResponseConsumer,
  receivePush,
  startExchange,
} from "../../shared/http/exchange.ts";
import type { HeaderField, HeaderList, RequestHead, ResponseHead } from "../../shared/http/heads.ts";
import { type AcceptTable, acceptToFields } from "../../shared/http/phone-fields.ts";
import * as limits from "../../shared/limits.ts";
import { Session } from "../../shared/mux/session/session.ts";
import type { MuxStream } from "../../shared/mux/stream/stream.ts";
import { navigation } from "../../shared/testing/http/request-heads.ts";
import { PendingTransport } from "../../shared/transport.ts";
import { concat, SESSION_ID_BYTES } from "../../shared/wire/frame.ts";

export interface TestResponse {
  readonly head: ResponseHead;
  readonly body: Uint8Array;
  readonly text: string;
}

export interface TestRequest extends Partial<RequestHead> {
  readonly body?: ReadableStream<Uint8Array> | string | null;
  /** Told of each chunk as it comes; what it returns is waited for. */
  readonly onChunk?: (chunk: Uint8Array) => Promise<void> | undefined;
}

export interface TestExchange {
  readonly head: Promise<ResponseHead>;
  readonly response: Promise<TestResponse>;
  cancel(): void;
}

/** What the edge pushed. */
export interface TestPush extends TestExchange {
  readonly request: RequestHead;
  /** As when a page asks for it: it may be as long as any. */
  claim(): void;
}

export class PhoneSession {
  readonly session: Session;
  /** Why the session ended, once it did. */
  ended: RopewayError | null = null;
  /** In the order in which they were announced. */
  readonly pushes: TestPush[] = [];
  #userAgent: string;
  #decoders: LinkDecoders = LINK_DECODERS;

  /** @param credit bytes that it takes at once, whatever it measures. */
  constructor(userAgent = "TestPhone/1", credit: number | null = null) {
    this.#userAgent = userAgent;
    this.session = new Session({
      role: "phone",
      sessionId: crypto.getRandomValues(new Uint8Array(SESSION_ID_BYTES)),
      experiment: credit === null ? {} : { credit },
      // Acknowledges at rest at once.
      setTimer(task) {
        queueMicrotask(task);
        return () => {};
      },
      handler: {
        onEnd: (error) => {
          this.ended = error;
        },
        onPush: (stream) => this.#takePush(stream),
      },
    });
    this.#introduce();
  }

  /** From here on the edge may push. @param accept of this phone's browser, where it is not Chromium's. */
  askForPushes(accept: AcceptTable = {}): void {
    this.#introduce([ACCEPT_PUSH, "http"], ...acceptToFields(accept));
  }

  /** From here on bodies may come in brotli. @param more of the session's head. */
  takeBrotli(decoder: OpenDecoder, ...more: HeaderField[]): void {
    this.#decoders = { ...LINK_DECODERS, br: decoder };
    this.#introduce([ACCEPT_ENCODING, "br"], ...more);
  }

  #introduce(...more: HeaderField[]): void {
    this.session.sendSessionHead([["user-agent", this.#userAgent], ["accept-language", "en"], ...more]);
  }

  #takePush(stream: MuxStream): void {
    const onHead = (fields: HeaderList): void => {
      const { head: request } = fieldsToPush(fields);
      const { consumer, ...received } = receiver();
      const { cancel } = receivePush(stream, request.url, consumer, this.#decoders);
      this.pushes.push({ request, ...received, cancel, claim: () => stream.widen() });
    };
    stream.handler = { onHead, onData() {}, onEnd() {}, onReset() {} };
  }

  /** First message of a link that carries a request of this URL alone: nobody hears the answer. */
  async openingFor(url: string, body: string | null = null): Promise<Uint8Array> {
    const method = body === null ? "GET" : "POST";
    this.fetch(url, { method, body }).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 0));
    const transport = new PendingTransport();
    this.session.channel.attach(transport);
    this.session.channel.flush();
    return transport.takeOpening(limits.openingBytes) ?? new Uint8Array(0);
  }

  /** The whole response. Rejects with the exchange's RopewayError. */
  async fetch(url: string, request: TestRequest = {}): Promise<TestResponse> {
    return (await this.start(url, request)).response;
  }

  /** Resolves when the request was handed to the session. */
  async start(url: string, request: TestRequest = {}): Promise<TestExchange> {
    const { body = null, onChunk, ...head } = request;
    const stream = await this.session.streams.open();
    const { consumer, ...received } = receiver(onChunk);
    const exchange: ClientExchange = startExchange(
      stream,
      { ...navigation(url), ...head },
      typeof body === "string" ? streamOf(new TextEncoder().encode(body)) : body,
      consumer,
      this.#decoders,
    );
    return { ...received, cancel: () => exchange.cancel() };
  }
}

/** A consumer, and what it will have got. */
function receiver(onChunk?: TestRequest["onChunk"]): Omit<TestExchange, "cancel"> & { consumer: ResponseConsumer } {
  const headArrived = Promise.withResolvers<ResponseHead>();
  const ended = Promise.withResolvers<TestResponse>();
  headArrived.promise.catch(() => {});
  ended.promise.catch(() => {});
  const chunks: Uint8Array[] = [];
  const consumer: ResponseConsumer = {
    onHead: headArrived.resolve,
    onBody(chunk) {
      chunks.push(chunk);
      return onChunk?.(chunk);
    },
    async onEnd() {
      const whole = concat(...chunks);
      ended.resolve({ head: await headArrived.promise, body: whole, text: new TextDecoder().decode(whole) });
    },
    onError(error) {
      headArrived.reject(error);
      ended.reject(error);
    },
  };
  return { head: headArrived.promise, response: ended.promise, consumer };
}

export function streamOf(...chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const left = [...chunks];
  return new ReadableStream({
    pull(controller) {
      const chunk = left.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
  });
}
