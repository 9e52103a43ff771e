/**
 * Ropeway has no cookies, but the pages in slots may get to set some for the base host and all hosts below it
 * (`domain=`). Other sites could read those, and enough of them keep every request of the app's from being answered.
 * They are deleted when they are set, as far as the browser tells, when the app is opened, and when its link is away.
 */
import { LITE_KEEP_ALIVE, type OwnWorkerToShell } from "../../messages/lite-messages.ts";
import { appPaths, cookiePaths } from "./own-paths.ts";

declare const self: ServiceWorkerGlobalScope;

/** The part of Cookie Store (sections 2, 5 and 6) that TypeScript does not know. */
interface SeenCookie {
  readonly name?: string;
  /** Some browsers tell no more than the name. */
  readonly domain?: string | null;
  readonly path?: string;
  readonly partitioned?: boolean;
}

interface WithCookies {
  readonly cookieStore?: {
    /** The cookies that a request for the URL would have. Chromium allows only the URL of the worker's script. */
    getAll(options: { readonly url: string }): Promise<readonly SeenCookie[]>;
    delete(cookie: SeenCookie): Promise<void>;
  };
  readonly registration: { readonly cookies?: { subscribe(urls: readonly { url: string }[]): Promise<void> } };
}

const { cookieStore, registration } = self as unknown as WithCookies;
const host = self.location.hostname;

async function deleteCookies(seen: readonly SeenCookie[]): Promise<void> {
  // Cookies of the hosts above belong to others.
  const ours = seen.filter(({ domain = host }) => domain === host);
  // A cookie is seen at each URL that it is sent to.
  const unique = new Map(
    ours.map((cookie) => [JSON.stringify([cookie.name, cookie.path, cookie.partitioned]), cookie]),
  );
  const cookies = [...unique.values()];
  const expired = cookies.map(({ name = "", path = "/" }) => `${name}=x; domain=${host}; path=${path}; max-age=0`);
  // Cookie Store deletes none whose path ends without a slash.
  const told: OwnWorkerToShell = { type: "expired-cookies", cookies: expired };
  for (const window of await self.clients.matchAll({ type: "window", includeUncontrolled: true })) {
    window.postMessage(told);
  }
  await Promise.all(
    cookies.map(({ name = "", path = "/", partitioned = false }) =>
      cookieStore?.delete({ name, domain: host, path, partitioned }).catch(() => {}),
    ),
  );
}

/** Also cookies that came while nobody looked, or for paths that an earlier version did not have. */
async function deleteAll(urls: readonly string[]): Promise<void> {
  const at = async (url: string) => {
    const sent = (await cookieStore?.getAll({ url }).catch(() => [])) ?? [];
    const paths = cookiePaths(new URL(url, self.location.origin).pathname);
    return sent.flatMap((cookie) => ("path" in cookie ? [cookie] : paths.map((path) => ({ ...cookie, path }))));
  };
  const seen = await Promise.all(urls.map(at));
  const cookies = seen.flat();
  if (cookies.length > 0) await deleteCookies(cookies);
}

/** @param files as of `appPaths`. */
export function keepCookiesAway(files: readonly string[]): void {
  const urls = appPaths(files);
  self.addEventListener("activate", (event) => {
    const subscribed = registration.cookies?.subscribe(urls.map((url) => ({ url })));
    event.waitUntil(subscribed?.catch(() => {}) ?? Promise.resolve());
  });
  self.addEventListener("cookiechange", (event) => {
    const change = event as ExtendableEvent & { readonly changed: readonly SeenCookie[] };
    if (change.changed.length === 0) return;
    const isTold = change.changed.every((cookie) => "path" in cookie);
    change.waitUntil(isTold ? deleteCookies(change.changed) : deleteAll(urls));
  });
  // A window asks when it is there, since most cookies can be deleted by one alone, and when the link is away.
  self.addEventListener("message", (event) => {
    if (event.data !== LITE_KEEP_ALIVE) event.waitUntil(deleteAll(urls));
  });
}
