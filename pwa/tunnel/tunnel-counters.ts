/** What a tunnel has done, over all of its sessions. */
import type { ResponseConsumer } from "../../shared/http/exchange.ts";
import { headerValue } from "../../shared/http/head-fields.ts";
import type { ResponseHead } from "../../shared/http/heads.ts";
import { SHARED_CACHE } from "../../shared/http/phone-fields.ts";
import type { Session } from "../../shared/mux/session/session.ts";
import type { StoreStats, TunnelStats, WarmedStats } from "../messages/tunnel-messages.ts";
import type { RequestOutcome } from "./requests/lasting-request.ts";
import type { PushedResponses } from "./requests/pushed-responses.ts";
import { passingOn } from "./requests/response-source.ts";
import type { SocketContext } from "./sockets/socket-keeper.ts";

export class TunnelCounters {
  readonly counts = {
    requests: 0,
    requestsDone: 0,
    requestsFailed: 0,
    trackersBlocked: 0,
    messagesDown: 0,
    originBytes: 0,
    sharedCacheHits: 0,
    sessions: 0,
    resumes: 0,
  };
  /** Body bytes that heads have announced. */
  expectedBytes = 0;
  /** Counts of sessions that ended, so that counters never go back. */
  #past = { up: 0, down: 0, messagesUp: 0, headBytesUp: 0, headBytesDown: 0 };

  over(outcome: RequestOutcome): void {
    this.counts[outcome === "failed" ? "requestsFailed" : "requestsDone"] += 1;
  }

  /** Passes a response on, and counts its bytes. */
  counting(consumer: ResponseConsumer): ResponseConsumer {
    return passingOn(consumer, {
      onHead: (head) => {
        this.expectedBytes += announcedLength(head);
        if (headerValue(head.headers, SHARED_CACHE) !== null) this.counts.sharedCacheHits += 1;
        consumer.onHead(head);
      },
      onBody: (chunk) => {
        this.counts.originBytes += chunk.length;
        return consumer.onBody(chunk);
      },
    });
  }

  /** The session is over. */
  archive({
    channels: {
      totals: { traffic },
    },
    streams: { headBytes },
  }: Session): void {
    this.#past.up += traffic.bytesUp;
    this.#past.down += traffic.bytesDown;
    this.#past.messagesUp += traffic.messagesUp;
    this.#past.headBytesUp += headBytes.sent;
    this.#past.headBytesDown += headBytes.received;
  }

  stats(
    session: Session | undefined,
    sockets: SocketContext["traffic"],
  ): Omit<TunnelStats, "road" | "sockets" | keyof (PushedResponses["stats"] & StoreStats & WarmedStats)> {
    const traffic = session?.channels.totals.traffic ?? { bytesUp: 0, bytesDown: 0, messagesUp: 0 };
    const heads = session?.streams.headBytes ?? { sent: 0, received: 0 };
    return {
      ...this.counts,
      socketsOpened: sockets.opened,
      channels: session?.channels.choice.attached.length ?? 0,
      channelsWanted: session?.wantedChannels ?? 1,
      linkBytesUp: this.#past.up + traffic.bytesUp + sockets.keepAliveBytesUp,
      linkBytesDown: this.#past.down + traffic.bytesDown + sockets.keepAliveBytesDown,
      messagesUp: this.#past.messagesUp + traffic.messagesUp,
      requestHeadBytes: this.#past.headBytesUp + heads.sent,
      responseHeadBytes: this.#past.headBytesDown + heads.received,
    };
  }
}

function announcedLength(head: ResponseHead): number {
  const length = Number(headerValue(head.headers, "content-length") ?? "0");
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}
