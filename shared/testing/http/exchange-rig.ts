import type { RopewayError } from "../../errors.ts";
import {
  type ClientExchange,
  type RequestHandler,
  type ResponseConsumer,
  type ServerRequest,
  serveExchange,
  startExchange,
} from "../../http/exchange.ts";
import type { RequestHead, ResponseHead } from "../../http/heads.ts";
import type { MuxStream } from "../../mux/stream/stream.ts";
import { type LinkedSessions, linkSessions } from "../mux/linked-sessions.ts";
import { requestHead } from "./request-heads.ts";

export const responseHead: ResponseHead = {
  status: 200,
  headers: [],
  url: "https://a.example/",
  redirected: false,
  coding: "identity",
  scriptCookies: [],
};

/** A consumer that writes down what it is told, and takes bytes at once unless it is made slow. */
export class ConsumerLog implements ResponseConsumer {
  readonly events: string[] = [];
  readonly chunks: Uint8Array[] = [];
  head: ResponseHead | null = null;
  error: RopewayError | null = null;
  bytes = 0;
  /** Given, what `onBody` waits for. */
  pace: (() => Promise<void>) | null = null;
  readonly over: Promise<void>;
  #settle: () => void = () => {};

  constructor() {
    this.over = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  onHead(head: ResponseHead): void {
    this.head = head;
    this.events.push("head");
  }

  onBody(chunk: Uint8Array): Promise<void> | undefined {
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    return this.pace?.();
  }

  onEnd(): void {
    this.events.push("end");
    this.#settle();
  }

  onError(error: RopewayError): void {
    this.error = error;
    this.events.push("error");
    this.#settle();
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString();
  }
}

export interface ExchangeRig extends LinkedSessions {
  /** What the edge was asked, in order. */
  readonly requests: ServerRequest[];
  fetch(
    head?: Partial<RequestHead>,
    body?: ReadableStream<Uint8Array> | null,
    consumer?: ConsumerLog,
  ): { consumer: ConsumerLog; exchange: ClientExchange; stream: MuxStream };
}

/** A phone that makes requests of an edge that answers them by `handle`, over a live link. */
export function exchangeRig(handle: RequestHandler): ExchangeRig {
  const requests: ServerRequest[] = [];
  const linked = linkSessions({
    edge: {
      onStream: (stream) =>
        serveExchange(stream, (request) => {
          requests.push(request);
          return handle(request);
        }),
    },
  });
  return Object.assign(linked, {
    requests,
    fetch(
      head: Partial<RequestHead> = {},
      body: ReadableStream<Uint8Array> | null = null,
      consumer = new ConsumerLog(),
    ) {
      const stream = linked.phone.streams.openNow();
      return { consumer, stream, exchange: startExchange(stream, { ...requestHead, ...head }, body, consumer) };
    },
  });
}

/** A body of so many bytes in chunks, made as it is read. */
export class CountedBody {
  readonly stream: ReadableStream<Uint8Array>;
  /** Bytes read so far. */
  read = 0;
  cancelled: unknown = null;

  constructor(bytes: number, chunkBytes = 16_384) {
    this.stream = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          const length = Math.min(chunkBytes, bytes - this.read);
          if (length === 0) return controller.close();
          this.read += length;
          controller.enqueue(new Uint8Array(length));
        },
        cancel: (reason) => {
          this.cancelled = reason ?? "no reason";
        },
      },
      { highWaterMark: 0 },
    );
  }
}

export function bodyOf(text: string): ReadableStream<Uint8Array> {
  return new Blob([text]).stream();
}
