/**
 * Stands in for a document that could not be shown where it was asked for, and tells the shell why: it failed, or it
 * lives on another origin. In a frame of a page there is no shell to tell: the frame says it itself, or goes to the
 * frame placeholder.
 */

import { later } from "../../../shared/errors.ts";
import {
  entryKey,
  type FailedNavigation,
  MESSAGE_TAG,
  type Notice,
  type PageToShell,
} from "../../messages/page-messages.ts";
import { ropewayPath, ropewayUrl } from "../slot-url.ts";
import { holdLoad, removeNetworkFeatures, sayHere, shellOriginHere, tellTrouble } from "./this-document.ts";

removeNetworkFeatures(window);

const notice = JSON.parse(document.currentScript?.dataset.notice ?? "null") as Notice | null;
const shellOrigin = shellOriginHere();
const isPage = window.parent === window.top && window.parent !== window;

if (notice !== null) {
  if (isPage) window.addEventListener("pageshow", () => tellShell(notice));
  else if (notice.kind === "moved") goOn(notice.url, notice.from);
  else document.addEventListener("DOMContentLoaded", () => sayInFrame(notice));
}

function goOn(url: string, from: string): void {
  holdLoad();
  location.replace(`${ropewayUrl(ropewayPath.frame, url)}&from=${encodeURIComponent(from)}`);
}

function tellShell(told: Notice): void {
  const message: PageToShell =
    told.kind === "failed"
      ? { ...told, tag: MESSAGE_TAG, type: "failed", historyKey: entryKey(window.navigation, location.href) }
      : { tag: MESSAGE_TAG, type: "moved", url: told.url, referrer: told.referrer ?? "" };
  window.parent.postMessage(message, shellOrigin);
}

function sayInFrame({ url, trouble }: FailedNavigation): void {
  const text = document.createElement("p");
  document.body.append(text);
  void sayHere(text, later("Cannot load {host}"), URL.parse(url)?.host ?? "");
  if (trouble !== undefined) tellTrouble(trouble, shellOrigin);
}
