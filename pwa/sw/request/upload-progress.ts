/** Tells a page how much of a script's upload the tunnel has taken. */
import { MESSAGE_TAG } from "../../messages/page-messages.ts";
import { UPLOAD_NUMBER, type WorkerToPage } from "../../messages/worker-messages.ts";
import type { OutgoingBody } from "./request-body.ts";

declare const self: ServiceWorkerGlobalScope;

/** Bytes: small enough that progress shows for a small upload on a slow link, too. */
const PIECE = 64 * 1024;
/** Milliseconds from one message to the next (XMLHttpRequest section 3.5.6). */
const INTERVAL = 50;

/** The body as it is, or one that is watched where the page script asks for that. */
export function watchedBody(event: FetchEvent, { content, length }: OutgoingBody): OutgoingBody["content"] {
  const number = event.request.headers.get(UPLOAD_NUMBER);
  if (number === null || content === null || length === null) return content;
  const page = self.clients.get(event.clientId);
  return inPieces(content, length, (loaded) => {
    const message: WorkerToPage = {
      tag: MESSAGE_TAG,
      type: "upload",
      number: Number(number),
      loaded,
      total: length,
    };
    void page.then((client) => client?.postMessage(message));
  });
}

/**
 * The same bytes, for a reader that asks for more when it has sent what it got.
 *
 * @param tell called with the bytes sent so far, and at the end in any case.
 */
export function inPieces(
  content: ArrayBuffer | ReadableStream<Uint8Array>,
  total: number,
  tell: (sent: number) => void,
): ReadableStream<Uint8Array> {
  const reader = (new Response(content).body as ReadableStream<Uint8Array>).getReader();
  let rest = new Uint8Array();
  let sent = 0;
  let toldAt = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const now = Date.now();
        if (sent > 0 && (sent === total || now - toldAt >= INTERVAL)) {
          tell(sent);
          toldAt = now;
        }
        if (rest.length === 0) {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          rest = value as Uint8Array<ArrayBuffer>;
        }
        const piece = rest.slice(0, PIECE);
        rest = rest.subarray(PIECE);
        sent += piece.length;
        controller.enqueue(piece);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
