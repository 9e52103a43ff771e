/**
 * Reads documents of sites, which run no script, but whose elements stand in the way of whatever has their name: with
 * `<img name="title">` a document's `title` is that image (DOM clobbering). So the platform's own accessors are called.
 */
import { LITE_PATH } from "../../../shared/subprotocol.ts";
import { realOf } from "../../messages/lite-address.ts";
import type { DocumentPhase } from "../../messages/page-messages.ts";
import { entryKey } from "../../slot/page/links/address-key.ts";

function reader<Value>(owner: object, name: string): (self: object) => Value {
  const get = Object.getOwnPropertyDescriptor(owner, name)?.get;
  return (self) => get?.call(self) as Value;
}

const title = reader<string>(Document.prototype, "title");
const readyState = reader<DocumentReadyState>(Document.prototype, "readyState");
const navigation = reader<Navigation | undefined>(window, "navigation");
const { querySelector } = Document.prototype;

const PHASES: Readonly<Record<DocumentReadyState, DocumentPhase>> = {
  loading: "loading",
  interactive: "interactive",
  complete: "loaded",
};

export const titleOf = (document: Document): string => title(document);
export const phaseOf = (document: Document): DocumentPhase => PHASES[readyState(document)];
/** As `entryKey`. `location` of a window cannot be replaced (HTML section 7.2.2). */
export const historyKeyOf = (page: Window): string => entryKey(navigation(page), page.location.href);

/** @returns null too for what is no element of this kind. */
export function find(document: Document, selector: string): Element | null {
  return querySelector.call(document, selector);
}

/** Absolute and real. @param url of the document, real. */
export function iconOf(document: Document, url: string): string | null {
  const href = find(document, "link[rel~=icon i][href]")?.getAttribute("href") ?? "/favicon.ico";
  if (href.startsWith(LITE_PATH)) return realOf(new URL(href, location.origin));
  return URL.parse(href, url)?.href ?? null;
}
