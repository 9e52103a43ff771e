/** Carries out navigations that the browser must not do by itself. */

import { parseUrl } from "../../../../shared/web/origin.ts";
import { applyReferrerPolicy, parseReferrerPolicy, type ReferrerPolicy } from "../../../../shared/web/policies.ts";
import { MESSAGE_TAG } from "../../../messages/page-messages.ts";
import { ropewayPath, toReal } from "../../slot-url.ts";
import { showInFrame } from "../elements.ts";
import { encodeForm, type FormEncoding } from "../form-body.ts";
import { isBlobUrl } from "../frames/blob-documents.ts";
import { sandboxAround } from "../frames/sandbox.ts";
import type { PageContext, Realm } from "../page-context.ts";
import { navigationGoal } from "./navigation-goal.ts";

/** Which window is to go there. */
export type Goer =
  /** The one that asks. */
  | "this"
  /** The page on top. */
  | "page"
  /** A new one: there is one view, so the page on top. */
  | "new"
  /** The one that the browser finds by this name from there: it lets no frame lead what is around it (the app's sandbox). */
  | { readonly from: Realm; readonly target: string };

export interface Leaving {
  /** Absolute, slot or real. */
  readonly url: string;
  /** Body of a POST, null for GET. */
  readonly data: FormData | null;
  readonly encoding: FormEncoding;
  /** For `accept-charset`; "" for UTF-8, which is also what another site gets. */
  readonly charset: string;
  readonly replace: boolean;
  readonly policy: ReferrerPolicy | "";
  readonly goer: Goer;
}

/** Milliseconds after its load: a page that leaves earlier was not looked at by anybody. */
const HASTE = 2_000;

/**
 * The page sends itself to its own real address, at once and unasked: some do so wherever `location` does not name their
 * host, which here it never does, and would do so for ever. The shell, which sees one document after the other, counts.
 */
function isHastySelfSend({ data }: Leaving, slotUrl: string): boolean {
  if (data !== null || slotUrl !== location.href.split("#", 1)[0] || isTouched) return false;
  const [timing] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  const { loadEventEnd = 0 } = timing ?? {};
  return loadEventEnd === 0 || performance.now() - loadEventEnd < HASTE;
}

/** By the person. Of this document: what a browser knows of it outlasts the document (Chromium 156). */
let isTouched = false;
for (const type of ["pointerdown", "keydown"]) {
  window.addEventListener(
    type,
    () => {
      isTouched = true;
    },
    true,
  );
}

const getContentWindow = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, "contentWindow")?.get;
const { submit: nativeSubmit, click: nativeClick } = HTMLFormElement.prototype;

/** The policy of the document, or what an element's `rel` and `referrerpolicy` say instead. */
export function referrerPolicyOf(element: Element | null, { config, realm }: PageContext): ReferrerPolicy | "" {
  if (/(?:^|\s)noreferrer(?:\s|$)/i.test(element?.getAttribute("rel") ?? "")) return "no-referrer";
  const own = parseReferrerPolicy(element?.getAttribute("referrerpolicy") ?? "");
  if (own !== "") return own;
  const metas = [document, realm.document].flatMap((each) => [
    ...each.querySelectorAll<HTMLMetaElement>("meta[name=referrer i]"),
  ]);
  return parseReferrerPolicy(metas.at(-1)?.content ?? "") || config.referrerPolicy;
}

/** A POST to an address of the slot: the service worker gets its body as a stream. */
function submitByBrowser(
  url: string,
  data: FormData,
  target: string,
  { encoding, charset }: Leaving,
  realm: Realm,
): void {
  const { document } = realm;
  const form = document.createElement("form");
  form.method = "post";
  form.action = url;
  form.enctype = encoding;
  form.acceptCharset = charset;
  form.target = target;
  form.hidden = true;
  for (const [name, value] of data) {
    const input = document.createElement("input");
    input.name = name;
    if (typeof value === "string") {
      input.type = "hidden";
      input.value = value;
    } else {
      const files = new DataTransfer();
      if (value.name !== "" || value.size > 0) files.items.add(value);
      input.type = "file";
      input.files = files.files;
    }
    form.append(input);
  }
  document.documentElement.append(form);
  nativeSubmit.call(form);
  form.remove();
}

function goByBrowser(leaving: Leaving, slotUrl: string, { config, realm }: PageContext): void {
  const { data, goer, policy, replace } = leaving;
  // The placeholder asks in the document's name, and may not know of the link's own policy.
  const isPlaceholder = slotUrl.startsWith(`${config.slotOrigin}${ropewayPath.frame}?`);
  const url = isPlaceholder ? `${slotUrl}&policy=${policy}` : slotUrl;
  const { from, target } = typeof goer === "object" ? goer : { from: realm, target: "_self" };
  if (data !== null) submitByBrowser(url, data, target, leaving, from);
  else if (typeof goer === "object")
    nativeClick.call(Object.assign(from.document.createElement("a"), { target, href: url }));
  else if (replace) realm.location.replace(url);
  else realm.location.assign(url);
}

async function askShell(url: string, leaving: Leaving, context: PageContext): Promise<void> {
  const { data, encoding, policy, replace, goer } = leaving;
  const leads = goer === "page" ? "page" : "window";
  const encoded = data === null ? null : await encodeForm(data, encoding);
  context.toShell(
    {
      tag: MESSAGE_TAG,
      type: "navigate",
      url,
      method: data === null ? "GET" : "POST",
      headers: encoded === null ? [] : [["content-type", encoded.contentType]],
      body: encoded?.body ?? null,
      referrer: applyReferrerPolicy(policy, context.realUrl(), url),
      replace,
      ...(context.config.topLevel ? {} : { leads, sandbox: sandboxAround(context.realm) }),
    },
    encoded === null ? [] : [encoded.body],
  );
}

/** Goes there, by the browser or by the shell. False: it is the browser's own business. */
export function leave(leaving: Leaving, context: PageContext): boolean {
  const { config } = context;
  const { goer } = leaving;
  const isPages = goer === "page" || goer === "new";
  const isPage = isPages || (config.topLevel && goer === "this");
  const goal = navigationGoal(leaving.url, isPage ? "page" : "frame", config);
  if (goal.kind === "native") return false;
  const isShells = goal.kind === "shell" || (isPages && !config.topLevel);
  if (isShells || (isPage && isHastySelfSend(leaving, goal.url)))
    void askShell(toReal(goal.url, config), leaving, context);
  else goByBrowser(isPage ? { ...leaving, goer: "this" } : leaving, goal.url, context);
  return true;
}

/**
 * What `location` of another window does: the address that it is given becomes one of a slot. A slot's own address is no
 * web site's: the browser goes there, and that slot's worker shows nothing to strangers.
 */
export function send(
  target: Window,
  text: string,
  replaces: boolean,
  context: PageContext,
  slots: { isSlot(origin: string): boolean },
): void {
  const parsed = parseUrl(text, document.baseURI);
  const url = parsed?.href ?? text;
  const isSlots = parsed !== null && slots.isSlot(parsed.origin);
  const goal = isSlots ? ({ kind: "native" } as const) : navigationGoal(url, "frame", context.config);
  const frames = isBlobUrl(url) ? [...document.querySelectorAll("iframe")] : [];
  const frame = frames.find((each) => getContentWindow?.call(each) === target);
  if (frame !== undefined) return showInFrame(frame, url, context);
  const isPage = !context.config.topLevel && target.parent === target.parent.parent;
  if (isPage || goal.kind === "shell") {
    const encoding = "application/x-www-form-urlencoded";
    const goer = isPage ? "page" : "this";
    leave({ url, data: null, encoding, charset: "", replace: replaces, policy: "", goer }, context);
    return;
  }
  const address = goal.kind === "slot" ? goal.url : url;
  if (replaces) target.location.replace(address);
  else target.location.href = address;
}
