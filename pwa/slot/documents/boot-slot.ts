/** Gets a slot's service worker a port, says that the slot is ready, and goes to the page that is wanted. */
import { type BootToFrame, MESSAGE_TAG, type PageToShell, type ShellToPage } from "../../messages/page-messages.ts";
import { isTagged, type PageToWorker } from "../../messages/worker-messages.ts";
import { isFramedByOthers } from "../policy/framed-by-others.ts";
import { ropewayPath } from "../slot-url.ts";
import { BACK_NAME, bootTarget, isBackHere, TOP_LEVEL_QUERY } from "./boot-target.ts";
import { holdLoad } from "./load-hold.ts";
import { slotWorkerHere } from "./slot-worker-here.ts";
import { workerContainer } from "./worker-container.ts";

const tag = MESSAGE_TAG;

interface GivenPort {
  readonly port: MessagePort;
  readonly topLevel: boolean;
}

/** @param shellOrigin where the app is. @throws Error where the browser has no service worker for the slot. */
export async function bootSlot(shellOrigin: string): Promise<void> {
  const tellShell = (type: "booting" | "slot-ready") => tell({ tag, type }, shellOrigin);
  tellShell("booting");
  const target = bootTarget(new URL(location.href), location.origin);
  const release = target === null ? () => {} : holdLoad();
  try {
    if (target !== null && location.search.startsWith(TOP_LEVEL_QUERY)) return go(target, true);
    const worker = await slotWorkerHere();
    const { topLevel } = await givePort(worker(), shellOrigin);
    // While this page is all there is of the slot, it is who a restarted service worker asks.
    const container = workerContainer();
    container.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
      if (isTagged(data) && data.type === "port-wanted") void givePort(worker(), shellOrigin);
    });
    container.startMessages();
    tellShell("slot-ready");
    if (target !== null) go(target, topLevel);
    else if (window.parent !== window.top)
      window.parent.postMessage({ tag, type: "booted" } satisfies BootToFrame, "*");
  } catch (error) {
    release();
    throw error;
  }
}

function tell(message: PageToShell, shellOrigin: string): void {
  window.top?.postMessage(message, shellOrigin);
}

async function givePort(worker: ServiceWorker, shellOrigin: string): Promise<GivenPort> {
  const message: PageToWorker = { tag, type: "port" };
  const given = await nextPort(shellOrigin);
  worker.postMessage(message, [given.port]);
  return given;
}

function nextPort(shellOrigin: string): Promise<GivenPort> {
  return new Promise((resolve) => {
    window.addEventListener("message", function receive(event: MessageEvent<unknown>) {
      const [port] = event.ports;
      if (event.origin !== shellOrigin || event.source !== window.top || !isTagged(event.data)) return;
      const message = event.data as ShellToPage;
      // The frame says so itself.
      if (message.type === "gone") location.replace(ropewayPath.frame);
      if (message.type !== "port" || port === undefined) return;
      window.removeEventListener("message", receive);
      if (message.isNewHere === true) sessionStorage.clear();
      resolve({ port, topLevel: message.topLevel });
    });
    const backTo = isBackHere() ? bootTarget(new URL(location.href), location.origin) : null;
    if (backTo !== null) window.name = BACK_NAME;
    tell({ tag, type: "port-wanted", ...(backTo !== null && { backTo }) }, shellOrigin);
  });
}

function go(target: string, topLevel: boolean): void {
  if (topLevel && isFramedByOthers()) throw new Error("Cannot boot slot: another site frames it");
  location.replace(target);
}
