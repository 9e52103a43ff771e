/** A request as the service worker got it, with real URLs: what the origin would have been asked directly. */
import type {
  CacheMode,
  CredentialsMode,
  Destination,
  HeaderField,
  RedirectMode,
  RequestMode,
} from "../../../shared/http/heads.ts";
import { RESERVED_PATH } from "../../../shared/subprotocol.ts";
import { isMixedContent } from "../../../shared/web/origin.ts";
import { applyReferrerPolicy, parseReferrerPolicy } from "../../../shared/web/policies.ts";
import type { PortRequestHead } from "../../messages/port-messages.ts";
import { ORIGINAL_MARK, UPLOAD_NUMBER } from "../../messages/worker-messages.ts";
import { isSlotUrl, takeFormMark, toReal } from "../../slot/slot-url.ts";
import type { SlotContext } from "../slot-context.ts";

/** Set by the browser for its own ends (`origin` names the slot), or by the edge for the session. */
const NOT_FORWARDED = new Set(["user-agent", "upgrade-insecure-requests", "accept-encoding", "origin", UPLOAD_NUMBER]);

/** What the edge may hold back. */
const MAY_WAIT: ReadonlySet<string> = new Set(["audio", "image", "video"]);

const ORIGINAL = new RegExp(`[?&]${ORIGINAL_MARK}(?=#|$)`);

export interface RequestCircumstances {
  /** Slot URL of the page that asks, or null when unknown. */
  readonly documentUrl: string | null;
  readonly bodyLength: number | null;
}

/** @param target the URL to ask for, on the slot or real; the request's own but for downloads. */
export function requestHead(
  request: Request,
  target: string,
  context: SlotContext,
  { documentUrl, bodyLength }: RequestCircumstances,
): PortRequestHead {
  // Scripts read the addresses of elements, and fetch them.
  const asked = request.mode === "navigate" ? target : target.replace(ORIGINAL, "");
  const url = new URL(toReal(asked, context));
  url.hash = "";
  const isNavigation = request.mode === "navigate";
  // The slot may be http: where the real page is https:, so that the browser sees no mixed content.
  if (!isNavigation && isMixedContent(url, context.realOrigin)) url.protocol = "https:";
  return {
    method: request.method,
    url: url.href,
    headers: forwardedFields(request, bodyLength),
    // The page itself is a frame in the shell: in a top-level slot a frame's document is the page's, or same-origin.
    destination: isNavigation && context.binding.topLevel ? "document" : (request.destination as Destination),
    mode: request.mode as RequestMode,
    credentials: isNavigation ? "include" : (request.credentials as CredentialsMode),
    // Whether a document may load on another origin, and with which cookies, depends on where it will be shown.
    redirect: isNavigation ? "same-origin" : (request.redirect as RedirectMode),
    ...(isNavigation ? { form: takeFormMark(target).form ?? "" } : {}),
    ...(asked !== target && MAY_WAIT.has(request.destination) ? { wantsOriginal: true } : {}),
    ...(request.cache === "default" ? {} : { cache: request.cache as CacheMode }),
    referrer: referrerOf(
      { referrer: request.referrer, policy: request.referrerPolicy },
      url.href,
      context,
      documentUrl,
    ),
  };
}

/** As the browser lists them. */
function languages(): string {
  return navigator.languages.join(",");
}

/** The fields that go on to the origin. */
export function forwardedFields({ headers }: Pick<Request, "headers">, bodyLength: number | null): HeaderField[] {
  const fields: HeaderField[] = [];
  for (const [name, value] of headers) {
    if (NOT_FORWARDED.has(name) || name.startsWith("sec-")) continue;
    // The session says the browser's own; a script may have set another.
    if (name === "accept-language" && value.replace(/;q=[\d.]+/g, "") === languages()) continue;
    fields.push([name, value]);
  }
  if (bodyLength !== null) fields.push(["content-length", String(bodyLength)]);
  return fields;
}

/** A referrer of another origin counts as none. */
function isReserved(url: URL, slot: SlotContext): boolean {
  return url.origin === slot.slotOrigin && url.pathname.startsWith(RESERVED_PATH);
}

/**
 * What a request for `targetUrl` refers to, with real URLs.
 *
 * @param asked what the browser says of the request.
 */
export function referrerOf(
  { referrer, policy }: { readonly referrer: string; readonly policy: string },
  targetUrl: string,
  slot: SlotContext,
  documentUrl: string | null,
): string {
  // The browser takes the real address of the page's own origin for another one's. The page script says where none is meant.
  const isOwn = policy === "same-origin" && URL.parse(targetUrl)?.origin === slot.realOrigin;
  const told = referrer === "" && isOwn ? (documentUrl ?? "") : referrer;
  const source = URL.parse(told);
  if (source === null || source.origin === slot.shellOrigin || isReserved(source, slot)) return "";
  // The browser has cut the referrer to the slot's origin where it took the target for another one.
  const cut = isSlotUrl(source, slot) && source.pathname === "/" && source.search === "";
  // A srcdoc or blob: document asks in the name of the one that made it, which the referrer tells.
  const document = URL.parse(documentUrl ?? "");
  const full = cut && document !== null && isSlotUrl(document, slot) ? document.href : told;
  return applyReferrerPolicy(parseReferrerPolicy(policy), toReal(full, slot), targetUrl);
}
