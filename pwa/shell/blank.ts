/** The start page's document in the frame: nothing to see, but an entry in the history to come back to. */
import { historyKey } from "../slot/history-key.ts";
import { MESSAGE_TAG, type PageToShell } from "../slot/page-messages.ts";

function report(): void {
  const message: PageToShell = {
    tag: MESSAGE_TAG,
    type: "document",
    phase: "loaded",
    url: location.href,
    title: "",
    icon: null,
    historyKey: historyKey(),
  };
  parent.postMessage(message, location.origin);
}

window.addEventListener("pageshow", report);
