/** `/.ropeway/frame?url=…`: holds the place of a frame of another origin until the shell says which slot is its. */

import { later } from "../../../shared/errors.ts";
import { parseUrl } from "../../../shared/web/origin.ts";
import { MESSAGE_TAG, type PageToShell, type ShellToPage } from "../../messages/page-messages.ts";
import { isTagged } from "../../messages/worker-messages.ts";
import { POLICIES_ASKED } from "../policy.ts";
import { ropewayPath } from "../slot-url.ts";
import {
  askAround,
  bootTarget,
  holdLoad,
  isFramedByOthers,
  removeNetworkFeatures,
  sandboxAround,
  sayHere,
  shellOriginHere,
  tellTrouble,
} from "./this-document.ts";

removeNetworkFeatures(window);

/** Milliseconds without an answer after which the person may ask again. */
const ANSWER_TIMEOUT = 10_000;

/** Milliseconds after which the page that sets the slot up is taken to be lost, once something is in its place. */
const BOOT_TIMEOUT = 8_000;

/** Facts that the service worker has put into this document, since only it knows them. */
const told: DOMStringMap = document.currentScript?.dataset ?? {};
const shellOrigin = shellOriginHere();
const parameters = new URLSearchParams(location.search);
const url = told.url ?? parameters.get("url") ?? "";
const host = parseUrl(url)?.host ?? "";

/**
 * The real address that the page gave the frame, where that is of another site: a redirect or a link may have led elsewhere
 * since. Scripts of a page find real addresses in its elements (identity.ts), others this document's.
 */
function sourceOfFrame(): string {
  const { src = "" } = (window.frameElement ?? {}) as Partial<HTMLIFrameElement>;
  const { origin, pathname, searchParams } = parseUrl(src) ?? {};
  if (origin !== location.origin) return src;
  return pathname === ropewayPath.frame ? (searchParams?.get("url") ?? "") : "";
}

// Of frame.html.
const button = document.getElementById("load") as HTMLElement;
const note = document.getElementById("note") as HTMLElement;

function show(shown: HTMLElement, text: string): void {
  for (const each of [button, note]) each.hidden = each !== shown;
  void sayHere(shown, text, host);
}

/** @param isTrouble the person is told in the app, too. */
function refuse(isTrouble = false): void {
  show(note, later("This frame cannot be shown."));
  if (isTrouble) tellTrouble("frame", shellOrigin);
}

let timer: ReturnType<typeof setTimeout> | undefined;
/** No host is free for it. */
let giveUp = (): void => {};

/** @param isAsked the person wants it. */
function ask(isAsked: boolean): void {
  const release = holdLoad();
  // For the moment, so that no words are fetched.
  button.hidden = true;
  note.hidden = false;
  note.textContent = host;
  const message: PageToShell = {
    tag: MESSAGE_TAG,
    type: "frame-wanted",
    url,
    referrer: told.referrer ?? "",
    movedFrom: told.from ?? parameters.get("from"),
    isAsked,
    sandbox: window.frameElement === null ? undefined : sandboxAround(window),
    allow: window.frameElement?.getAttribute("allow") ?? undefined,
    source: sourceOfFrame(),
    ...(told.form !== undefined && { form: told.form }),
  };
  const offer = () => {
    release();
    show(button, later("Load {host}"));
  };
  giveUp = () => {
    clearTimeout(timer);
    offer();
    if (isAsked) show(note, later("There is no room for {host} now."));
    tellTrouble("frame", shellOrigin);
  };
  window.top?.postMessage(message, shellOrigin);
  timer = setTimeout(offer, ANSWER_TIMEOUT);
}

window.addEventListener("message", (event: MessageEvent<unknown>) => {
  if (event.origin !== shellOrigin || event.source !== window.top || !isTagged(event.data)) return;
  const message = event.data as ShellToPage;
  if (message.type === "no-host") giveUp();
  if (message.type !== "frame" || !/^https?:/.test(message.slotUrl)) return;
  if (message.topLevel && isFramedByOthers()) refuse(true);
  else go(message.slotUrl, message.bootsInside);
});

/**
 * The slot is set up in a frame below, so that this one makes one step: to a document of another process. Where such a
 * frame goes on within its origin, Chromium takes the page around it for loaded in between.
 */
function go(slotUrl: string, bootsInside: boolean): void {
  clearTimeout(timer);
  const { origin, pathname, search, hash } = new URL(slotUrl);
  const target = bootTarget({ search, hash }, origin);
  if (!bootsInside || pathname !== ropewayPath.boot || target === null) return location.replace(slotUrl);
  const boot = document.createElement("iframe");
  boot.hidden = true;
  boot.src = origin + ropewayPath.boot;
  window.addEventListener("message", ({ data, origin: sender, source }: MessageEvent<unknown>) => {
    if (sender === origin && source === boot.contentWindow && isTagged(data) && data.type === "booted")
      location.replace(target);
  });
  boot.addEventListener("load", () => setTimeout(() => location.replace(slotUrl), BOOT_TIMEOUT));
  document.body.append(boot);
}

button.addEventListener("click", () => ask(true));

/** Asks whether the policies of the page around the frame show it. A document without a page script has those of the next one. */
function askIfAllowed(): void {
  const detail: string[] = [];
  if (!askAround(new CustomEvent(POLICIES_ASKED, { detail, cancelable: true }))) return ask(false);
  const question = { method: "POST", body: JSON.stringify([url, ...detail]) };
  const release = holdLoad();
  void fetch(ropewayPath.frame, question).then(({ ok }) => {
    if (ok) ask(false);
    else refuse();
    release();
  });
}

// The page around it shows a blob's document in its place, and tells that a sandbox is closed.
const isBlob = /^blob:/i.test(url);
if (isBlob) setTimeout(holdLoad(), ANSWER_TIMEOUT);
if (parameters.has("closed")) show(note, later("This sandboxed part of the page is not shown."));
else if (isBlob) refuse();
else if (host === "" || window.top === window) refuse(true);
else askIfAllowed();
