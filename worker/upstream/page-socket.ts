/**
 * A page's WebSocket at the edge (PROTOCOL.md section 5.11): the handshake as a browser would send it, and from then on
 * records between the phone's stream and the origin's connection.
 */
import { type Clock, pause } from "../../shared/clock.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import type { ServerRequest, ServerResponse } from "../../shared/http/exchange.ts";
import { headerValue } from "../../shared/http/head-fields.ts";
import type { RequestHead } from "../../shared/http/heads.ts";
import {
  encodeSocketClose,
  encodeSocketPart,
  GOING_AWAY,
  MESSAGE_TOO_BIG,
  type SocketClose,
  type SocketEvent,
  SocketRecordReader,
} from "../../shared/http/socket-records.ts";
import { bareUrl, isPotentiallyTrustworthy } from "../../shared/web/origin.ts";
import { type CookieJar, cookieAccess, hopPartition, visibleChanges } from "./cookie-jar.ts";
import { checkDestination, type DestinationPolicy } from "./destination.ts";
import { setCookieField } from "./fields.ts";
import type { HandshakeAnswer, OpenOriginSocket, OriginSocket } from "./origin-socket.ts";
import { basicAuthorization, hasCredentials, type TransportSecurity } from "./redirects.ts";
import { classifyFailure, upstreamError } from "./send.ts";

/** Milliseconds: an origin has this long to answer the handshake, and Chromium's sockets wait as long. */
const HANDSHAKE_TIMEOUT = 240_000;
/** Milliseconds: an origin has this long to answer a close, and then its connection is cut, as by Chromium. */
const CLOSE_TIMEOUT = 10_000;
/** Bytes: what all sockets of a phone hold that a runtime does not pace. An object has 128 MB for all. */
const HELD_BYTES = 40 * 1024 * 1024;
/** Why an origin is left for which more is held than may be (RFC 6455 section 7.4.1: an unexpected condition). */
const TOO_MUCH_IS_HELD = 1011;

export interface PageSocketDeps extends Pick<Clock, "setTimer"> {
  readonly openSocket: OpenOriginSocket;
  readonly destinations: DestinationPolicy;
  readonly jar: CookieJar;
  readonly transportSecurity: TransportSecurity;
  /** Bytes that all sockets of the phone hold. */
  readonly socketBytes: { total: number };
}

/** As of `UpstreamRequest`. */
interface SocketRequest extends ServerRequest {
  readonly userAgent: string;
  readonly acceptLanguage: string;
  readonly checkUrl?: (url: URL) => Promise<void>;
}

/** @throws RopewayError of scope "stream" with the code that says why there is no socket. */
export async function openPageSocket(deps: PageSocketDeps, request: SocketRequest): Promise<ServerResponse> {
  const { head, body, signal } = request;
  if (body === null || head.origin === null) throw refusal("its request is of no page, or has ended");
  const { url, partition } = await checkedUrl(deps, request);
  const access = cookieAccess(head, { url, method: "GET", tainting: "cors", isFirstHop: true });
  const cookie = access.allowed ? await deps.jar.fieldFor({ ...access, url }) : "";
  const ending = new AbortController();
  const end = (): void => ending.abort();
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  const stopTimer = deps.setTimer(end, HANDSHAKE_TIMEOUT);
  try {
    const handshake = { url, headers: handshakeFields(request, cookie, url) };
    const answer = await deps.openSocket(handshake, ending.signal);
    stopTimer();
    const { headers } = answer;
    await deps.transportSecurity.take(partition, url, headers.get("strict-transport-security"));
    const lines = headers.getSetCookie();
    const changes = access.allowed ? await deps.jar.store({ ...access, url, lines, clearsSite: false }) : [];
    const socket = checkedSocket(answer, head, url);
    const { protocol } = socket;
    const responseHead = {
      status: 200,
      headers: protocol === "" ? [] : [["sec-websocket-protocol", protocol] as const],
      url: head.url,
      redirected: false,
      coding: "identity" as const,
      scriptCookies: URL.canParse(head.origin) ? visibleChanges(changes, new URL(head.origin)) : [],
    };
    return { head: responseHead, body: new SocketRelay(deps, socket, body, signal).records };
  } catch (error) {
    await body.cancel(error).catch(() => {});
    throw signal.aborted ? refusal("the phone gave it up") : upstreamError(url, classifyFailure(error).code, error);
  } finally {
    stopTimer();
    signal.removeEventListener("abort", end);
  }
}

/** As for what scripts fetch: its scheme is that of HTTP. */
async function checkedUrl(
  { transportSecurity, destinations }: PageSocketDeps,
  { head, checkUrl }: SocketRequest,
): Promise<{ url: URL; partition: string }> {
  if (!URL.canParse(head.url)) throw refusal("its address is no URL");
  const url = bareUrl(new URL(head.url));
  const partition = hopPartition(head, url, true);
  if (await transportSecurity.upgrades(partition, url)) url.protocol = "https:";
  checkDestination(url, destinations);
  await checkUrl?.(url);
  return { url, partition };
}

/** Fields that Chromium sends, but for those that negotiate compression, and for Fetch Metadata, which it does not send here. */
function handshakeFields({ head, userAgent, acceptLanguage }: SocketRequest, cookie: string, url: URL): Headers {
  const headers = new Headers({
    pragma: "no-cache",
    "cache-control": "no-cache",
    "user-agent": userAgent,
    origin: head.origin ?? "null",
    "accept-encoding": isPotentiallyTrustworthy(url) ? "gzip, deflate, br, zstd" : "gzip, deflate",
  });
  if (acceptLanguage !== "") headers.set("accept-language", acceptLanguage);
  if (cookie !== "") setCookieField(headers, cookie);
  const asked = new URL(head.url);
  const given = hasCredentials(asked) ? basicAuthorization(asked) : headerValue(head.headers, "authorization");
  if (given !== null) headers.set("authorization", given);
  const protocols = offeredProtocols(head);
  if (protocols.length > 0) headers.set("sec-websocket-protocol", protocols.join(", "));
  return headers;
}

function offeredProtocols(head: RequestHead): readonly string[] {
  const names = (headerValue(head.headers, "sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
  return names.filter((name) => name !== "");
}

/** RFC 6455 section 4.1, as far as the runtime has not seen to it. */
function checkedSocket({ status, socket }: HandshakeAnswer, head: RequestHead, url: URL): OriginSocket {
  const offered = offeredProtocols(head);
  if (socket === null) throw unopened(url, `it answers the handshake with ${status}`);
  const { protocol } = socket;
  if (protocol === "" ? offered.length === 0 : offered.includes(protocol)) return socket;
  socket.abort();
  throw unopened(url, protocol === "" ? "it chose none of the subprotocols" : "it chose a subprotocol unasked");
}

function unopened(url: URL, reason: string): RopewayError {
  const message = `Cannot open a socket to ${url.host}: ${reason}`;
  return new RopewayError(ErrorCode.UPSTREAM_FAILED, "stream", "origin", message);
}

function refusal(reason: string): RopewayError {
  return new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", `Cannot open a socket: ${reason}`);
}

/**
 * Messages between the two, until both have closed or either is gone. The phone's credit paces what is read of the origin,
 * and what the origin's connection takes paces what is read of the phone.
 */
class SocketRelay {
  readonly records: ReadableStream<Uint8Array>;
  readonly #deps: PageSocketDeps;
  readonly #socket: OriginSocket;
  readonly #phone: ReadableStreamDefaultReader<Uint8Array>;
  /** Share of this socket in the phone's total. */
  #held = 0;
  readonly #reader = new SocketRecordReader();
  /** Records of a part of the origin that have not left. */
  #leaving: Iterator<Uint8Array, void> | null = null;
  /** A close was sent to the origin. */
  #isClosing = false;
  #isOver = false;

  constructor(deps: PageSocketDeps, socket: OriginSocket, body: ReadableStream<Uint8Array>, signal: AbortSignal) {
    this.#deps = deps;
    this.#socket = socket;
    this.#phone = body.getReader();
    this.records = new ReadableStream(
      { pull: (controller) => this.#pull(controller), cancel: () => this.#leave() },
      { highWaterMark: 0 },
    );
    if (signal.aborted) this.#leave();
    else signal.addEventListener("abort", () => this.#leave());
    socket.onHeld = () => this.#count();
    void this.#takePhone();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const part = this.#leaving?.next();
    if (part !== undefined && part.done !== true) return controller.enqueue(part.value);
    const event = await this.#receive();
    this.#count();
    if (event === null || this.#isOver) {
      this.#end();
      return controller.error(gone());
    }
    if (event.kind !== "close") {
      this.#leaving = encodeSocketPart(event);
      return this.#pull(controller);
    }
    controller.enqueue(encodeSocketClose(event));
    controller.close();
    // RFC 6455 section 5.5.1: it is answered with what it says.
    if (!this.#isClosing) this.#socket.close(event);
    this.#end();
  }

  async #receive(): Promise<SocketEvent | null> {
    try {
      return this.#isOver ? null : await this.#socket.receive();
    } catch {
      return null;
    }
  }

  /** Until the phone has closed, or is gone. */
  async #takePhone(): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await this.#phone.read();
        if (this.#isOver) return;
        if (done) return this.#close({ code: GOING_AWAY, reason: "" });
        for (const event of this.#reader.read(value)) {
          if (event.kind === "close") return this.#close(event);
          await this.#socket.send(event);
        }
        this.#count();
      }
    } catch (error) {
      const isTooBig = error instanceof RopewayError && error.code === ErrorCode.ENHANCE_YOUR_CALM;
      this.#close({ code: isTooBig ? MESSAGE_TOO_BIG : GOING_AWAY, reason: "" });
    }
  }

  /** Where the phone's sockets hold too much, the one that comes to hold more ends. */
  #count(): void {
    const { socketBytes } = this.#deps;
    const held = this.#isOver ? 0 : this.#socket.heldBytes;
    const isMore = held > this.#held;
    socketBytes.total += held - this.#held;
    this.#held = held;
    if (!isMore || socketBytes.total <= HELD_BYTES) return;
    if (!this.#isClosing) this.#socket.close({ code: TOO_MUCH_IS_HELD, reason: "" });
    this.#end();
  }

  #close(close: Omit<SocketClose, "kind">): void {
    void this.#phone.cancel().catch(() => {});
    if (this.#isClosing || this.#isOver) return;
    this.#isClosing = true;
    this.#socket.close(close);
    void pause(this.#deps.setTimer, CLOSE_TIMEOUT).then(() => this.#end());
  }

  /** Nobody at the phone is there any more. */
  #leave(): void {
    if (this.#isOver) return;
    if (!this.#isClosing) this.#socket.close({ code: GOING_AWAY, reason: "" });
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#count();
    this.#socket.abort();
    void this.#phone.cancel().catch(() => {});
  }
}

function gone(): RopewayError {
  const message = "Cannot go on: the server's connection ended without a close";
  return new RopewayError(ErrorCode.CONNECTION_RESET, "stream", "origin", message);
}
