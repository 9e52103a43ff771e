/** Which requests may go to trackers: by the person's settings, those of all pages, of no page, or of some sites' pages. */
import type { RequestHead } from "../../../shared/http/heads.ts";
import { siteName } from "../../messages/site-name.ts";
import type { TrackerSettings } from "../../messages/tunnel-messages.ts";
import type { ResponseSource } from "./response-source.ts";

export class TrackerWishes {
  #settings: TrackerSettings = { areBlocked: false, exceptions: [] };

  set(settings: TrackerSettings): void {
    this.#settings = settings;
  }

  /** What the session says: it holds for all requests that do not say otherwise. */
  get areBlocked(): boolean {
    return this.#settings.areBlocked;
  }

  readonly source: ResponseSource = (request, consumer, next) =>
    next({ ...request, head: this.marked(request.head) }, consumer);

  /** The request as the edge gets it. */
  marked(head: RequestHead): RequestHead {
    const { areBlocked, exceptions } = this.#settings;
    const isException = areBlocked && exceptions.includes(siteName(head.topLevelOrigin));
    return isException ? { ...head, allowsTrackers: true } : head;
  }
}
