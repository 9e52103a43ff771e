/** What the address that opened the app asks for: pairing and a page in the fragment, a shared link in the query. */
export interface LaunchRequest {
  readonly accessKey: string | null;
  /** A URL, or words to search for. */
  readonly address: string | null;
  readonly openSettings: boolean;
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
  return {
    accessKey: fragment.get("key") || null,
    address: fragment.get("url") || query.get("url") || linkIn(query.get("text")) || query.get("text") || null,
    openSettings: query.get("view") === "settings",
  };
}

/** Android shares links as text, often after a title. */
function linkIn(text: string | null): string | null {
  return text?.match(/https?:\/\/\S+/)?.[0] ?? null;
}
