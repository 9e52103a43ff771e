/**
 * `Last-Event-ID` of event sources: the browser adds it when one connects again, after its service worker has seen the
 * request. So the last id is read here, from the stream as it passes (HTML section 9.2.6), and kept for when that ends.
 */
import { BoundedMap } from "../../../shared/bounded-map.ts";
import { ErrorCode, type RopewayError } from "../../../shared/errors.ts";
import type { HeaderField } from "../../../shared/http/heads.ts";
import type { BodyObserver } from "../response-body.ts";

/** Ids that are kept, of streams that have ended. */
const IDS_KEPT = 64;
/** Characters of a line that are looked at. An id that is longer is not known. */
const LINE_MAX = 1024;

export class EventStreams {
  /** By who asks and for what, oldest first. */
  readonly #lastIds = new BoundedMap<string, string>(IDS_KEPT);

  /** Null for what is no event source's request: a script's own has another cache mode (HTML section 9.2.2). */
  begin(clientId: string, { url, cache, headers }: Pick<Request, "url" | "cache" | "headers">): EventStream | null {
    if (headers.get("accept") !== "text/event-stream" || cache !== "no-store") return null;
    const source = `${clientId} ${url}`;
    const id = this.#lastIds.get(source) ?? "";
    this.#lastIds.delete(source);
    return new EventStream(id, (last) => {
      this.#lastIds.set(source, last);
    });
  }
}

export class EventStream implements BodyObserver {
  readonly #keep: (id: string) => void;
  readonly #decoder = new TextDecoder();
  #line = "";
  /** The id of the event under way, and that of the last whole event. */
  #id: string;
  #lastId: string;

  constructor(id: string, keep: (id: string) => void) {
    this.#id = id;
    this.#lastId = id;
    this.#keep = keep;
  }

  /** What the browser adds to the request. */
  get headers(): HeaderField[] {
    return this.#lastId === "" ? [] : [["last-event-id", this.#lastId]];
  }

  onChunk(bytes: Uint8Array): void {
    const lines = (this.#line + this.#decoder.decode(bytes, { stream: true })).split(/\r\n|\n|\r(?!$)/);
    this.#line = (lines.pop() ?? "").slice(0, LINE_MAX);
    for (const line of lines) {
      if (line === "") this.#lastId = this.#id;
      const id = line.length < LINE_MAX ? /^id(?:: ?(.*))?$/.exec(line) : null;
      if (id !== null && id[1]?.includes("\0") !== true) this.#id = id[1] ?? "";
    }
  }

  onEnd(outcome: "end" | RopewayError): void {
    // A page that closes its source does not connect again.
    const isClosed = outcome !== "end" && outcome.code === ErrorCode.CANCEL;
    if (!isClosed && this.#lastId !== "") this.#keep(this.#lastId);
  }
}
