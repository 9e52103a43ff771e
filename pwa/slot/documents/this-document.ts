/**
 * A document of Ropeway's own, and in part any document of a slot: the documents around it, the way that led to it, the
 * page that it goes on to.
 */
import { parseUrl } from "../../../shared/web/origin.ts";
import { MESSAGE_TAG, type PageToShell, type Sandbox, type Trouble } from "../../messages/page-messages.ts";
import { BACK_QUERY, OPENED_NAME, ropewayPath, shellOriginOf } from "../slot-url.ts";

/** Milliseconds. Then comes no document (a download, say), or one that has kept the page waiting for long enough. */
const LONGEST = 30_000;

/**
 * A document that only stands in for another one has no `load`: the frame's element would fire it before the real
 * document is there, and a page that posts its frame a message then would post it here. So the stand-in does not finish
 * loading before the next document replaces it, and neither does the page around it (HTML section 13.2.7, "the end").
 *
 * @returns gives the hold up: this document stays.
 */
export function holdLoad(): () => void {
  if (window.parent === window.top) return () => {};
  // A document that is being written is loading, whether there is a network or not.
  const written = document.createElement("iframe");
  written.hidden = true;
  document.documentElement.append(written);
  written.contentDocument?.open();
  const release = () => written.remove();
  setTimeout(release, LONGEST);
  return release;
}

/** Whether the window is the page's, in whose scripts `parent` is the page itself; its native one is the shell, on top. */
export const isPage = (each: Window): boolean => each.parent === each || each.parent === window.top;

/**
 * Whether a document of another origin stands between this one and the shell. A frame of a page in a top-level slot
 * may do what the page may, so no other site may have such a frame.
 */
export function isFramedByOthers(): boolean {
  for (let each: Window = window; !isPage(each); ) {
    each = each.parent;
    try {
      void each.document;
    } catch {
      return true;
    }
  }
  return false;
}

/** Asks the documents around this one, the next one first. @returns whether a document has prevented the event. */
export function askAround(question: Event): boolean {
  try {
    for (let each: Window = window; !isPage(each); ) {
      each = each.parent;
      if (!each.dispatchEvent(question)) return true;
    }
  } catch {
    // A document of another origin.
  }
  return false;
}

/** Tokens of the sandboxes around the documents that are of this origin; the shell hears of the others from those. */
export function sandboxAround(innermost: Window): Sandbox {
  let tokens = null as Sandbox;
  for (let each = innermost; each.frameElement !== null; each = each.parent) {
    const own = each.frameElement.getAttribute("sandbox")?.toLowerCase().split(/\s+/);
    if (own !== undefined) tokens = tokens?.filter((token) => own.includes(token)) ?? own;
  }
  return tokens;
}

/** For the document whose script runs: it is told by its element, or by its host's name. */
export function shellOriginHere(): string {
  return document.currentScript?.dataset.shell ?? shellOriginOf(location.origin);
}

/** From a document that stands in for a frame's. */
export function tellTrouble(trouble: Trouble, shellOrigin: string): void {
  window.top?.postMessage({ tag: MESSAGE_TAG, type: "trouble", trouble } satisfies PageToShell, shellOrigin);
}

/** Shows a person a text: in English until the words of the browser's language are there. @param host in its place `{host}`. */
export async function sayHere(shown: HTMLElement, text: string, host: string): Promise<void> {
  shown.textContent = text.replace("{host}", host);
  const words: typeof import("../words.ts") = await import(`${ropewayPath.pageScript}?words`);
  words.translate(shown, text, { host });
}

/** Name of the window in which the boot page tells the next document that the history has led to it. */
export const BACK_NAME = "ropeway-back";

/** The facts that the shell or the boot page has put into the name of the document's window. */
export function frameNameOf(name: string): {
  readonly isBack: boolean;
  /** Name of the window, where a page has opened it. */
  readonly opened: string | null;
  /** Id of the meeting with its opener; "" for none. */
  readonly meeting: string;
} {
  const isBack = name.startsWith(BACK_NAME);
  const rest = isBack ? name.slice(BACK_NAME.length) : name;
  if (!rest.startsWith(OPENED_NAME)) return { isBack, opened: null, meeting: "" };
  const told = rest.slice(OPENED_NAME.length);
  const [, opened = told, meeting = ""] = /^(.*)\n([\da-f-]{36})$/s.exec(told) ?? [];
  return { isBack, opened, meeting };
}

/**
 * Whether the history has led to this document, or to a page that the service worker, or the edge in its place where the
 * browser has dropped it, has sent on to here.
 */
export function isBackHere(): boolean {
  const [{ type } = { type: "" }] = performance.getEntriesByType("navigation") as { readonly type?: string }[];
  return type === "back_forward" || location.search.startsWith(BACK_QUERY);
}

/**
 * Where the boot page goes once the service worker is there: within the slot only. Null: nowhere. The shell names the
 * page in the fragment, which no server sees, as `#then=…`; a service worker without a port in the query, as `?then=…`,
 * and the fragment is then the one of the page that was asked for.
 */
export function bootTarget({ search, hash }: Pick<URL, "search" | "hash">, slotOrigin: string): string | null {
  const asked = new URLSearchParams(search).get("then");
  const then = asked === null ? new URLSearchParams(hash.slice(1)).get("then") : asked + hash;
  const target = then === null ? null : parseUrl(then, slotOrigin);
  return target?.origin === slotOrigin ? target.href : null;
}

const NAMES =
  "RTCPeerConnection webkitRTCPeerConnection RTCDataChannel WebTransport WebSocketStream CookieStore cookieStore fetchLater";

/** Takes away the calls that reach the network, or cookies, past the service worker. Sites fall back or do without. */
export function removeNetworkFeatures(realm: object): void {
  for (const name of NAMES.split(" ")) Reflect.deleteProperty(realm, name);
}
