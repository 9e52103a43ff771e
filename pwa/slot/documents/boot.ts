/** `/.ropeway/boot`: installs the slot's service worker, gets it a port, and says that the slot is ready. */

import { type BootToFrame, MESSAGE_TAG, type PageToShell, type ShellToPage } from "../../messages/page-messages.ts";
import { isTagged, type PageToWorker } from "../../messages/worker-messages.ts";
import { removeNetworkFeatures } from "../page/network-features.ts";
import { isFramedByOthers } from "../policy/framed-by-others.ts";
import { ropewayPath } from "../slot-url.ts";
import { bootTarget, TOP_LEVEL_QUERY } from "./boot-target.ts";
import { holdLoad } from "./load-hold.ts";
import { registerPersistently } from "./persistent-registration.ts";
import { shellOriginOf } from "./shell-origin.ts";

removeNetworkFeatures(window);

const tag = MESSAGE_TAG;
const shellOrigin = shellOriginOf(location.origin);

function tellShell(type: "booting" | "port-wanted" | "slot-ready"): void {
  const message: PageToShell = { tag, type };
  window.top?.postMessage(message, shellOrigin);
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

interface GivenPort {
  readonly port: MessagePort;
  readonly topLevel: boolean;
}

function nextPort(): Promise<GivenPort> {
  return new Promise((resolve) => {
    window.addEventListener("message", function receive(event: MessageEvent<unknown>) {
      const [port] = event.ports;
      if (event.origin !== shellOrigin || event.source !== window.top || !isTagged(event.data)) return;
      const message = event.data as ShellToPage;
      if (message.type !== "port" || port === undefined) return;
      window.removeEventListener("message", receive);
      resolve({ port, topLevel: message.topLevel });
    });
    tellShell("port-wanted");
  });
}

async function givePort(worker: ServiceWorker): Promise<GivenPort> {
  const message: PageToWorker = { tag, type: "port" };
  const given = await nextPort();
  worker.postMessage(message, [given.port]);
  return given;
}

function go(target: string, topLevel: boolean): void {
  if (topLevel && isFramedByOthers()) throw new Error("Cannot boot slot: another site frames it");
  location.replace(target);
}

let release = (): void => {};

async function boot(): Promise<void> {
  tellShell("booting");
  const target = bootTarget(new URL(location.href), location.origin);
  if (target !== null) release = holdLoad();
  if (target !== null && location.search.startsWith(TOP_LEVEL_QUERY)) return go(target, true);
  // The cache may answer for a while after the last look: looking costs a connection of this host's own.
  const options: RegistrationOptions = { scope: "/", updateViaCache: "all" };
  const registration = await registerPersistently(
    () => navigator.serviceWorker.register(ropewayPath.serviceWorker, options),
    (time) => new Promise((resolve) => setTimeout(resolve, time)),
  );
  const worker = await activeWorker(registration);
  const { topLevel } = await givePort(worker);
  // While this page is all there is of the slot, it is who a restarted service worker asks.
  navigator.serviceWorker.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    if (isTagged(data) && data.type === "port-wanted") void givePort(registration.active ?? worker);
  });
  navigator.serviceWorker.startMessages();
  tellShell("slot-ready");
  if (target !== null) go(target, topLevel);
  else if (window.parent !== window.top) window.parent.postMessage({ tag, type: "booted" } satisfies BootToFrame, "*");
}

boot().catch((error: unknown) => {
  release();
  document.getElementById("failure")?.removeAttribute("hidden");
  throw error;
});
