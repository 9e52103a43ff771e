/** What the focus in the page needs beyond what a browser does for a frame of another origin. */
import { MESSAGE_TAG } from "../../messages/page-messages.ts";
import { isShortcut } from "../shortcuts.ts";
import type { PageContext } from "./page-context.ts";

/** The browser refuses `autofocus` in such frames (HTML section 6.6.7). The shell gives the page the focus a little later. */
export function helpAutofocus(): void {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  const focus = () => {
    if (isOver || document.readyState === "loading" || !document.hasFocus()) return;
    // A script, or the person, was first; or the address names a part of the page.
    if (document.activeElement !== document.body || document.querySelector(":target") !== null) return end();
    const candidate = document.querySelector<HTMLElement>("[autofocus]");
    candidate?.focus();
    if (candidate !== null) end();
  };
  for (const type of ["DOMContentLoaded", "load", "focus"]) window.addEventListener(type, focus);
  for (const type of ["pointerdown", "keydown"]) window.addEventListener(type, end, true);
}

/** The shell's keys, which only the page sees while it has the focus. Last, so that the page's own use of them holds. */
export function passKeys(context: PageContext): void {
  window.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey, isTrusted, defaultPrevented } = event;
    const press = { key, ctrlKey, metaKey, altKey, shiftKey };
    if (!isTrusted || defaultPrevented || !isShortcut(press, /Mac|iPhone|iPad/.test(navigator.platform))) return;
    // Escape closes what the page has open, too.
    if (key !== "Escape") event.preventDefault();
    context.toShell({ tag: MESSAGE_TAG, type: "key", press });
  });
}
