/** A document on its way to a phone that takes pushes. */

import type { RequestHandler, ServerRequest, ServerResponse, SlotScheme } from "../../../shared/http/exchange.ts";
import type { RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import type { AcceptTable } from "../../../shared/http/phone-fields.ts";
import type { MuxStream } from "../../../shared/mux/stream/stream.ts";
import { bodyOf, responseHead } from "../../../shared/testing/http/exchange-rig.ts";
import { navigation } from "../../../shared/testing/http/request-heads.ts";
import { linkSessions } from "../../../shared/testing/mux/linked-sessions.ts";
import { StreamLog } from "../../../shared/testing/mux/stream-log.ts";
import { pushObserver } from "../document-push.ts";
import { PushOrder, UnsentResponse } from "../push-order.ts";

export const PAGE = "https://site.example/dir/page?q#fragment";
export const NAVIGATION: RequestHead = {
  ...navigation(PAGE),
  topLevelOrigin: "https://elsewhere.example",
};

/** As the order of pushes sees it: its origin has sent nothing yet. */
export const DOCUMENT_STREAM = {
  channelIndex: 0,
  id: 1,
  state: "half-closed-remote",
  sentBytes: 0,
  ready: "nothing",
} as MuxStream;

export const openOrder = (document: MuxStream): PushOrder =>
  new PushOrder(document, (task) => {
    queueMicrotask(task);
    return () => {};
  });

export interface Circumstances {
  readonly request?: Partial<RequestHead>;
  readonly response?: Partial<ResponseHead>;
  readonly headers?: ResponseHead["headers"];
  readonly slotScheme?: SlotScheme;
  readonly most?: number;
  readonly accept?: AcceptTable;
  readonly answer?: () => Promise<ServerResponse>;
  /** Chunks of the text at a URL that is pushed, and its type in place of the answer's. */
  readonly texts?: (url: string) => readonly string[];
  readonly type?: string;
}

/** The document of one request. */
export function load({
  request = {},
  response = {},
  headers = [],
  slotScheme = "https",
  most = 256,
  accept = {},
  answer,
  texts,
  type = "text/plain",
}: Circumstances = {}) {
  const pushes: StreamLog[] = [];
  const asked: ServerRequest[] = [];
  const sent: MuxStream[] = [];
  const abort = new AbortController();
  const linked = linkSessions({ phone: { onPush: (stream) => pushes.push(new StreamLog(stream, true)) } });
  const document: ServerRequest = { head: { ...NAVIGATION, ...request }, body: null, signal: abort.signal };
  const handle: RequestHandler = (pushed) => {
    asked.push(pushed);
    return (
      answer?.() ??
      Promise.resolve({
        head: { ...responseHead, url: pushed.head.url, headers: [["content-type", type]] },
        body: bodyOf("body"),
      })
    );
  };
  const observeBody = pushObserver(document, DOCUMENT_STREAM, {
    openPush(priority) {
      const stream = linked.edge.streams.openPush(priority);
      if (stream !== null) sent.push(stream);
      return stream;
    },
    isUnwanted: ({ url }) => url.endsWith("/kept"),
    offer: (pushed, observer) =>
      new UnsentResponse(
        pushed,
        async (request) => {
          const response = await handle(request);
          const onChunk = observer?.(response.head) ?? null;
          if (onChunk !== null)
            for (const text of texts?.(response.head.url) ?? []) onChunk(new TextEncoder().encode(text));
          onChunk?.(null);
          return response;
        },
        () => {},
      ),
    slotScheme,
    most,
    accept,
    openOrder,
  });
  const observe = observeBody?.({
    ...responseHead,
    url: "https://site.example/dir/page?q",
    headers: [["content-type", "text/html; charset=utf-8"], ...headers],
    ...response,
  });
  return {
    linked,
    pushes,
    asked,
    sent,
    abort,
    isWatched: typeof observe === "function",
    write: (html: string | Uint8Array) => observe?.(typeof html === "string" ? new TextEncoder().encode(html) : html),
    end: () => observe?.(null),
  };
}

/** The requests that a document leads to. */
export function requestsFor(html: string, circumstances: Circumstances = {}): RequestHead[] {
  const rig = load(circumstances);
  rig.write(html);
  return rig.asked.map(({ head }) => head);
}

export function urlsFor(html: string, circumstances: Circumstances = {}): string[] {
  return requestsFor(html, circumstances).map(({ url }) => url);
}
