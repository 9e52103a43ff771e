/**
 * `/.ropeway/wipe`: comes from the edge, never from the slot's service worker, and empties a host of a list before
 * another origin has it (decision 30). Then it does what the boot page does. The shell decides: a page of any site may
 * show this document, whose host is no secret.
 */
import { MESSAGE_TAG, type PageToShell, type SlotCondition } from "../../messages/page-messages.ts";
import { isTagged, type PageToWorker } from "../../messages/worker-messages.ts";
import { ropewayPath } from "../slot-url.ts";
import { bootSlot, slotWorkerHere } from "./boot-slot.ts";
import { removeNetworkFeatures, shellOriginHere } from "./this-document.ts";

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

/** @returns the state of the host by now: it was empty before, or is emptied, or cannot be. */
async function wipe(): Promise<"empty" | "emptied" | "in use"> {
  const isFresh = (await navigator.serviceWorker.getRegistrations()).length === 0;
  const worker = await slotWorkerHere();
  const isAllowed = allowed();
  tellShell({ tag, type: "wipe", news: { kind: "ready", ...(await conditionBy(worker())) } });
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
  tellShell({ tag, type: "wipe", news: { kind: "done", isEmpty: state !== "in use" } });
  if (state === "in use") return;
  // A worker of before goes on, with what it knows, for as long as a document has it.
  const hasFormerWorker = state === "emptied" && navigator.serviceWorker.controller !== null;
  if (hasFormerWorker) location.replace(ropewayPath.boot + location.hash);
  else await bootSlot(shellOrigin);
}

/** Parts of Cookie Store that TypeScript does not know. */
interface SeenCookie {
  readonly name: string;
  /** Null, or undefined, for this host alone. */
  readonly domain?: string | null;
  readonly path: string;
  readonly partitioned?: boolean;
}

const { storageBuckets } = navigator as { readonly storageBuckets?: { keys(): Promise<readonly string[]> } };

interface CookieAccess {
  getAll(): Promise<readonly SeenCookie[]>;
  delete(cookie: SeenCookie): Promise<void>;
}

/** Whether the host has anything of the origin that had it before, in each kind of storage; cookies as far as this document gets them. @param cookies null where the browser tells none. */
async function hasLeftovers(cookies: CookieAccess | null): Promise<boolean> {
  const found = await Promise.all([
    localStorage.length + sessionStorage.length,
    caches.keys().then(({ length }) => length),
    indexedDB.databases().then(({ length }) => length),
    storageBuckets?.keys().then(({ length }) => length) ?? 0,
    filesHere(),
    hostCookies(cookies).then(({ length }) => length),
  ]);
  return found.some((count) => count > 0);
}

/** Empties the host, its service workers too. @throws where the edge is away. */
async function clearLeftovers(cookies: CookieAccess | null): Promise<void> {
  // The browser clears all that the document cannot name, of every window but for `sessionStorage`.
  const { ok } = await fetch(ropewayPath.cleared, { cache: "no-store" });
  if (!ok) throw new Error("Cannot empty a host: the edge does not clear it");
  sessionStorage.clear();
  for (const registration of await navigator.serviceWorker.getRegistrations()) await registration.unregister();
  for (const cookie of await hostCookies(cookies)) {
    // biome-ignore lint/suspicious/noDocumentCookie: Cookie Store deletes none whose path ends without a slash.
    document.cookie = `${cookie.name}=; path=${cookie.path}; max-age=0`;
    await cookies?.delete(cookie);
  }
}

/** Cookies for the hosts above are the app's to delete. */
async function hostCookies(cookies: CookieAccess | null): Promise<readonly SeenCookie[]> {
  const seen = (await cookies?.getAll()) ?? [];
  return seen.filter(({ domain }) => domain == null);
}

async function filesHere(): Promise<number> {
  const directory = await navigator.storage.getDirectory().catch(() => null);
  let count = 0;
  for await (const _ of directory?.keys() ?? []) count += 1;
  return count;
}

run().catch((error: unknown) => {
  document.getElementById("failure")?.removeAttribute("hidden");
  throw error;
});
