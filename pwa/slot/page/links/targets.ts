/** Links, forms and `window.open` that name another browsing context. There is one view: new windows open in it. */

import { parseUrl } from "../../../../shared/web/origin.ts";
import { type FormEncoding, parseEncoding, withQuery } from "../form-body.ts";
import { isBlobUrl, saveBlob } from "../frames/blob-documents.ts";
import type { PageContext } from "../page-context.ts";
import { patchAccessor, patchMethod } from "../patch.ts";
import { formCharset } from "./form-charset.ts";
import { navigationApi } from "./history-key.ts";
import { leave, referrerPolicyOf } from "./leave.ts";
import { downloadUrl, navigationGoal } from "./navigation-goal.ts";
import { Retargeting } from "./retargeting.ts";

type FrameElement = HTMLIFrameElement | HTMLFrameElement;

function framesOf(root: Document): FrameElement[] {
  return [...root.querySelectorAll<FrameElement>("iframe, frame")];
}

/** The frame of that name, in this document, its frames, or the documents around it, as far as they can be seen. */
function findFrame(name: string): FrameElement | null {
  let root: Window = window;
  for (;;) {
    const element = root.frameElement;
    if (element === null) break;
    root = element.ownerDocument.defaultView ?? root;
  }
  const documents: Document[] = [root.document];
  for (const seen of documents) {
    for (const frame of framesOf(seen)) {
      if (frame.name === name) return frame;
      if (frame.contentDocument !== null) documents.push(frame.contentDocument);
    }
  }
  return null;
}

function isSelf(target: string): boolean {
  return isUnnamed(target) || target === window.name;
}

/** The window itself, without its name, which the browser may not know (`window-name.ts`). */
function isUnnamed(target: string): boolean {
  return target === "" || target.toLowerCase() === "_self";
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
  if (isBlobUrl(url) && !isSelf(target)) {
    const frame = findFrame(target);
    if (frame === null) saveBlob(url);
    else frame.src = url;
    return true;
  }
  const charset = element instanceof HTMLFormElement ? formCharset(element, context) : "";
  const leaving = { url, data, encoding, charset, replace: false };
  if (isSelf(target)) {
    // The navigate event takes care of a link, where there is one.
    const isWatched = navigationApi !== undefined && !(element instanceof HTMLFormElement);
    if (isUnnamed(target) && (isWatched || staysInPlace(url, context))) return false;
    return leave({ ...leaving, policy: referrerPolicyOf(element, context), top: false }, context);
  }
  const frame = target.startsWith("_") ? null : findFrame(target);
  if (frame !== null) {
    const goal = navigationGoal(url, "frame", context.config);
    if (goal.kind !== "slot" || goal.url === url) return false;
    frame.src = goal.url;
    return true;
  }
  const policy = referrerPolicyOf(element, context);
  return leave({ ...leaving, policy, top: true }, context);
}

/** Whether the browser may go there by itself. */
function staysInPlace(url: string, { config }: PageContext): boolean {
  const goal = navigationGoal(url, config.topLevel ? "page" : "frame", config);
  return goal.kind === "native" || (goal.kind === "slot" && goal.url === url);
}

function baseTarget(): string {
  return document.querySelector("base[target]")?.getAttribute("target") ?? "";
}

function hrefOf(link: Element): string {
  const href = "href" in link ? link.href : "";
  if (typeof href === "string") return href;
  // An SVG link: its href is an SVGAnimatedString.
  const text = link.getAttribute("href") ?? link.getAttribute("xlink:href") ?? "";
  return parseUrl(text, document.baseURI)?.href ?? "";
}

/** The link that was clicked, unless the browser does something else with the click. */
function linkOf(event: MouseEvent): Element | undefined {
  if (event.defaultPrevented || event.button !== 0) return undefined;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return undefined;
  return event
    .composedPath()
    .find((node): node is Element => node instanceof Element && /^(?:a|area)$/i.test(node.localName));
}

function onClick(event: MouseEvent, context: PageContext): void {
  const link = linkOf(event);
  const url = link === undefined ? "" : hrefOf(link);
  if (link === undefined || url === "") return;
  const goal = navigationGoal(url, "page", context.config);
  if (link.hasAttribute("download") && goal.kind === "slot") {
    event.preventDefault();
    location.assign(downloadUrl(url, link.getAttribute("download") ?? "", context.config));
    return;
  }
  if (link.hasAttribute("download") && isBlobUrl(url)) return;
  const target = link.getAttribute("target") ?? baseTarget();
  const encoding = "application/x-www-form-urlencoded";
  if (goToTarget({ target, url, data: null, encoding, element: link }, context)) event.preventDefault();
}

/** Attributes of the submitter go before those of the form. */
function submit(form: HTMLFormElement, submitter: HTMLElement | null, context: PageContext): boolean {
  const read = (name: string) => submitter?.getAttribute(`form${name}`) ?? form.getAttribute(name);
  const target = read("target") ?? baseTarget();
  const method = (read("method") ?? "get").toLowerCase();
  if (method === "dialog") return false;
  const text = read("action") ?? "";
  const action = text === "" ? location.href : text;
  const absolute = parseUrl(action, document.baseURI)?.href;
  // Elsewhere `form-action` stops the submission, in Firefox and WebKit before the navigate event.
  if (absolute === undefined || (isUnnamed(target) && staysInPlace(absolute, context))) return false;
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
  if (text === "" || /^(?:about|javascript|data):/.test(url)) return null;
  if (isSelf(target)) {
    location.assign(url);
    return window;
  }
  const element = document.createElement("a");
  if (/\bnoreferrer\b/.test(String(args[2] ?? ""))) element.rel = "noreferrer";
  const handled = goToTarget({ target, url, data: null, encoding: parseEncoding(""), element }, context);
  const frame = findFrame(target);
  if (!handled && frame !== null) frame.src = url;
  return frame?.contentWindow ?? null;
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

function namesOtherWindow(target: string): boolean {
  return !isSelf(target) && (target.startsWith("_") || findFrame(target) === null);
}

/** The page keeps the event to itself; it may still prevent what the browser does. */
function onStopped(event: Event, context: PageContext): void {
  if (navigationApi === undefined || event.eventPhase === Event.NONE) return;
  if (event.type === "click" && event instanceof MouseEvent) {
    const link = linkOf(event);
    if (link === undefined || !namesOtherWindow(link.getAttribute("target") ?? baseTarget())) return;
    if (navigationGoal(hrefOf(link), "page", context.config).kind !== "native") retargeting.turn(link);
  } else if (event.type === "submit" && event instanceof SubmitEvent && event.target instanceof HTMLFormElement) {
    const { target: form, submitter } = event;
    const sender = submitter?.hasAttribute("formtarget") ? submitter : form;
    if (namesOtherWindow(sender.getAttribute(attributeOf(sender)) ?? baseTarget())) retargeting.turn(sender);
  }
}

export function patchTargets(context: PageContext): void {
  for (const name of ["stopPropagation", "stopImmediatePropagation"])
    patchMethod(Event.prototype, name, (native, self, args) => {
      if (self instanceof Event) onStopped(self, context);
      return native(self, args);
    });
  patchAccessor(Event.prototype, "cancelBubble", {
    set(native, self, value) {
      if (value && self instanceof Event) onStopped(self, context);
      native(value);
    },
  });
  // The bubble phase on the window comes last, so the page's own handlers had their say.
  window.addEventListener("click", (event) => onClick(event, context));
  window.addEventListener("submit", (event) => {
    const { target, submitter } = event;
    if (event.defaultPrevented || !(target instanceof HTMLFormElement)) return;
    if (submit(target, submitter, context)) event.preventDefault();
  });
  patchMethod(HTMLFormElement.prototype, "submit", (native, self, args) => {
    if (self instanceof HTMLFormElement && self.isConnected && submit(self, null, context)) return undefined;
    return native(self, args);
  });
  // The click of a link that is in no document never gets to the window.
  patchMethod(HTMLElement.prototype, "click", (native, self, args) => {
    if (self instanceof HTMLAnchorElement && !self.isConnected)
      self.addEventListener("click", (event) => onClick(event, context), { once: true });
    return native(self, args);
  });
  patchMethod(window, "open", (_native, _self, args) => open(args, context));
}
