import { parseUrl } from "../../shared/web/origin.ts";

/** Real URLs and slot URLs: a slot host stands for exactly one web origin. */

export interface SlotIdentity {
  /** `http://s7k2ab.localhost:8787`, as `URL.origin` gives it. */
  readonly slotOrigin: string;
  /** `https://example.org`, as `URL.origin` gives it. */
  readonly realOrigin: string;
}

/** Paths that Ropeway itself answers on every slot host. */
export const ropewayPath = {
  serviceWorker: "/.ropeway/sw.js",
  boot: "/.ropeway/boot",
  /** Empties a host of a list for its next origin. */
  wipe: "/.ropeway/wipe",
  /** Its answer clears the host's storage. */
  cleared: "/.ropeway/cleared",
  pageScript: "/.ropeway/page.js",
  /** For a worker whose script nobody answers: `?` and a `WorkerConfig` in JSON. */
  workerScript: "/.ropeway/worker.js",
  /**
   * Placeholder for a frame of another origin: `?url=` real URL, `&closed=1` where it may not load at all, `&policy=`
   * the referrer policy where that is not the one of the request, `&from=` the real URL that redirected the frame.
   */
  frame: "/.ropeway/frame",
  /** A navigation that the page script hands on: `?url=` real URL. */
  go: "/.ropeway/go",
  /**
   * Answered as an attachment: `?url=` real URL, `&name=` file name, may be empty. Asked for by a script, for a document
   * without a service worker: `&kind=` the destination of an element there, `&cors` where it asks in that mode.
   */
  download: "/.ropeway/download",
  /** A document with nothing in it, where a window and its opener of one origin find each other: `?` their id. */
  meeting: "/.ropeway/meeting",
  /** No file is there: the browser is to forget the files whose requests have this referrer. */
  forgotten: "/.ropeway/forgotten",
} as const;

/** Begins the query of `boot`. The service worker of a top-level slot has a port, and only wants to know who frames the page that is asked for. */
export const TOP_LEVEL_QUERY = "?top&";

/** The same where the history leads to the page that is asked for: on a host of a list, that may be another origin's by now. */
export const BACK_QUERY = "?back&";

/** Ends the fragment of a frame's address: names what a form sent there, as `PortRequestHead.form`. No page gets to see it. */
const FORM_MARK = /#ropeway-form-([\w-]+)$/;

export function withFormMark(url: string, form: string): string {
  return `${url}#ropeway-form-${form}`;
}

/** The URL without the mark, and the form that the mark names. */
export function takeFormMark(url: string): { readonly url: string; readonly form: string | undefined } {
  return { url: url.replace(FORM_MARK, ""), form: FORM_MARK.exec(url)?.[1] };
}

function hostOf(origin: string): string {
  return origin.slice(origin.indexOf("//") + 2);
}

/** Whether the URL is on the slot's host. The scheme may have been upgraded; the port stays. */
export function isSlotUrl(url: URL, slot: SlotIdentity): boolean {
  return url.host === hostOf(slot.slotOrigin) && (url.protocol === "http:" || url.protocol === "https:");
}

/**
 * Whether slots have this host, by whatever scheme.
 *
 * @param sources of all slots, as in a policy: `http://*.localhost:8787`, or a list.
 */
export function isSlotHost(host: string, sources: string): boolean {
  return sources.split(" ").some((source) => {
    const known = hostOf(source);
    return known.startsWith("*") ? host.endsWith(known.slice(1)) : host === known;
  });
}

/**
 * The real URL of an absolute slot or real URL. Slot origins inside it (`?next=…`) become real ones too. Text that
 * is no absolute URL gets only that replacement.
 */
export function toReal(url: string, slot: SlotIdentity): string {
  const parsed = parseUrl(url);
  if (parsed === null || !isSlotUrl(parsed, slot)) return replaceSlotOrigin(url, slot);
  return slot.realOrigin + replaceSlotOrigin(parsed.href.slice(parsed.origin.length), slot);
}

/** The slot URL of an absolute URL of the slot's real origin; every other URL is returned as it is. */
export function toSlot(url: string, slot: SlotIdentity): string {
  const parsed = parseUrl(url);
  if (parsed === null || parsed.origin !== slot.realOrigin) return url;
  const { username, password } = parsed;
  if (username !== "" || password !== "") {
    parsed.username = "";
    parsed.password = "";
  }
  return slot.slotOrigin + parsed.href.slice(parsed.origin.length);
}

/** `/.ropeway/frame?url=…` and its like, relative to the slot. */
export function ropewayUrl(path: string, realUrl: string): string {
  return `${path}?url=${encodeURIComponent(realUrl)}`;
}

const patterns = new Map<string, RegExp>();

function slotPattern(slotOrigin: string): RegExp {
  let pattern = patterns.get(slotOrigin);
  if (pattern === undefined) {
    const [name = "", port] = hostOf(slotOrigin).split(":");
    const colon = "(?::|%3A|%253A)";
    const scheme = `(https?|wss?)(${colon})(//|\\\\/\\\\/|%2F%2F|%252F%252F)`;
    const tail = port === undefined ? "(:){0}" : `(?:(${colon})${port}(?!\\d))?`;
    pattern = new RegExp(`(?:${scheme})?${name.replaceAll(".", "\\.")}${tail}`, "gi");
    patterns.set(slotOrigin, pattern);
  }
  return pattern;
}

/**
 * Replaces the slot's origin and host by the real ones in query strings, header values and small text bodies: raw,
 * JSON-escaped (`http:\/\/`), percent-encoded once and twice. Slot labels are random, so other text never matches.
 */
export function replaceSlotOrigin(text: string, slot: SlotIdentity): string {
  const name = hostOf(slot.slotOrigin).split(":")[0] ?? "";
  if (!text.toLowerCase().includes(name)) return text;
  const [realName = "", realPort] = hostOf(slot.realOrigin).split(/:(?=\d+$)/);
  const realSecure = slot.realOrigin.startsWith("https:");
  return text.replace(slotPattern(slot.slotOrigin), (match, scheme, colon, slashes, portColon, at, whole) => {
    // A script that names the host alone has put a port of its own behind it.
    const hasOther = /^(:|%3A|%253A)\d/i.test(whole.slice(at + match.length));
    const port = realPort === undefined || hasOther ? "" : `${colon ?? portColon ?? ":"}${realPort}`;
    if (scheme === undefined) return realName + port;
    const realScheme = `${/^ws/i.test(scheme) ? "ws" : "http"}${realSecure ? "s" : ""}`;
    return `${realScheme}${colon}${slashes}${realName}${port}`;
  });
}

/** `https://ropeway.example` for `https://s7k2ab.ropeway.example`: a slot's host is one label below the shell's. */
export function shellOriginOf(slotOrigin: string): string {
  const [scheme = "", host = ""] = slotOrigin.split("//");
  return `${scheme}//${host.slice(host.indexOf(".") + 1)}`;
}

/**
 * Begins the name of the frame of a window that a page has opened. The name that the page gave it follows and, after a line
 * feed, the id of its meeting (`ropewayPath.meeting`).
 */
export const OPENED_NAME = "ropeway-opened ";

/** @param meeting "" for none. */
export const openedName = (name: string, meeting: string): string =>
  OPENED_NAME + name + (meeting === "" ? "" : `\n${meeting}`);
