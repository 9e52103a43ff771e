/** Between the app's own service worker and the windows of the app, about pages without scripts. All URLs are real. */
import type { HeaderList } from "../../shared/http/heads.ts";

/** Asked of each window, with a port for the `LiteAnswer`. */
export type LiteQuestion =
  /** A frame sets out for a page. */
  | {
      readonly type: "lite-navigation";
      readonly url: string;
      readonly method: string;
      readonly headers: HeaderList;
      /** Where it leads to another origin. */
      readonly body: ArrayBuffer | null;
      /** After the referrer policy; "" for none. */
      readonly referrer: string;
      /** URL of the page that the frame has so far; null where it has none, or the browser does not tell. */
      readonly from: string | null;
      /** The browser says that the app's window may have sent the frame, by its referrer. Pages can have the same. */
      readonly mayBeApps: boolean;
      /** The browser loads an entry of its history again. */
      readonly isRestored: boolean;
    }
  /** The worker has been stopped since, and the page asks for more. */
  | { readonly type: "lite-port-wanted"; readonly origin: string };

export type LiteAnswer =
  /** Carries a port to the tunnel for the origin. */
  | { readonly type: "go" }
  /** The frame stays: the window does what is to be done. */
  | { readonly type: "stay" }
  | { readonly type: "not-mine" };

/** What became of a navigation, told to the window that answered "go". */
export type LiteOutcome =
  | {
      readonly type: "lite-document";
      readonly url: string;
      readonly isPosted: boolean;
      /** The origin says that it is none of its pages (status 400 and above). */
      readonly isError: boolean;
    }
  | {
      readonly type: "lite-failed";
      readonly url: string;
      readonly method: string;
      readonly code: number;
      readonly message: string;
    }
  /** By a redirect, to another origin than that of `from`. */
  | { readonly type: "lite-moved"; readonly url: string; readonly from: string }
  /** Nothing is shown of what is to be saved. */
  | { readonly type: "lite-download"; readonly url: string };

export type LiteToShell = LiteQuestion | LiteOutcome;

/** Keeps the worker running while a page loads, and has it take charge of the windows that it does not control. */
export const LITE_KEEP_ALIVE = "lite-keep-alive";

/** Query of the app's service worker where it knows pages without scripts. */
export const LITE_WORKER_QUERY = "?lite";
