/**
 * What a slot's port still has to post. A message costs the browser about a millisecond of work on both sides however
 * little is in it, since the service worker lives in another process: bodies that come in packets of a slow link would
 * take more time there than on the link. So what comes within a few milliseconds is posted together, the first at once.
 */
import type { SetTimer } from "../../../shared/clock.ts";
import { concat } from "../../../shared/wire/frame.ts";
import { MessageBatch } from "../../messages/message-batch.ts";
import type { TunnelToPort } from "../../messages/port-messages.ts";
import { PORT_BATCH_TIME } from "../../messages/port-messages.ts";

/** Bytes: body bytes to a service worker that are worth a message of their own at once. */
export const PORT_BATCH_BYTES = 128 * 1024;

type DataMessage = TunnelToPort & { readonly type: "data" };

/** Bytes of one stream that are posted as one message. */
interface GatheredData {
  readonly id: number;
  readonly chunks: Uint8Array[];
}

export class PortOutbox {
  readonly #port: Pick<MessagePort, "postMessage">;
  #entries: (Exclude<TunnelToPort, DataMessage> | GatheredData)[] = [];
  /** By stream, the newest entry, if that is data: more is added to it. */
  #growing = new Map<number, GatheredData>();
  #bytes = 0;
  readonly #batch: MessageBatch;

  constructor(port: Pick<MessagePort, "postMessage">, setTimer: SetTimer) {
    this.#port = port;
    this.#batch = new MessageBatch(() => this.#flush(), PORT_BATCH_TIME, setTimer);
  }

  post(message: Exclude<TunnelToPort, DataMessage>): void {
    this.#entries.push(message);
    if ("id" in message) this.#growing.delete(message.id);
    this.#batch.want();
  }

  /** @param chunk may be a view of a larger buffer; nobody else writes into that. */
  postData(id: number, chunk: Uint8Array): void {
    let data = this.#growing.get(id);
    if (data === undefined) {
      data = { id, chunks: [] };
      this.#growing.set(id, data);
      this.#entries.push(data);
    }
    data.chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#batch.want(this.#bytes >= PORT_BATCH_BYTES);
  }

  #flush(): void {
    const entries = this.#entries;
    this.#entries = [];
    this.#growing.clear();
    this.#bytes = 0;
    const transfers: Transferable[] = [];
    const messages = entries.map((entry): TunnelToPort => {
      if (!("chunks" in entry)) return entry;
      const chunk = ownBytes(entry.chunks);
      transfers.push(chunk.buffer);
      return { type: "data", id: entry.id, chunk };
    });
    this.#port.postMessage(messages, transfers);
  }
}

/** The chunks as one, in a buffer of their own that may be transferred. */
function ownBytes(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined && isAloneInMessage(first)) return first as Uint8Array<ArrayBuffer>;
  return concat(...chunks) as Uint8Array<ArrayBuffer>;
}

/**
 * Whether nothing else of the WebSocket message that the chunk is a view of matters, so that its whole buffer may be
 * transferred. A frame that carries bytes of its own does not fit before the header of one that is this long.
 */
function isAloneInMessage(chunk: Uint8Array): boolean {
  const longestHeader = 1 + 4 + 4;
  const reachesEnd = chunk.byteOffset + chunk.byteLength === chunk.buffer.byteLength;
  return reachesEnd && chunk.byteOffset <= longestHeader && chunk.byteLength > 16_384;
}
