/** Between the app's own service worker and the windows of the app: pages without scripts, and facts of the browser. */
import type { HeaderList } from "../../shared/http/heads.ts";
import type { AcceptTable } from "../../shared/http/phone-fields.ts";
import { LITE_PATH } from "../../shared/subprotocol.ts";
import { parseUrl } from "../../shared/web/origin.ts";

/** Asked of each window, with a port for the answer. */
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
  | "go"
  /** The frame stays: the window does what is to be done. */
  | "stay"
  /** The frame is another window's. */
  | "not-mine";

/** Of a navigation, told to the window that answered "go". */
export type LiteOutcome =
  | {
      readonly kind: "document";
      readonly url: string;
      readonly isPosted: boolean;
      /** The origin says that it is none of its pages (status 400 and above). */
      readonly isError: boolean;
    }
  | {
      readonly kind: "failed";
      readonly url: string;
      readonly method: string;
      readonly code: number;
      readonly message: string;
    }
  /** By a redirect, to another origin than that of `from`. */
  | { readonly kind: "moved"; readonly url: string; readonly from: string }
  /** The response is to be saved, and nothing of it is shown. */
  | { readonly kind: "download"; readonly url: string };

export type LiteToShell = LiteQuestion | { readonly type: "lite-outcome"; readonly outcome: LiteOutcome };

/** Keeps the worker running while a page loads, and has it take charge of the windows that it does not control. */
export const LITE_KEEP_ALIVE = "lite-keep-alive";

/** Query of the app's service worker where it knows pages without scripts. */
export const LITE_WORKER_QUERY = "?lite";

/**
 * Address on the base host of a page without scripts, or of anything of its own origin: `https://a.example/b?c` is at
 * `/~https:a.example/b?c`. Below its first segment a path is the real one, so that relative addresses lead where they lead
 * on the site. Others (`/b`, `..` above the root) are changed in the page, so that an address is one file's for all.
 *
 * @param url absolute, http: or https:; credentials are left out.
 * @returns path, query and fragment.
 */
export function liteAddress(url: string): string {
  const { protocol, host, pathname, search, hash } = new URL(url);
  return `${LITE_PATH}${protocol}${host}${pathname}${search}${hash}`;
}

/** The real URL of a page's own address; null for another address. */
export function realOf({ pathname, search, hash }: Pick<URL, "pathname" | "search" | "hash">): string | null {
  const [, scheme, host, path] = /^\/~(https?:)([^/@]+)(\/.*)$/.exec(pathname) ?? [];
  const url = scheme === undefined ? null : parseUrl(`${scheme}//${host}${path}${search}${hash}`);
  return url?.href ?? null;
}

/**
 * Place that an address leads to which a page writes.
 *
 * @param base real URL that it is relative to.
 * @returns its place, or null to leave it: it is of another origin, or leads there as it is written.
 */
export function placeInPage(written: string, base: string, origin: string): string | null {
  if (!NEEDS_PLACE.test(written)) return null;
  const real = parseUrl(written, base);
  return real?.origin === origin ? liteAddress(real.href) : null;
}

/** Absolute, from the root, or perhaps above it. */
const NEEDS_PLACE = /[:\\]|^\s*\/|\.\.|%2e/i;

/** From the app's own service worker to its windows. */
export type OwnWorkerToShell =
  /** Cookies of the app's host that nothing may keep: each as `document.cookie` takes it, so that it is deleted. */
  | { readonly type: "expired-cookies"; readonly cookies: readonly string[] }
  /** `accept` of this browser, by destination. */
  | { readonly type: "accept"; readonly accept: AcceptTable };
