/** What a host of a list has of the origin that had it before. */
import { ropewayPath } from "../slot-url.ts";

/** What TypeScript does not know of Cookie Store. */
interface SeenCookie {
  readonly name: string;
  /** Null, or undefined, for this host alone. */
  readonly domain?: string | null;
  readonly path: string;
  readonly partitioned?: boolean;
}

const { storageBuckets } = navigator as { readonly storageBuckets?: { keys(): Promise<readonly string[]> } };

export interface CookieAccess {
  getAll(): Promise<readonly SeenCookie[]>;
  delete(cookie: SeenCookie): Promise<void>;
}

/** In each kind of storage; cookies as far as this document gets them. @param cookies null where the browser tells none. */
export async function hasLeftovers(cookies: CookieAccess | null): Promise<boolean> {
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
export async function clearLeftovers(cookies: CookieAccess | null): Promise<void> {
  // The browser clears what the document cannot name, of every window but for `sessionStorage`.
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

/** Those for the hosts above are the app's to delete. */
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
