/**
 * Stops a phone's requests that the edge's block list names, before anything is asked. The list is loaded when a phone
 * wants that, and opened once for all phones of an isolate. While it is not there nothing is stopped: pages do not wait
 * for it.
 */
import type { Clock } from "../../shared/clock.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import type { RequestHead } from "../../shared/http/heads.ts";
import type { BlockList } from "./block-list.ts";

/** Milliseconds that requests wait for a list that is being loaded, from when that began. */
export const LOAD_PATIENCE = 1_000;
/** Milliseconds after which an isolate asks whether there is a newer list. */
const OPEN_TIME = 86_400_000;
/** Milliseconds after which it asks again where there was none. */
const RETRY_TIME = 60_000;

/** The list that all phones of an isolate share. */
export interface SharedList {
  list: BlockList | null;
  /** When it was last asked for, by the clock. */
  askedAt: number;
}

export const noList = (): SharedList => ({ list: null, askedAt: Number.NEGATIVE_INFINITY });

export interface TrackerBlockerOptions extends Pick<Clock, "now" | "setTimer"> {
  readonly shared: SharedList;
  /** Null where there is none now. */
  readonly load: () => Promise<BlockList | null>;
}

export class TrackerBlocker {
  readonly #options: TrackerBlockerOptions;
  /** Over when the list is there, or has taken too long. */
  #patience: Promise<void> | null = null;

  constructor(options: TrackerBlockerOptions) {
    this.#options = options;
  }

  /** Begins to load the list, if need be. */
  #prepare(): void {
    const { shared, load, now, setTimer } = this.#options;
    if (now() - shared.askedAt < (shared.list === null ? RETRY_TIME : OPEN_TIME)) return;
    shared.askedAt = now();
    const loaded = load().then(
      (list) => {
        shared.list = list ?? shared.list;
      },
      () => {},
    );
    this.#patience = new Promise((resolve) => {
      const cancel = setTimer(resolve, LOAD_PATIENCE);
      void loaded.then(cancel).then(resolve);
    });
  }

  /** @throws RopewayError BLOCKED for a tracker. */
  async check(head: RequestHead, url: URL): Promise<void> {
    this.#prepare();
    if (!mayBeStopped(head)) return;
    if (this.#options.shared.list === null) await this.#patience;
    if (!this.isTracker(head, url)) return;
    const message = `Cannot load from ${url.host}: it is on the block list, and you have trackers blocked`;
    throw new RopewayError(ErrorCode.BLOCKED, "stream", "user", message);
  }

  /** Whether it is known to be for a tracker. */
  isTracker(head: RequestHead, url = new URL(head.url)): boolean {
    return mayBeStopped(head) && this.#options.shared.list?.names(head, url) === true;
  }
}

/** Nothing that a person opens, whatever its address. */
function mayBeStopped({ destination, allowsTrackers }: RequestHead): boolean {
  return destination !== "document" && allowsTrackers !== true;
}
