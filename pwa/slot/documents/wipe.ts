/**
 * `/.ropeway/wipe`: comes from the edge, never from the slot's service worker, and empties a host of a list before
 * another origin has it (decision 30). Then it does what the boot page does. The shell decides: a page of any site may
 * show this document, whose host is no secret.
 */
import { MESSAGE_TAG, type PageToShell } from "../../messages/page-messages.ts";
import type { SlotCondition } from "../../messages/slot-condition.ts";
import { isTagged, type PageToWorker } from "../../messages/worker-messages.ts";
import { removeNetworkFeatures } from "../page/network-features.ts";
import { ropewayPath } from "../slot-url.ts";
import { bootSlot } from "./boot-slot.ts";
import { type CookieAccess, clearLeftovers, hasLeftovers } from "./leftovers.ts";
import { shellOriginHere } from "./shell-origin-here.ts";
import { slotWorkerHere } from "./slot-worker-here.ts";

const tag = MESSAGE_TAG;
const shellOrigin = shellOriginHere();
const { cookieStore = null } = window as unknown as { readonly cookieStore?: CookieAccess };

removeNetworkFeatures(window);

function tellShell(message: PageToShell): void {
  window.top?.postMessage(message, shellOrigin);
}

function conditionBy(worker: ServiceWorker): Promise<SlotCondition> {
  const { port1, port2 } = new MessageChannel();
  const message: PageToWorker = { tag, type: "condition-wanted" };
  worker.postMessage(message, [port2]);
  return new Promise((resolve) => {
    port1.onmessage = ({ data }: MessageEvent<SlotCondition>) => resolve(data);
  });
}

function allowed(): Promise<void> {
  return new Promise((resolve) => {
    window.addEventListener("message", (event: MessageEvent<unknown>) => {
      if (event.origin !== shellOrigin || event.source !== window.top || !isTagged(event.data)) return;
      if (event.data.type === "wipe") resolve();
    });
  });
}

/** @returns what the host is by now: it was empty before, or is emptied, or cannot be. */
async function wipe(): Promise<"empty" | "emptied" | "in use"> {
  const isFresh = (await navigator.serviceWorker.getRegistrations()).length === 0;
  const worker = await slotWorkerHere();
  const isAllowed = allowed();
  tellShell({ tag, type: "wipe-wanted", ...(await conditionBy(worker())) });
  await isAllowed;
  // Other windows know by now that it has no origin.
  if (!(await conditionBy(worker())).isAlone) return "in use";
  if (isFresh && !(await hasLeftovers(cookieStore))) return "empty";
  await clearLeftovers(cookieStore);
  return (await hasLeftovers(cookieStore)) ? "in use" : "emptied";
}

async function run(): Promise<void> {
  tellShell({ tag, type: "booting" });
  const state = await wipe().catch(() => "in use");
  tellShell({ tag, type: "wiped", isEmpty: state !== "in use" });
  if (state === "in use") return;
  // A worker of before goes on, with what it knows, for as long as a document has it.
  const hasFormerWorker = state === "emptied" && navigator.serviceWorker.controller !== null;
  if (hasFormerWorker) location.replace(ropewayPath.boot + location.hash);
  else await bootSlot(shellOrigin);
}

run().catch((error: unknown) => {
  document.getElementById("failure")?.removeAttribute("hidden");
  throw error;
});
