/**
 * Takes over navigations that would leave the slot, or that name another browsing context: links, forms, `location`,
 * `window.open`, refresh. The shell opens new windows.
 */
import type { ReferrerPolicy } from "../../../shared/http/heads.ts";
import { parseUrl } from "../../../shared/web/origin.ts";
import { isHold, MESSAGE_TAG, type OpensWindow } from "../../messages/page-messages.ts";
import { isPage, sandboxAround } from "../documents/this-document.ts";
import { ropewayPath, toReal } from "../slot-url.ts";
import { isBlobUrl, isShownBlob, saveBlob } from "./blob-documents.ts";
import { showInFrame } from "./elements.ts";
import {
  charsetOf,
  downloadUrl,
  encodeForm,
  type FormEncoding,
  hasFeature,
  htmlElement,
  navigationGoal,
  parseEncoding,
  Retargeting,
  referrerFor,
  referrerPolicyOf,
  resolved,
  upgraded,
  withQuery,
} from "./navigation-rules.ts";
import type { OpenedWindows } from "./opened-windows.ts";
import { isOpen, isThere, type PageContext, type Realm, windowsBelow } from "./page-context.ts";
import { patchAccessor, patchMethod } from "./patch.ts";

/** The window that is to go there. */
type Goer =
  /** The window that asks. */
  | "this"
  /** The page on top. */
  | "page"
  | NewWindow
  /** The window that the browser finds by this name from there: it lets no frame lead what is around it (the app's sandbox). */
  | { readonly from: Realm; readonly target: string };

interface NewWindow {
  /** "" for none. */
  readonly name: string;
  readonly hasOpener: boolean;
  readonly tab?: OpensWindow["tab"];
}

interface Leaving {
  /** Absolute, slot or real. */
  readonly url: string;
  /** Body of a POST, null for GET. */
  readonly data: FormData | null;
  readonly encoding: FormEncoding;
  /** `accept-charset`, "" for the document's own. */
  readonly charset: string;
  readonly replace: boolean;
  readonly policy: ReferrerPolicy | "";
  readonly goer: Goer;
  /** Where the new window has got an id already. */
  readonly opens?: OpensWindow;
}

/** Windows that this one has opened. */
let windows: OpenedWindows;

/** Of this window. @param tellStaying called where the page does not leave after all. */
export function watchNavigations(context: PageContext, opened: OpenedWindows, tellStaying: () => void): void {
  windows = opened;
  watchEvents(context, tellStaying);
  patchTargets(context);
  window.addEventListener(LEAD, (event) => {
    event.preventDefault();
    go((event as CustomEvent<Lead>).detail);
  });
  patchMethod(window, "open", (_native, _self, args) => open(args, context));
}

/**
 * Of a frame's window, whose document has no page script.
 *
 * @returns listens to the window: for one whose document was written anew, and has lost its listeners.
 */
export function watchFrameNavigations(context: PageContext): () => void {
  watchEvents(context, () => {});
  return patchTargets(context);
}

/**
 * Sends another window to an address, as its `location` does: the address becomes one of a slot. A slot's own address is no
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
  const frames = isBlobUrl(url) ? [...document.querySelectorAll("iframe, frame")] : [];
  const frame = frames.find((each) => windowIn(each) === target);
  if (frame !== undefined) return showInFrame(frame, url, context);
  const isToPage = !context.config.topLevel && isPage(target);
  if (isToPage || goal.kind === "shell") {
    const encoding = "application/x-www-form-urlencoded";
    const goer = isToPage ? "page" : "this";
    leave({ url, data: null, encoding, charset: "", replace: replaces, policy: "", goer }, context);
    return;
  }
  lead({ target, address: goal.kind === "slot" ? goal.url : url, replaces });
}

interface Lead {
  readonly target: Window;
  readonly address: string;
  readonly replaces: boolean;
}

/** Asks a window around another one to lead that. */
const LEAD = "ropeway-lead";

/** Browsers let a window in a sandbox, as the app's is, lead those below it alone; so one that is around the target does it. */
function lead(detail: Lead): void {
  const { target } = detail;
  const asked = new CustomEvent(LEAD, { detail, cancelable: true });
  for (let each = target; each !== window && !isPage(each); ) {
    each = each.parent;
    if (each !== window && isOpen(each) && !each.dispatchEvent(asked)) return;
  }
  go(detail);
}

function go({ target, address, replaces }: Lead): void {
  if (replaces) target.location.replace(address);
  else target.location.href = address;
}

function watchEvents(context: PageContext, tellStaying: () => void): void {
  const { realm } = context;
  const { navigation } = realm;
  navigation?.addEventListener("navigate", (event) => {
    if (isThere(context)) onNavigate(event, context, tellStaying);
  });
  // The page has made it a navigation within the document.
  navigation?.addEventListener("navigatesuccess", () => {
    if (leaving !== null && leaving === latest) tellStaying();
  });
}

function formOf(source: Element | null): HTMLFormElement | null {
  // The form may be of another realm.
  if (source?.localName === "form") return source as HTMLFormElement;
  return (source as Partial<HTMLButtonElement> | null)?.form ?? null;
}

function encodingOf(source: Element | null) {
  const form = formOf(source);
  return parseEncoding(source?.getAttribute("formenctype") ?? form?.getAttribute("enctype") ?? "");
}

/** A link's click, or a script that starts a download by it. Null: no download that the service worker can answer. */
function downloadName(event: NavigateEvent, source: Element | null, goalIsSlot: boolean): string | null {
  if (!goalIsSlot) return null;
  return event.downloadRequest ?? source?.getAttribute("download") ?? null;
}

/** Before pages may put one of their own in its place. */
const { setTimeout: later } = window;

/** The last one, within the document or not. */
let latest: NavigateEvent | null = null;
/** The last one of which the shell was told that the page leaves. */
let leaving: NavigateEvent | null = null;

function onNavigate(event: NavigateEvent, context: PageContext, tellStaying: () => void): void {
  latest = event;
  const { destination, navigationType } = event;
  if (destination.sameDocument) return;
  const { config } = context;
  if (navigationType === "traverse" || navigationType === "reload") {
    tellLeaving(event, context, tellStaying);
    return;
  }
  if (!event.cancelable || event.defaultPrevented) return;
  const goal = navigationGoal(destination.url, config.topLevel ? "page" : "frame", config);
  if (goal.kind === "native") {
    // In a frame of a page that page shows it.
    if (!isBlobUrl(destination.url) || event.downloadRequest !== null || context.realm.frameElement !== null) return;
    event.preventDefault();
    saveBlob(destination.url);
    return;
  }
  // Chromium has it since 134.
  const source: Element | null = event.sourceElement ?? null;
  const isLink = source !== null && /^(?:a|area)$/i.test(source.localName);
  const name = downloadName(event, isLink ? source : null, goal.kind === "slot");
  if (name !== null) {
    event.preventDefault();
    context.realm.location.assign(downloadUrl(goal.url, name, config));
    return;
  }
  const target = retargeting.meant(source) || retargeting.meant(source?.closest("form") ?? null);
  const goer = goerOf(target, context, source);
  const isInPlace = goer === "this" || (config.topLevel && goer === "page");
  if (isInPlace && goal.kind === "slot" && goal.url === destination.url) {
    tellLeaving(event, context, tellStaying);
    return;
  }
  event.preventDefault();
  leave(
    {
      url: destination.url,
      data: event.formData,
      encoding: encodingOf(source),
      charset: formOf(source)?.getAttribute("accept-charset") ?? "",
      replace: navigationType === "replace",
      policy: referrerPolicyOf(source, context),
      goer,
    },
    context,
  );
}

/** The page stays within its slot: the shell learns of it before the first byte comes. */
function tellLeaving(event: NavigateEvent, context: PageContext, tellStaying: () => void): void {
  const { url } = event.destination;
  // A download leaves the document where it is.
  if (!context.config.topLevel || new URL(url).pathname === ropewayPath.download) return;
  leaving = event;
  const isAgain = event.navigationType === "traverse" || event.navigationType === "reload";
  context.toShell({ tag: MESSAGE_TAG, type: "leaving", url, isAgain });
  // After the page's own listeners, and after the person, whom `beforeunload` may have asked. A later navigation aborts
  // this one too, though what it stands for may go on.
  later(() => {
    if (event.defaultPrevented || (event.signal.aborted && event === latest)) tellStaying();
  });
}

/** Before it is shown otherwise. */
const { parent } = window;

/** The window of that name in the page, as far as names are told. A window of another site has only its element's name. */
function findWindow(name: string, from: Window): Window | null {
  for (const each of windowsBelow(pageAround(from))) {
    const found = childOf(each, name);
    if (found !== null) return found;
  }
  return null;
}

/** The page that the window is in, as its `top` shows it. */
export function pageAround(from: Window = window): Window {
  let page = from;
  while (!isPage(page)) page = page.parent;
  return page;
}

function childOf(around: Window, name: string): Window | null {
  // By its element: a variable of the page may have the name, too.
  if (isOpen(around)) return elementOf(around, name)?.contentWindow ?? null;
  // Only its frames are readable.
  const found: unknown = Object.getOwnPropertyDescriptor(around, name)?.value;
  for (let index = 0; index < around.length; index += 1) if (around[index] === found) return found as Window;
  return null;
}

const [windowOfIframe, windowOfFrame] = [HTMLIFrameElement, HTMLFrameElement].map(
  ({ prototype }) => Object.getOwnPropertyDescriptor(prototype, "contentWindow")?.get,
);

/** The window in a frame of whatever realm; the page may be shown something else. */
export function windowIn(frame: Element): Window | null | undefined {
  return (frame.localName === "frame" ? windowOfFrame : windowOfIframe)?.call(frame);
}

function elementOf({ document }: Realm, name: string): HTMLIFrameElement | undefined {
  return [...document.querySelectorAll<HTMLIFrameElement>("iframe, frame")].find((frame) => frame.name === name);
}

const isFound = (goer: Goer): goer is Extract<Goer, { from: Realm }> => typeof goer === "object" && "from" in goer;
const isNew = (goer: Goer): goer is NewWindow => typeof goer === "object" && !isFound(goer);

/** The window itself, without its name, which the browser may not know (`like-a-tab.ts`). */
function isUnnamed(target: string): boolean {
  return target === "" || target.toLowerCase() === "_self";
}

/**
 * The window that a target names (HTML section 7.3.1.7).
 *
 * @param element whose `rel` says whether a new window has an opener (section 4.6.7.13); null: it has.
 */
function goerOf(target: string, { realm, config }: PageContext, element: Element | null): Goer {
  const keyword = target.toLowerCase();
  if (isUnnamed(target) || target === realm.name) return "this";
  const isInPage = realm === window && isPage(parent);
  if (keyword === "_top" || (keyword === "_parent" && (config.topLevel || isInPage))) return "page";
  const named = target.startsWith("_") ? null : findWindow(target, realm);
  const found = keyword === "_parent" ? realm.parent : named;
  if (found === null) {
    const rel = element?.getAttribute("rel") ?? "";
    const isKept = element === null || keyword !== "_blank" || /(?:^|\s)opener(?:\s|$)/i.test(rel);
    return {
      name: target.startsWith("_") ? "" : target,
      hasOpener: isKept && !/(?:^|\s)(?:noopener|noreferrer)(?:\s|$)/i.test(rel),
    };
  }
  if (named !== null && isOpen(named.parent)) return { from: named.parent, target };
  return isOpen(found) ? { from: found, target: "_self" } : { from: realm, target };
}

interface Targeted {
  readonly target: string;
  /** Absolute. */
  readonly url: string;
  readonly data: FormData | null;
  readonly encoding: FormEncoding;
  /** The element with `rel` and `referrerpolicy`. */
  readonly element: Element | null;
}

/** True: handled here. False: the browser does it, and `navigate` sees it where it has to. */
function goToTarget({ target, url, data, encoding, element }: Targeted, context: PageContext): boolean {
  const goer = goerOf(target, context, element);
  if (isBlobUrl(url) && goer !== "this") {
    const frame = isFound(goer) ? elementOf(goer.from, target) : undefined;
    if (isNew(goer) && isShownBlob(url)) openWindow(url, goer, element, context);
    else if (frame === undefined) saveBlob(url);
    else frame.src = url;
    return true;
  }
  const isForm = element?.localName === "form";
  // The navigate event takes care of a link, where there is one.
  const isWatched = isUnnamed(target) && context.realm.navigation !== undefined && !isForm;
  if (isWatched || staysInPlace(url, target, context)) return false;
  const charset = (isForm && element.getAttribute("accept-charset")) || "";
  const policy = referrerPolicyOf(element, context);
  return leave({ url, data, encoding, charset, replace: false, policy, goer }, context);
}

/** Whether the browser may go there by itself. */
function staysInPlace(url: string, target: string, context: PageContext): boolean {
  const { config, realm } = context;
  const goer = goerOf(target, context, null);
  const goal = navigationGoal(url, config.topLevel && goer === "this" ? "page" : "frame", config);
  const isBrowsers = isUnnamed(target) || (isFound(goer) && goer.from === realm);
  return goal.kind === "native" || (goal.kind === "slot" && goal.url === url && isBrowsers);
}

function targetOf(element: Element | null, name: string, { realm: { document } }: PageContext): string {
  return element?.getAttribute(name) ?? document.querySelector("base[target]")?.getAttribute("target") ?? "";
}

function hrefOf(link: Element): string {
  const href = "href" in link ? link.href : "";
  if (typeof href === "string") return href;
  // An SVG link: its href is an SVGAnimatedString.
  const text = link.getAttribute("href") ?? link.getAttribute("xlink:href") ?? "";
  return parseUrl(text, link.baseURI)?.href ?? "";
}

/** Links in closed shadow roots, of which nobody outside is told. */
const hiddenLinks = new WeakMap<Event, Element>();

/** How the person wants the link of a click in a tab, by the middle button or a key, if so. */
function tabFor({ button, ctrlKey, metaKey, shiftKey }: MouseEvent): OpensWindow["tab"] {
  const isWanted = button === 1 || (button === 0 && (ctrlKey || metaKey));
  return isWanted ? (shiftKey ? "in front" : "behind") : undefined;
}

/** The link that was clicked, unless the browser does something else with the click. */
function linkOf(event: MouseEvent): Element | undefined {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return undefined;
  return linkUnder(event);
}

function linkUnder(event: MouseEvent): Element | undefined {
  if (event.defaultPrevented) return undefined;
  const link = event
    .composedPath()
    .find((node): node is Element => "localName" in node && /^(?:a|area)$/i.test(String(node.localName)));
  return hiddenLinks.get(event) ?? link;
}

function onClick(event: MouseEvent, context: PageContext): void {
  const tab = tabFor(event);
  const link = tab === undefined ? linkOf(event) : linkUnder(event);
  const url = link === undefined ? "" : hrefOf(link);
  if (link === undefined || url === "") return;
  const goal = navigationGoal(url, "page", context.config);
  if (tab !== undefined) {
    if (goal.kind === "native") return;
    event.preventDefault();
    openWindow(url, { name: "", hasOpener: false, tab }, link, context);
    return;
  }
  if (link.hasAttribute("download") && goal.kind === "slot") {
    event.preventDefault();
    context.realm.location.assign(downloadUrl(url, link.getAttribute("download") ?? "", context.config));
    return;
  }
  if (link.hasAttribute("download") && isBlobUrl(url)) return;
  const target = targetOf(link, "target", context);
  const encoding = "application/x-www-form-urlencoded";
  if (goToTarget({ target, url, data: null, encoding, element: link }, context)) event.preventDefault();
}

/** A link or a picture under a finger, for a while, or with the keyboard's menu: the app offers what can be done with it, by its real address. */
function onHeld(event: PointerEvent, context: PageContext): void {
  const link = linkUnder(event);
  const picture = event.composedPath().find((node) => node instanceof HTMLImageElement);
  const url = link === undefined ? "" : toReal(hrefOf(link), context.config);
  const source = picture === undefined ? "" : toReal(picture.currentSrc, context.config);
  // No script opens the browser's own menu.
  const isAsked = event.isTrusted && isHold(event) && !event.defaultPrevented;
  if (!isAsked || !/^https?:/.test(url || source)) return;
  event.preventDefault();
  context.toShell({ tag: MESSAGE_TAG, type: "held", url, picture: source });
}

function actionOf(form: Element, submitter: Element | null, context: PageContext): string | undefined {
  const action = submitter?.getAttribute("formaction") ?? form.getAttribute("action");
  const url = resolved(action || context.realm.location.href, form.ownerDocument);
  return url && upgraded(url, true, context.policies(), context.config);
}

/** Attributes of the submitter go before those of the form. */
function submit(form: HTMLFormElement, submitter: HTMLElement | null, context: PageContext): boolean {
  const read = (name: string) => submitter?.getAttribute(`form${name}`) ?? form.getAttribute(name);
  const sender = submitter?.hasAttribute("formtarget") ? submitter : form;
  const target = targetOf(sender, attributeOf(sender), context);
  const method = (read("method") ?? "get").toLowerCase();
  if (method === "dialog") return false;
  const absolute = actionOf(form, submitter, context);
  // Elsewhere `form-action` stops the submission, in Firefox and WebKit before the navigate event.
  if (absolute === undefined || staysInPlace(absolute, target, context)) return false;
  const data = new FormData(form, submitter);
  const isPost = method === "post";
  return goToTarget(
    {
      target,
      url: isPost ? absolute : withQuery(absolute, data, charsetOf(form.ownerDocument, form.acceptCharset)),
      data: isPost ? data : null,
      encoding: parseEncoding(read("enctype") ?? ""),
      element: form,
    },
    context,
  );
}

function open(args: readonly unknown[], context: PageContext): Window | null {
  const text = args[0] === undefined ? "" : String(args[0]);
  const target = args[1] === undefined || args[1] === "" ? "_blank" : String(args[1]);
  const url = resolved(text, document);
  if (url === undefined) throw new DOMException(`Cannot open window: invalid URL ${text}`, "SyntaxError");
  const features = String(args[2] ?? "");
  const element = htmlElement(document, "a");
  element.rel = ["noreferrer", "noopener"].find((name) => hasFeature(features, name)) ?? "opener";
  const goer = goerOf(target, context, element);
  const isShown = isBlobUrl(url) ? isShownBlob(url) : !/^about:(?!blank$)/.test(url);
  if (isNew(goer) && isShown) return openWindow(text === "" ? "about:blank" : url, goer, element, context);
  const found = foundWindow(target, goer, element.rel);
  if (text === "" || /^(?:about|javascript|data):/.test(url)) {
    if (found === null && navigator.userActivation?.isActive) context.tell("tap");
    return found;
  }
  if (goer === "this") {
    location.assign(url);
    return found;
  }
  const encoding = parseEncoding("");
  const policy = referrerPolicyOf(element, context);
  if (isBlobUrl(url)) goToTarget({ target, url, data: null, encoding, element }, context);
  else leave({ url, data: null, encoding, charset: "", replace: false, policy, goer }, context);
  return found;
}

/** As `open` gives it back (HTML section 7.2.2.1): one found by its name without an opener is not told of. */
function foundWindow(target: string, goer: Goer, rel: string): Window | null {
  if (!isFound(goer)) return goer === "this" ? window : goer === "page" ? pageAround() : null;
  return goer.target === "_self" ? goer.from : rel === "opener" ? findWindow(target, window) : null;
}

/** Not on the web: a blank window, which the script fills or sends somewhere. Browsers show no `data:` in a window either. */
const LOCAL = /^(?:about|blob|data|javascript):/;

/** @param element as of `goerOf`. */
function openWindow(url: string, goer: NewWindow, element: Element | null, context: PageContext): Window | null {
  const isLocal = LOCAL.test(url);
  const real = isLocal ? "about:blank" : toReal(url, context.config);
  const { opens, shown } = opensFor(goer, isLocal ? null : real, /^(?:blob|javascript):/.test(url) ? url : "");
  const policy = referrerPolicyOf(element, context);
  const going = { data: null, encoding: parseEncoding(""), charset: "", replace: false, policy, goer };
  if (opens !== null) void askShell(real, { ...going, url: isLocal ? "" : url, opens }, context);
  return shown;
}

/** @param url real; null for none. @param local is shown in the window. */
function opensFor(
  { name, hasOpener, tab }: NewWindow,
  url: string | null,
  local = "",
): { opens: OpensWindow | null; shown: Window | null } {
  if (hasOpener) return windows.open(name, url, local);
  if (isBlobUrl(local)) return { ...windows.open("", null, local, false), shown: null };
  return { opens: { id: null, name, ...(tab && { tab }) }, shown: null };
}

const { attachShadow, getAttribute, setAttribute, removeAttribute } = Element.prototype;

function attributeOf(element: Element): string {
  return /^(?:button|input)$/i.test(element.localName) ? "formtarget" : "target";
}

/** By elements whose events never got to the window. */
const retargeting = new Retargeting<Element>({
  read: (element) => getAttribute.call(element, attributeOf(element)),
  write(element, target) {
    if (target === null) removeAttribute.call(element, attributeOf(element));
    else setAttribute.call(element, attributeOf(element), target);
  },
  afterwards: (task) => void setTimeout(task),
  now: Date.now,
});

/** The window does not get to see the event; the page may still prevent the browser's own action. */
function onStopped(event: Event, context: PageContext): void {
  if (context.realm.navigation === undefined || event.eventPhase === Event.NONE) return;
  const turn = (element: Element, url: string, target: string) => {
    if (!staysInPlace(url, target, context)) retargeting.turn(element, target);
  };
  if (event.type === "click" && "button" in event) {
    const link = linkOf(event as MouseEvent);
    if (link !== undefined) turn(link, hrefOf(link), targetOf(link, "target", context));
  } else if (event.type === "submit" && "submitter" in event) {
    const form = event.target as HTMLFormElement;
    const submitter = (event as SubmitEvent).submitter;
    const sender = submitter?.hasAttribute("formtarget") ? submitter : form;
    turn(sender, actionOf(form, submitter, context) ?? "", targetOf(sender, attributeOf(sender), context));
  }
}

/** Watches links and forms of a realm. @returns as of `watchFrameNavigations`. */
function patchTargets(context: PageContext): () => void {
  const { realm } = context;
  for (const name of ["stopPropagation", "stopImmediatePropagation"])
    patchMethod(realm.Event.prototype, name, (native, self, args) => {
      onStopped(self as Event, context);
      return native(self, args);
    });
  patchAccessor(realm.Event.prototype, "cancelBubble", {
    set(native, self, value) {
      if (value) onStopped(self as Event, context);
      native(value);
    },
  });
  // The next document has what listens to the window.
  const click = (event: MouseEvent) => isThere(context) && onClick(event, context);
  const held = (event: PointerEvent) => isThere(context) && onHeld(event, context);
  const submitted = (event: SubmitEvent) => {
    const { defaultPrevented, target, submitter } = event;
    if (isThere(context) && !defaultPrevented && submit(target as HTMLFormElement, submitter, context))
      event.preventDefault();
  };
  const listen = () => {
    // The bubble phase on the window comes last, so the page's own handlers had their say.
    for (const type of ["click", "auxclick"] as const) realm.addEventListener(type, click);
    if (context.config.topLevel && realm === window) realm.addEventListener("contextmenu", held);
    realm.addEventListener("submit", submitted);
  };
  listen();
  watchShadows(context);
  patchMethod(realm.HTMLFormElement.prototype, "submit", (native, self, args) => {
    const form = self as HTMLFormElement;
    if (isThere(context) && form.isConnected && submit(form, null, context)) return undefined;
    return native(self, args);
  });
  // The click of a link that is in no document never gets to the window.
  patchMethod(realm.HTMLElement.prototype, "click", (native, self, args) => {
    const link = self as HTMLElement;
    if (isThere(context) && link.localName === "a" && !link.isConnected)
      link.addEventListener("click", click, { once: true });
    return native(self, args);
  });
  return listen;
}

/** Links and forms in shadow roots: a submission never gets out of one, nor a link out of a closed one. */
function watchShadows(context: PageContext): void {
  const { realm } = context;
  const watched = new WeakSet<EventTarget>();
  const watch = (root: EventTarget): void => {
    if (!(root instanceof realm.ShadowRoot) || watched.has(root)) return;
    watched.add(root);
    root.addEventListener("click", (event) => {
      const link = linkOf(event as MouseEvent);
      if (link !== undefined) hiddenLinks.set(event, link);
    });
    root.addEventListener("submit", (event) => {
      const { target, submitter } = event as SubmitEvent;
      if (event.defaultPrevented || !isThere(context)) return;
      if (realm.navigation !== undefined) onStopped(event, context);
      else if (submit(target as HTMLFormElement, submitter, context)) event.preventDefault();
    });
  };
  patchMethod(realm.Element.prototype, "attachShadow", (native, self, args) => {
    const root = native(self, args);
    watch(root as ShadowRoot);
    return root;
  });
  patchMethod(realm.HTMLFormElement.prototype, "requestSubmit", (native, self, args) => {
    watch((self as Node).getRootNode());
    return native(self, args);
  });
  // Roots of markup.
  for (const type of ["click", "keydown"])
    realm.addEventListener(type, (event) => event.composedPath().forEach(watch), true);
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

const { submit: nativeSubmit, click: nativeClick } = HTMLFormElement.prototype;

/** A POST to an address of the slot: the service worker gets its body as a stream. */
function submitByBrowser(
  url: string,
  data: FormData,
  target: string,
  { encoding, charset }: Leaving,
  realm: Realm,
): void {
  const { document } = realm;
  const form = htmlElement(document, "form");
  form.method = "post";
  form.action = url;
  form.enctype = encoding;
  form.acceptCharset = charset;
  form.target = target;
  for (const [name, value] of data) {
    const input = htmlElement(document, "input");
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
  // The page has had the events of its own form; those of this one do not leave the tree.
  const host = htmlElement(document, "div");
  attachShadow.call(host, { mode: "closed" }).append(form);
  document.documentElement.append(host);
  nativeSubmit.call(form);
  host.remove();
}

function goByBrowser(leaving: Leaving, slotUrl: string, { config, realm }: PageContext): void {
  const { data, goer, policy, replace } = leaving;
  // The placeholder asks in the document's name, and may not know of the link's own policy.
  const isPlaceholder = slotUrl.startsWith(`${config.slotOrigin}${ropewayPath.frame}?`);
  const url = isPlaceholder ? `${slotUrl}&policy=${policy}` : slotUrl;
  const { from, target } = isFound(goer) ? goer : { from: realm, target: "_self" };
  if (data !== null) submitByBrowser(url, data, target, leaving, from);
  else if (isFound(goer))
    nativeClick.call(Object.assign(htmlElement(from.document, "a"), { target, href: url, referrerPolicy: policy }));
  else if (replace) realm.location.replace(url);
  else realm.location.assign(url);
}

async function askShell(url: string, leaving: Leaving, context: PageContext): Promise<void> {
  const { data, encoding, charset, policy, replace, goer } = leaving;
  const leads = goer === "page" ? "page" : "window";
  const opens = leaving.opens ?? (isNew(goer) ? opensFor(goer, url).opens : null);
  const encoded = data === null ? null : await encodeForm(data, encoding, charsetOf(context.realm.document, charset));
  context.toShell(
    {
      tag: MESSAGE_TAG,
      type: "navigate",
      url,
      method: data === null ? "GET" : "POST",
      headers: encoded === null ? [] : [["content-type", encoded.contentType]],
      body: encoded?.body ?? null,
      referrer: referrerFor(url, context, policy),
      replace,
      ...(opens === null ? {} : { opens }),
      ...(context.config.topLevel ? {} : { leads, sandbox: sandboxAround(context.realm) }),
    },
    encoded === null ? [] : [encoded.body],
  );
}

/** Goes there, by the browser or by the shell. False: it is the browser's own business. */
function leave(leaving: Leaving, context: PageContext): boolean {
  const { config } = context;
  const { goer } = leaving;
  const isPage = goer === "page" || isNew(goer) || (config.topLevel && goer === "this");
  const url = upgraded(leaving.url, leaving.data !== null, context.policies(), config);
  const goal = navigationGoal(url, isPage ? "page" : "frame", config);
  if (goal.kind === "native") return false;
  const isShells = goal.kind === "shell" || isNew(goer) || (goer === "page" && !config.topLevel);
  if (isShells || (isPage && isHastySelfSend(leaving, goal.url)))
    askShell(toReal(goal.url, config), leaving, context).catch(() => context.tell("form"));
  else goByBrowser(isPage ? { ...leaving, goer: "this" } : leaving, goal.url, context);
  return true;
}
