/**
 * Responses that the edge sends unasked, since a document names what the page will ask for: PROTOCOL.md section 5.6. The
 * request that a push answers is its first head, so that the page's own request finds the push under way.
 */
import { ErrorCode, RopewayError } from "../errors.ts";
import type { MuxStream } from "../mux/stream/stream.ts";
import type { EncodableField } from "../wire/hpack/tables.ts";
import { fieldsToRequest, headerValue, requestToFields } from "./head-fields.ts";
import type { HeaderList, RequestHead } from "./heads.ts";
import { answer, type RequestHandler, toStreamError } from "./server-exchange.ts";

/**
 * Field of the session's head by which a phone asks for pushes. Its value is the scheme of the hosts that its pages are
 * on: on `https` ones the browser upgrades what http: documents load from other origins.
 */
export const ACCEPT_PUSH = "accept-push";
export type SlotScheme = "http" | "https";

export function parseAcceptPush(value: string): SlotScheme | null {
  return value === "http" || value === "https" ? value : null;
}

/** What a push answers, and which document's bytes named it. */
export interface PushAnnouncement {
  readonly head: RequestHead;
  /** As `documentName` names the document's stream. */
  readonly document: string;
}

const DOCUMENT_FIELD = ":document";

/** Whether a push could answer it: it asks for nothing that others do not get, as ranges, conditions and reloads do. */
export function isPushable({ method, mode, headers, delivery, images }: RequestHead): boolean {
  const asksForMore = method !== "GET" || mode === "navigate" || delivery !== undefined || images !== undefined;
  return !asksForMore && headers.length <= 1 && headers.every(([name]) => name === "accept");
}

/** All that decides about a response but the referrer: the page's cache does not look at that either. */
export function pushKey({
  topLevelOrigin,
  origin,
  destination,
  mode,
  credentials,
  redirect,
  url,
  headers,
}: RequestHead): string {
  const accept = headerValue(headers, "accept") ?? "";
  return [topLevelOrigin, origin, destination, mode, credentials, redirect, url, accept].join(" ");
}

/** A stream among those of all channels; its head has been sent or received. */
export function documentName({ channelIndex, id }: MuxStream): string {
  return `${channelIndex}:${id}`;
}

export function pushToFields({ head, document }: PushAnnouncement): EncodableField[] {
  return [[DOCUMENT_FIELD, document], ...requestToFields(head)];
}

/** @throws RopewayError PROTOCOL_ERROR of scope "stream" when the fields announce no push that a page could ask for. */
export function fieldsToPush(fields: HeaderList): PushAnnouncement {
  const [first, ...request] = fields;
  const document = first?.[0] === DOCUMENT_FIELD ? first[1] : "";
  if (!/^\d{1,2}:\d{1,15}$/.test(document)) throw malformed("it names no document");
  const head = fieldsToRequest(request);
  if (head.method !== "GET") throw malformed("its method is not GET");
  if (head.mode === "navigate") throw malformed("documents are not pushed");
  if (!/^https?:/.test(head.url)) throw malformed("its URL is not one of the web");
  return { head, document };
}

/**
 * Edge: announces a push on `stream`, then sends what `handle` answers.
 *
 * @param onClaim told when the page has asked for it.
 * @returns gives the push up; whoever has claimed it meanwhile asks again.
 * @throws RopewayError of scope "stream" when the announcement does not fit; the stream is of no use then.
 */
export function servePush(
  stream: MuxStream,
  announcement: PushAnnouncement,
  handle: RequestHandler,
  onClaim: () => void = () => {},
): () => void {
  const abort = new AbortController();
  stream.handler = {
    onHead() {},
    onData() {},
    onEnd() {},
    onPriority: onClaim,
    onReset: (error) => abort.abort(error),
  };
  stream.sendHead(pushToFields(announcement), false);
  answer(stream, handle, { head: announcement.head, body: null, signal: abort.signal }).catch((error: unknown) => {
    const typed = toStreamError(error);
    stream.reset(typed.code, typed.message);
    abort.abort(typed);
  });
  return () => {
    stream.reset(ErrorCode.REFUSED_STREAM);
    abort.abort();
  };
}

function malformed(reason: string): RopewayError {
  return new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", `Cannot take a push: ${reason}`);
}
