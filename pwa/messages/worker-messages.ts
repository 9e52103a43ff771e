/** Messages between a slot's documents and the slot's service worker. Both are one trust domain. */
import type { ScriptCookie } from "../../shared/http/heads.ts";
import type { ImageNote } from "../../shared/http/phone-fields.ts";
import { MESSAGE_TAG } from "./page-messages.ts";
import type { PageSocketRequest } from "./socket-messages.ts";

type Tag = typeof MESSAGE_TAG;

/** Query of the page script's address, by which pages import `find-text.ts` and `reader.ts`. */
export type AppScript = "?find" | "?read";

/** Field of a request whose upload the page wants to be told of: the number that it gave it. Goes no further. */
export const UPLOAD_NUMBER = "ropeway-upload";

/** End of a picture's or a film's query that asks for it as its origin sends it. Goes no further, either. */
export const ORIGINAL_MARK = "ropeway-original";

export type PageToWorker =
  /** Carries the page's end of a socket. Workers of before 2026-12 do not know it, and nothing becomes of the socket. */
  | ({ readonly tag: Tag } & PageSocketRequest)
  /** A script wrote `document.cookie`. `url`: real URL of the document. Answered by "cookie-taken". */
  | {
      readonly tag: Tag;
      readonly type: "cookie-set";
      readonly number: number;
      readonly value: string;
      readonly url: string;
    }
  /** Answer to "cookies": scripts of the page read them from now on. */
  | { readonly tag: Tag; readonly type: "cookies-applied"; readonly id: number }
  /** Scripts of the page put pictures where they can read their pixels. */
  | { readonly tag: Tag; readonly type: "reads-pixels" }
  /** A script, as the app has it, which a page of the slot is about to import. Pages of before 2026-12 name none: "?find". */
  | { readonly tag: Tag; readonly type: "find-script"; readonly script: string; readonly name?: AppScript }
  /** Carries one MessagePort, which gets a `SlotCondition`. */
  | { readonly tag: Tag; readonly type: "condition-wanted" }
  /**
   * Carries one MessagePort towards the tunnel. `goal`: URL that a boot page goes on to; null where it stays. Other pages,
   * and boot pages of before 2026-12, do not tell it.
   */
  | { readonly tag: Tag; readonly type: "port"; readonly goal?: string | null }
  /** Sent at the interval asked for; its arrival keeps the service worker running. */
  | { readonly tag: Tag; readonly type: "keep-alive" };

export type WorkerToPage =
  /** Cookies that the jar changed, to be applied before the answer that carried them is handed on. */
  | { readonly tag: Tag; readonly type: "cookies"; readonly id: number; readonly cookies: readonly ScriptCookie[] }
  /** The cookie of this number is ahead of every request that follows. */
  | { readonly tag: Tag; readonly type: "cookie-taken"; readonly number: number }
  /** Bytes that the tunnel has taken of the upload of this number. */
  | {
      readonly tag: Tag;
      readonly type: "upload";
      readonly number: number;
      readonly loaded: number;
      readonly total: number;
    }
  /** The picture or film that the page asked for by this URL was held back, or the picture made so small that it shows. */
  | {
      readonly tag: Tag;
      readonly type: "picture";
      readonly url: string;
      readonly kind: ImageNote["kind"];
      readonly bytes: number;
    }
  /** Whether origins get `Save-Data: on` from now on. */
  | { readonly tag: Tag; readonly type: "saves-data"; readonly isOn: boolean }
  /** The service worker has just started, and has no port. */
  | { readonly tag: Tag; readonly type: "port-wanted" }
  /** Ping every `interval` milliseconds from now on; 0 stops. */
  | { readonly tag: Tag; readonly type: "keep-alive"; readonly interval: number };

/** Whether a message is of Ropeway. The receiver decides by the sender whether to believe it. */
export function isTagged(data: unknown): data is { readonly tag: Tag; readonly type: string } {
  return typeof data === "object" && data !== null && (data as { tag?: unknown }).tag === MESSAGE_TAG;
}
