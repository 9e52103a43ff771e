/**
 * Parts of a navigation, each by itself: the address that it really goes to, the window that it was meant for, the body of
 * its form.
 */
import type { ReferrerPolicy } from "../../../shared/http/heads.ts";
import { isPotentiallyTrustworthy, parseUrl } from "../../../shared/web/origin.ts";
import { applyReferrerPolicy, parseMetaReferrer, parseReferrerPolicy } from "../../../shared/web/policies.ts";
import { upgradesRequests } from "../policy.ts";
import { isSlotUrl, ropewayPath, ropewayUrl, type SlotIdentity, toReal, toSlot } from "../slot-url.ts";
import type { PageContext } from "./page-context.ts";

export type NavigationGoal =
  /** The browser's own business: javascript:, about:, blob:, data:, and what is no URL. */
  | { readonly kind: "native" }
  /** To this URL of the slot, in place. */
  | { readonly kind: "slot"; readonly url: string }
  /** The shell takes it: other origins, and schemes that it knows or explains. Real URL. */
  | { readonly kind: "shell"; readonly url: string };

/** `page`: the page on top of the slot. `frame`: a frame in it, which goes to other origins by the placeholder. */
type NavigationPlace = "page" | "frame";

/** `url`: absolute, slot or real. */
export function navigationGoal(url: string, place: NavigationPlace, slot: SlotIdentity): NavigationGoal {
  const parsed = parseUrl(url);
  if (parsed === null || /^(?:javascript|about|blob|data):$/.test(parsed.protocol)) return { kind: "native" };
  if (!/^https?:$/.test(parsed.protocol)) return { kind: "shell", url: parsed.href };
  if (isSlotUrl(parsed, slot)) {
    const handedOn = parsed.pathname === ropewayPath.go ? parsed.searchParams.get("url") : null;
    if (handedOn !== null) return navigationGoal(handedOn, place, slot);
    return { kind: "slot", url: slot.slotOrigin + parsed.href.slice(parsed.origin.length) };
  }
  const real = toReal(parsed.href, slot);
  if (parsed.origin === slot.realOrigin) return { kind: "slot", url: toSlot(real, slot) };
  return place === "page"
    ? { kind: "shell", url: real }
    : { kind: "slot", url: slot.slotOrigin + ropewayUrl(ropewayPath.frame, real) };
}

/**
 * The address of a form, or of another navigation, as a document with `upgrade-insecure-requests` has it (Upgrade Insecure
 * Requests section 4.1, step 2): a form's always, another only where it stays on the document's host. As in Chromium
 * loopback hosts are left as they are.
 *
 * @param url absolute, slot or real.
 */
export function upgraded(url: string, isForm: boolean, policies: readonly string[], slot: SlotIdentity): string {
  const asked = parseUrl(url);
  const isOwn = asked !== null && isSlotUrl(asked, slot) && !asked.pathname.startsWith("/.ropeway/");
  const parsed = isOwn ? parseUrl(toReal(url, slot)) : asked;
  const isInClear = parsed?.protocol === "http:" && !isSlotUrl(parsed, slot) && !isPotentiallyTrustworthy(parsed);
  if (!isInClear || !(isForm || parsed.hostname === new URL(slot.realOrigin).hostname)) return url;
  if (upgradesRequests(policies)) parsed.protocol = "https:";
  return parsed.href;
}

/** The slot URL that the service worker answers as an attachment. `name`: the `download` attribute, may be "". */
export function downloadUrl(url: string, name: string, slot: SlotIdentity): string {
  return `${slot.slotOrigin}${ropewayUrl(ropewayPath.download, toReal(url, slot))}&name=${encodeURIComponent(name)}`;
}

/** Whether the third argument of `open` asks for it (HTML section 7.2.2.1, "tokenize the features argument"). */
export function hasFeature(features: string, name: string): boolean {
  for (const [, key = "", value = ""] of features.toLowerCase().matchAll(/([^\s,=]+)(?:\s*=[\s=]*([^\s,=]*))?/g))
    if (key === name) return /^(?:|yes|true)$/.test(value) || (Number.parseInt(value, 10) || 0) !== 0;
  return false;
}

interface TargetAccess<E> {
  /** The attribute that counts. */
  read(element: E): string | null;
  /** Null removes it. */
  write(element: E, target: string | null): void;
  /** When the event is over, and what the browser does by itself. */
  afterwards(task: () => void): void;
  now(): number;
}

/** Milliseconds: a form's navigation comes in a later turn than its event. */
const NAVIGATES_WITHIN = 1_000;

/**
 * Links and forms that name another window while the page keeps their event from the window's listener: the browser
 * would open a window, whose requests pass the service worker by. Such an element names its own frame until the browser
 * has acted, so that the `navigate` event sees it.
 */
export class Retargeting<E extends object> {
  readonly #access: TargetAccess<E>;
  readonly #meant = new WeakMap<E, { readonly target: string; readonly since: number }>();
  readonly #turned = new WeakSet<E>();

  constructor(access: TargetAccess<E>) {
    this.#access = access;
  }

  /** @param target that it means, by itself or by its document. */
  turn(element: E, target: string): void {
    if (this.#turned.has(element)) return;
    const former = this.#access.read(element);
    this.#turned.add(element);
    this.#meant.set(element, { target, since: this.#access.now() });
    this.#access.write(element, "_self");
    this.#access.afterwards(() => {
      this.#turned.delete(element);
      if (this.#access.read(element) === "_self") this.#access.write(element, former);
    });
  }

  /** Target of a navigation by this element; "" for its own frame. */
  meant(element: E | null): string {
    const meant = element === null ? undefined : this.#meant.get(element);
    return meant !== undefined && this.#access.now() - meant.since < NAVIGATES_WITHIN ? meant.target : "";
  }
}

/** The policy of the document, or what an element's `rel` and `referrerpolicy` say instead. */
export function referrerPolicyOf(element: Element | null, { config, realm }: PageContext): ReferrerPolicy | "" {
  if (/(?:^|\s)noreferrer(?:\s|$)/i.test(element?.getAttribute("rel") ?? "")) return "no-referrer";
  const own = parseReferrerPolicy(element?.getAttribute("referrerpolicy") ?? "");
  if (own !== "") return own;
  const metas = [document, realm.document].flatMap((each) => [
    ...each.querySelectorAll<HTMLMetaElement>("meta[name=referrer i]"),
  ]);
  return parseMetaReferrer(metas.at(-1)?.content ?? "") || config.referrerPolicy;
}

/** What the page at a real URL learns of this document, which sends somebody there. */
export function referrerFor(url: string, context: PageContext, policy = referrerPolicyOf(null, context)): string {
  return applyReferrerPolicy(policy, context.realUrl(), url);
}

/** Encodings of request bodies of forms, as browsers build them (HTML section 4.10.22). */
export type FormEncoding = "application/x-www-form-urlencoded" | "multipart/form-data" | "text/plain";

interface FormBody {
  readonly contentType: string;
  readonly body: ArrayBuffer;
}

type Entry = [name: string, value: FormDataEntryValue];

/** `enctype` and `formenctype`: unknown values mean urlencoded. */
export function parseEncoding(text: string): FormEncoding {
  const lower = text.toLowerCase();
  return lower === "multipart/form-data" || lower === "text/plain" ? lower : "application/x-www-form-urlencoded";
}

/** Text as the bytes that a form sends, one character each. */
export type FormCharset = (text: string) => string;

const percent = (byte: string) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
const unpercent = (text: string) =>
  text.replace(/%([0-9A-F]{2})/gi, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

export const utf8: FormCharset = (text) => unpercent(encodeURIComponent(text.toWellFormed()));

/**
 * The encoding of a form in this document (section 4.10.22.5). Queries of links are in it, too, so that the browser encodes.
 *
 * @param wanted `accept-charset`, or "". UTF-8 stands for one that is not the document's own.
 */
export function charsetOf(document: Document, wanted: string): FormCharset {
  const own = document.characterSet;
  const isOwn = wanted.trim() === "" || wanted.trim().toLowerCase() === own.toLowerCase();
  if (own.startsWith("UTF-") || !isOwn) return utf8;
  const link = htmlElement(document, "a");
  return (text) => {
    link.href = `http://a/?${text.replace(/[^a-z0-9\x80-\uffff]/gi, percent)}`;
    return unpercent(link.search.slice(1));
  };
}

/** In documents of all languages. */
export function htmlElement<Name extends "a" | "div" | "form" | "input" | "script">(
  document: Document,
  name: Name,
): HTMLElementTagNameMap[Name] {
  return document.createElementNS("http://www.w3.org/1999/xhtml", name) as HTMLElementTagNameMap[Name];
}

/** An address as the document means it, whose query is in its encoding. Undefined for none. */
export function resolved(text: string, document: Document): string | undefined {
  if (parseUrl(text, document.baseURI) === null) return undefined;
  return Object.assign(htmlElement(document, "a"), { href: text }).href;
}

/** Files count by their names; line ends become CR LF (section 4.10.22.7). */
function textEntries(entries: Iterable<Entry>, encode: FormCharset): [name: string, value: string][] {
  const bytes = (text: string) => encode(text.replace(/\r\n?|\n/g, "\r\n"));
  return [...entries].map(([name, value]) => [bytes(name), bytes(typeof value === "string" ? value : value.name)]);
}

function encodeQuery(entries: Iterable<Entry>, encode: FormCharset): string {
  const part = (text: string) => text.replace(/[^a-z0-9*._ -]/gi, percent).replaceAll(" ", "+");
  return textEntries(entries, encode)
    .map((entry) => entry.map(part).join("="))
    .join("&");
}

/** The action with its query replaced by the entries (section 4.10.22.3, "mutate action URL"). */
export function withQuery(action: string, entries: Iterable<Entry>, encode: FormCharset): string {
  const url = new URL(action);
  url.search = encodeQuery(entries, encode);
  return url.href;
}

export async function encodeForm(data: FormData, encoding: FormEncoding, encode: FormCharset): Promise<FormBody> {
  if (encoding === "multipart/form-data") {
    const response = new Response(data);
    const contentType = response.headers.get("content-type") ?? encoding;
    return { contentType, body: await response.arrayBuffer() };
  }
  const text =
    encoding === "text/plain"
      ? textEntries(data, encode)
          .map(([name, value]) => `${name}=${value}\r\n`)
          .join("")
      : encodeQuery(data, encode);
  return { contentType: encoding, body: bytesOf(text).buffer };
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (byte) => byte.charCodeAt(0));
}
