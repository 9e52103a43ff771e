/** `/.ropeway/frame?url=…`: holds the place of a frame of another origin until the shell says which slot is its. */
import { isFramedByOthers } from "./framed-by-others.ts";
import { MESSAGE_TAG, type PageToShell, type ShellToPage } from "./page-messages.ts";
import { shellOriginOf } from "./shell-origin.ts";
import { parseUrl } from "./slot-url.ts";
import { isTagged } from "./worker-messages.ts";

/** Milliseconds without an answer after which the person may ask again. */
const ANSWER_TIMEOUT = 10_000;

const shellOrigin = shellOriginOf(location.origin);
const parameters = new URLSearchParams(location.search);
const url = parameters.get("url") ?? "";
const host = parseUrl(url)?.host ?? "";

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`Cannot show frame: the page has no element "${id}"`);
  return found;
}

const button = element("load");
const note = element("note");

function show(shown: HTMLElement, text: string): void {
  for (const each of [button, note]) each.hidden = each !== shown;
  shown.textContent = text;
}

function ask(): void {
  show(note, `Loading ${host}…`);
  const message: PageToShell = { tag: MESSAGE_TAG, type: "frame-wanted", url };
  window.top?.postMessage(message, shellOrigin);
  setTimeout(() => show(button, `Load ${host}`), ANSWER_TIMEOUT);
}

window.addEventListener("message", (event: MessageEvent<unknown>) => {
  if (event.origin !== shellOrigin || event.source !== window.top || !isTagged(event.data)) return;
  const message = event.data as ShellToPage;
  if (message.type !== "frame" || !/^https?:/.test(message.slotUrl)) return;
  if (message.topLevel && isFramedByOthers()) show(note, "This frame cannot be shown.");
  else location.replace(message.slotUrl);
});
button.addEventListener("click", ask);

if (parameters.has("closed")) show(note, "This sandboxed part of the page is not shown.");
else if (host === "" || window.top === window) show(note, "This frame cannot be shown.");
else ask();
