/**
 * Parts of a navigation, each by itself: the address that it really goes to, the window that it was meant for, the body of
 * its form.
 */
import { parseUrl } from "../../../shared/web/origin.ts";
import { isSlotUrl, ropewayPath, ropewayUrl, type SlotIdentity, toReal, toSlot } from "../slot-url.ts";
import type { PageContext } from "./page-context.ts";
import { patchMethod } from "./patch.ts";

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

/** The slot URL that the service worker answers as an attachment. `name`: the `download` attribute, may be "". */
export function downloadUrl(url: string, name: string, slot: SlotIdentity): string {
  return `${ropewayUrl(ropewayPath.download, toReal(url, slot))}&name=${encodeURIComponent(name)}`;
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

/** Files count by their names; line ends become CR LF (section 4.10.22.7). */
function textEntries(entries: Iterable<Entry>): [name: string, value: string][] {
  const normalize = (text: string) => text.replace(/\r\n?|\n/g, "\r\n");
  return [...entries].map(([name, value]) => [
    normalize(name),
    normalize(typeof value === "string" ? value : value.name),
  ]);
}

function encodeQuery(entries: Iterable<Entry>): string {
  return new URLSearchParams(textEntries(entries)).toString();
}

/** The action with its query replaced by the entries (section 4.10.22.3, "mutate action URL"). */
export function withQuery(action: string, entries: Iterable<Entry>): string {
  const url = new URL(action);
  url.search = encodeQuery(entries);
  return url.href;
}

export async function encodeForm(data: FormData, encoding: FormEncoding): Promise<FormBody> {
  if (encoding === "multipart/form-data") {
    const response = new Response(data);
    const contentType = response.headers.get("content-type") ?? encoding;
    return { contentType, body: await response.arrayBuffer() };
  }
  const text =
    encoding === "text/plain"
      ? textEntries(data)
          .map(([name, value]) => `${name}=${value}\r\n`)
          .join("")
      : encodeQuery(data);
  return { contentType: encoding, body: new TextEncoder().encode(text).buffer };
}

/** Encoding that the document had on its way: its field goes before its markup. "" where none was told. */
function documentCharset({ config, realm: { document } }: PageContext): string {
  if (config.charset !== "") return config.charset;
  const meta = document.querySelector("meta[charset], meta[http-equiv=content-type i][content*=charset i]");
  return meta?.getAttribute("charset") ?? meta?.getAttribute("content")?.split(/charset\s*=\s*/i)[1] ?? "";
}

/** `accept-charset` of a form that goes out: its own, or the document's. "" for UTF-8. */
export function formCharset(form: Element | null, context: PageContext): string {
  const charset = form?.getAttribute("accept-charset") ?? documentCharset(context);
  return /^\s*utf-?8\s*$/i.test(charset) ? "" : charset;
}

/**
 * The character encoding of forms. The service worker hands documents on in UTF-8, and the browser would send their forms so, too;
 * a site that writes another encoding expects that (HTML section 4.10.22.4).
 */
export function patchFormCharset(context: PageContext): void {
  const { realm } = context;
  const prepare = (form: unknown) => {
    if (!(form instanceof realm.HTMLFormElement) || form.hasAttribute("accept-charset")) return;
    const charset = formCharset(form, context);
    if (charset !== "") form.acceptCharset = charset;
  };
  // Before the page's own listeners, which may send it in their own way.
  realm.addEventListener("submit", ({ target }) => prepare(target), true);
  patchMethod(realm.HTMLFormElement.prototype, "submit", (native, self, args) => {
    prepare(self);
    return native(self, args);
  });
}
