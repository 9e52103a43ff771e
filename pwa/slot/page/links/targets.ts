/** Links, forms and `window.open` that name another browsing context. There is one view: new windows open in it. */

import { parseUrl } from "../../../../shared/web/origin.ts";
import { type FormEncoding, parseEncoding, withQuery } from "../form-body.ts";
import { isBlobUrl, saveBlob } from "../frames/blob-documents.ts";
import type { PageContext, Realm } from "../page-context.ts";
import { patchAccessor, patchMethod } from "../patch.ts";
import { formCharset } from "./form-charset.ts";
import { type Goer, leave, referrerPolicyOf } from "./leave.ts";
import { downloadUrl, navigationGoal } from "./navigation-goal.ts";
import { Retargeting } from "./retargeting.ts";

/** Before they are shown otherwise. */
const { parent, top } = window;

/** The window of that name in the page, as far as names are told. One of another site tells only what its element says. */
function findWindow(name: string, from: Window): Window | null {
  let page = from;
  while (page.parent !== page.parent.parent) page = page.parent;
  const windows = [page];
  for (const each of windows) {
    const found = childOf(each, name);
    if (found !== null) return found;
    for (let index = 0; index < each.length; index += 1) windows.push(each[index] as Window);
  }
  return null;
}

function childOf(around: Window, name: string): Window | null {
  // By its element: a variable of the page may have the name, too.
  if (isOpen(around)) return elementOf(around, name)?.contentWindow ?? null;
  // What is readable of it are its frames.
  const found: unknown = Object.getOwnPropertyDescriptor(around, name)?.value;
  for (let index = 0; index < around.length; index += 1) if (around[index] === found) return found as Window;
  return null;
}

function elementOf({ document }: Realm, name: string): HTMLIFrameElement | undefined {
  return [...document.querySelectorAll<HTMLIFrameElement>("iframe, frame")].find((frame) => frame.name === name);
}

/** Whether its document is of this origin. */
function isOpen(other: Window): other is Realm {
  try {
    return Boolean(other.document);
  } catch {
    return false;
  }
}

/** The window itself, without its name, which the browser may not know (`window-name.ts`). */
function isUnnamed(target: string): boolean {
  return target === "" || target.toLowerCase() === "_self";
}

/** Which window a target names (HTML section 7.3.1.7). */
export function goerOf(target: string, { realm, config }: PageContext): Goer {
  const keyword = target.toLowerCase();
  if (isUnnamed(target) || target === realm.name) return "this";
  const isInPage = realm === window && parent.parent === top;
  if (keyword === "_top" || (keyword === "_parent" && (config.topLevel || isInPage))) return "page";
  const named = target.startsWith("_") ? null : findWindow(target, realm);
  const found = keyword === "_parent" ? realm.parent : named;
  if (found === null) return "new";
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
  const goer = goerOf(target, context);
  if (isBlobUrl(url) && goer !== "this") {
    const frame = typeof goer === "object" ? elementOf(goer.from, target) : undefined;
    if (frame === undefined) saveBlob(url);
    else frame.src = url;
    return true;
  }
  const isForm = element?.localName === "form";
  // The navigate event takes care of a link, where there is one.
  const isWatched = isUnnamed(target) && context.realm.navigation !== undefined && !isForm;
  if (isWatched || staysInPlace(url, target, context)) return false;
  const charset = isForm ? formCharset(element, context) : "";
  const policy = referrerPolicyOf(element, context);
  return leave({ url, data, encoding, charset, replace: false, policy, goer }, context);
}

/** Whether the browser may go there by itself. */
function staysInPlace(url: string, target: string, context: PageContext): boolean {
  const { config, realm } = context;
  const goer = goerOf(target, context);
  const goal = navigationGoal(url, config.topLevel && goer === "this" ? "page" : "frame", config);
  const isBrowsers = isUnnamed(target) || (typeof goer === "object" && goer.from === realm);
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

/** The link that was clicked, unless the browser does something else with the click. */
function linkOf(event: MouseEvent): Element | undefined {
  if (event.defaultPrevented || event.button !== 0) return undefined;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return undefined;
  return event
    .composedPath()
    .find((node): node is Element => "localName" in node && /^(?:a|area)$/i.test(String(node.localName)));
}

function onClick(event: MouseEvent, context: PageContext): void {
  const link = linkOf(event);
  const url = link === undefined ? "" : hrefOf(link);
  if (link === undefined || url === "") return;
  const goal = navigationGoal(url, "page", context.config);
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

function actionOf(form: Element, submitter: Element | null, { realm }: PageContext): string | undefined {
  const action = submitter?.getAttribute("formaction") ?? form.getAttribute("action");
  return parseUrl(action || realm.location.href, form.baseURI)?.href;
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
      url: isPost ? absolute : withQuery(absolute, data),
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
  const url = parseUrl(text, document.baseURI)?.href;
  if (url === undefined) throw new DOMException(`Cannot open window: invalid URL ${text}`, "SyntaxError");
  const goer = goerOf(target, context);
  const found = goer !== "new" && !target.startsWith("_") ? findWindow(target, context.realm) : null;
  if (text === "" || /^(?:about|javascript|data):/.test(url)) return found;
  if (goer === "this") {
    location.assign(url);
    return window;
  }
  const element = document.createElement("a");
  if (/\bnoreferrer\b/.test(String(args[2] ?? ""))) element.rel = "noreferrer";
  const encoding = parseEncoding("");
  const policy = referrerPolicyOf(element, context);
  if (isBlobUrl(url)) goToTarget({ target, url, data: null, encoding, element }, context);
  else leave({ url, data: null, encoding, charset: "", replace: false, policy, goer }, context);
  return found;
}

const { getAttribute, setAttribute, removeAttribute } = Element.prototype;

function attributeOf(element: Element): string {
  return /^(?:button|input)$/i.test(element.localName) ? "formtarget" : "target";
}

/** By elements whose events never got to the window. */
export const retargeting = new Retargeting<Element>({
  read: (element) => getAttribute.call(element, attributeOf(element)),
  write(element, target) {
    if (target === null) removeAttribute.call(element, attributeOf(element));
    else setAttribute.call(element, attributeOf(element), target);
  },
  afterwards: (task) => void setTimeout(task),
  now: Date.now,
});

/** The page keeps the event to itself; it may still prevent what the browser does. */
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

/**
 * Watches the documents of a realm.
 *
 * @returns listens to the window: for one whose document was written anew, and has lost its listeners.
 */
export function patchTargets(context: PageContext): () => void {
  const { realm } = context;
  const { document } = realm;
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
  // A frame's first blank document leaves its window, with all that listens to it, to the next one.
  const isThere = () => realm.document === document;
  const click = (event: MouseEvent) => isThere() && onClick(event, context);
  const submitted = (event: SubmitEvent) => {
    const { defaultPrevented, target, submitter } = event;
    if (isThere() && !defaultPrevented && submit(target as HTMLFormElement, submitter, context)) event.preventDefault();
  };
  const listen = () => {
    // The bubble phase on the window comes last, so the page's own handlers had their say.
    realm.addEventListener("click", click);
    realm.addEventListener("submit", submitted);
  };
  listen();
  patchMethod(realm.HTMLFormElement.prototype, "submit", (native, self, args) => {
    const form = self as HTMLFormElement;
    if (isThere() && form.isConnected && submit(form, null, context)) return undefined;
    return native(self, args);
  });
  // The click of a link that is in no document never gets to the window.
  patchMethod(realm.HTMLElement.prototype, "click", (native, self, args) => {
    const link = self as HTMLElement;
    if (isThere() && link.localName === "a" && !link.isConnected) link.addEventListener("click", click, { once: true });
    return native(self, args);
  });
  return listen;
}

export function patchOpen(context: PageContext): void {
  patchMethod(window, "open", (_native, _self, args) => open(args, context));
}
