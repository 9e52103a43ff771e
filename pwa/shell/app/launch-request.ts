/** The wish of the address that opened the app: pairing and a page in the fragment, a shared link in the query. */
export interface LaunchRequest {
  readonly accessKey: string | null;
  /** A URL, or words to search for. */
  readonly address: string | null;
  readonly view: "start" | "settings" | null;
}

/**
 * Initiator of the page that the app was opened for: an opaque origin. Whoever made the address, be it a link on any
 * page, starts that page as another site would: the site is told so, and gets no `SameSite=Strict` cookies.
 */
export const LAUNCHER = "null";

/** `BASE/#key=K&url=U`, the manifest's share target (`?title=&text=&url=`), and its shortcuts (`?view=`). */
export function parseLaunch(url: URL): LaunchRequest {
  const fragment = new URLSearchParams(url.hash.slice(1));
  const query = url.searchParams;
  const view = query.get("view");
  return {
    accessKey: fragment.get("key") || null,
    address: fragment.get("url") || query.get("url") || linkIn(query.get("text")) || query.get("text") || null,
    view: view === "start" || view === "settings" ? view : null,
  };
}

/** The part of Chromium's `window.launchQueue` that is used. */
export interface LaunchQueue {
  setConsumer(consumer: (launch: { readonly targetURL?: string }) => void): void;
}

/**
 * Hears what the app is opened for while it is open: the manifest has its window kept as it is.
 *
 * @param own address that this document was opened with. The queue has that launch, too; and after a reload the one before,
 * once more.
 */
export function hearLaunches(
  queue: LaunchQueue | undefined,
  { own, isReload }: { readonly own: string; readonly isReload: boolean },
  open: (launch: LaunchRequest) => void,
): void {
  // Those that wait are handed over at once.
  let isOfBefore = isReload;
  let isOwnDone = false;
  queue?.setConsumer(({ targetURL = own }) => {
    const isOwn = targetURL === own && !isOwnDone;
    isOwnDone ||= isOwn;
    if (!isOwn && !isOfBefore) open(parseLaunch(new URL(targetURL)));
  });
  isOfBefore = false;
}

/** Android shares links as text, often after a title. */
function linkIn(text: string | null): string | null {
  return text?.match(/https?:\/\/\S+/)?.[0] ?? null;
}
