/** Gets a slot's service worker a port, says that the slot is ready, and goes to the page that is wanted. */
import { type BootToFrame, MESSAGE_TAG, type PageToShell, type ShellToPage } from "../../messages/page-messages.ts";
import { isTagged, type PageToWorker } from "../../messages/worker-messages.ts";
import { ropewayPath, TOP_LEVEL_QUERY } from "../slot-url.ts";
import { BACK_NAME, bootTarget, holdLoad, isBackHere, isFramedByOthers } from "./this-document.ts";

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
    const { topLevel } = await givePort(worker(), shellOrigin, target);
    // While this page is all there is of the slot, a restarted service worker asks it.
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

/** @param goal URL that this page goes on to, if any. */
async function givePort(worker: ServiceWorker, shellOrigin: string, goal: string | null = null): Promise<GivenPort> {
  const message: PageToWorker = { tag, type: "port", goal };
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
    if (backTo !== null && !window.name.startsWith(BACK_NAME)) window.name = BACK_NAME + window.name;
    tell({ tag, type: "port-wanted", ...(backTo !== null && { backTo }) }, shellOrigin);
  });
}

function go(target: string, topLevel: boolean): void {
  if (topLevel && isFramedByOthers()) throw new Error("Cannot boot slot: another site frames it");
  location.replace(target);
}

/** Registers the slot's service worker, if need be. @returns the one that answers fetches. */
export async function slotWorkerHere(): Promise<() => ServiceWorker> {
  // The cache may answer for a while after the last look: looking costs a connection of this host's own.
  const options: RegistrationOptions = { scope: "/", updateViaCache: "all" };
  const container = workerContainer();
  const registration = await registerPersistently(
    () => container.register(ropewayPath.serviceWorker, options),
    (time) => new Promise((resolve) => setTimeout(resolve, time)),
  );
  const worker = await activeWorker(registration);
  return () => registration.active ?? worker;
}

/** Resolves when this registration's worker answers fetches. */
async function activeWorker(registration: ServiceWorkerRegistration): Promise<ServiceWorker> {
  if (registration.active !== null) return registration.active;
  const worker = registration.installing ?? registration.waiting;
  return new Promise((resolve, reject) => {
    worker?.addEventListener("statechange", () => {
      if (worker.state === "activated") resolve(worker);
      else if (worker.state === "redundant") reject(new Error("Cannot boot slot: its service worker was discarded"));
    });
  });
}

/** Milliseconds between two tries to register. */
const PAUSE = 2_000;

/**
 * Registers a service worker, again and again where its script did not come (Service Workers section 4, "Update": a
 * TypeError): on a poor link one lost request must not end the site. A refusal of the browser is thrown.
 */
export async function registerPersistently<Registration>(
  register: () => Promise<Registration>,
  pause: (time: number) => Promise<void>,
): Promise<Registration> {
  for (;;) {
    try {
      return await register();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    await pause(PAUSE);
  }
}

/**
 * `navigator.serviceWorker` of this document. A frame's first document has the window that its blank document had, and
 * there the page around it has taken the property away (`page/child-windows.ts`): a frame of our own has it still.
 */
function workerContainer(): ServiceWorkerContainer {
  if ("serviceWorker" in navigator) return navigator.serviceWorker;
  const fresh = document.createElement("iframe");
  fresh.hidden = true;
  document.documentElement.append(fresh);
  const realm = fresh.contentWindow as (Window & typeof globalThis) | null;
  const property = Object.getOwnPropertyDescriptor(realm?.Navigator.prototype ?? {}, "serviceWorker");
  fresh.remove();
  const container = property?.get?.call(navigator) as ServiceWorkerContainer | undefined;
  if (container === undefined) throw new Error("Cannot boot slot: the browser has no service workers here");
  return container;
}
