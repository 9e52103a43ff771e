/** The start page's document in the frame: nothing to see, but an entry in the history to come back to. */

import { entryKey, MESSAGE_TAG, type PageToShell } from "../messages/page-messages.ts";

function report(): void {
  const message: PageToShell = {
    tag: MESSAGE_TAG,
    type: "document",
    phase: "loaded",
    url: location.href,
    title: "",
    icon: null,
    historyKey: entryKey(window.navigation, location.href),
  };
  parent.postMessage(message, location.origin);
}

window.addEventListener("pageshow", report);
// Between entries of before the app was closed.
window.addEventListener("popstate", report);
