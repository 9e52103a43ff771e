/**
 * What a page is likely to ask for that its document does not name, and the phone lacks: the phone has seen it asked for
 * before, and says so with the navigation (PROTOCOL.md section 5.6).
 */
import type { CredentialsMode, Destination, RequestMode } from "./heads.ts";

/** A request for a page to come, as the page would make it. */
export interface LearnedRequest {
  /** Absolute. */
  readonly url: string;
  readonly destination: Destination;
  readonly mode: RequestMode;
  readonly credentials: CredentialsMode;
  /** "" where it is the browser's usual one for its destination, or none. */
  readonly accept: string;
}

const MOST = 32;
/** Characters of the field. With what else a navigation says, it still rides in a handshake (`limits.openingBytes`). */
const LENGTH = 1024;

const DESTINATIONS: ReadonlySet<string> = new Set(["", "font", "image", "script", "style"]);
const MODES: ReadonlySet<string> = new Set(["cors", "no-cors", "same-origin"]);
const CREDENTIALS: ReadonlySet<string> = new Set(["include", "omit", "same-origin"]);
/** Visible ASCII: what goes on to origins, and into a field as it is. */
const ACCEPT = /^[\x20-\x7e]{0,256}$/;

/**
 * JSON: lists of what requests have in common (destination, mode, credentials mode, `accept`), and then their URLs.
 *
 * @param learned the surest first: what does not fit is left out.
 * @param documentUrl URLs of its origin go without that.
 * @returns null where there is nothing to say.
 */
export function sayLearned(learned: readonly LearnedRequest[], documentUrl: string): string | null {
  const groups = new Map<string, string[]>();
  let value = "";
  for (const { url, destination, mode, credentials, accept } of learned.slice(0, MOST)) {
    const common = [destination, mode, credentials, accept];
    const key = JSON.stringify(common);
    groups.set(key, [...(groups.get(key) ?? common), withoutOrigin(url, new URL(documentUrl).origin)]);
    const longer = JSON.stringify([...groups.values()]);
    if (longer.length > LENGTH) break;
    value = longer;
  }
  return value === "" ? null : value;
}

/** @returns none where nothing can be read. */
export function readLearned(value: string, documentUrl: string): readonly LearnedRequest[] {
  if (value.length > LENGTH) return [];
  try {
    const groups: unknown = JSON.parse(value);
    const learned = Array.isArray(groups) ? groups.flatMap((group) => toRequests(group, documentUrl)) : [];
    return learned.length <= MOST && learned.every(isLearned) ? learned : [];
  } catch {
    return [];
  }
}

/** @throws TypeError for what has no such shape. */
function toRequests(group: unknown, documentUrl: string): LearnedRequest[] {
  if (!Array.isArray(group) || !group.every((text) => typeof text === "string")) throw new TypeError("No requests");
  const [destination, mode, credentials, accept = "", ...urls] = group;
  return urls.map((url) => ({
    url: new URL(url, documentUrl).href,
    // `isLearned` has the last word.
    destination: destination as Destination,
    mode: mode as RequestMode,
    credentials: credentials as CredentialsMode,
    accept,
  }));
}

/** Whether it may be learned: scripts and style sheets ask so, and a push can answer it. */
export function isLearned({ url, destination, mode, credentials, accept }: LearnedRequest): boolean {
  const isHow = DESTINATIONS.has(destination) && MODES.has(mode) && CREDENTIALS.has(credentials);
  return isHow && ACCEPT.test(accept) && /^https?:/.test(url);
}

function withoutOrigin(url: string, origin: string): string {
  const path = url.slice(origin.length);
  // What begins with two slashes would name a host.
  return url.startsWith(`${origin}/`) && !path.startsWith("//") ? path : url;
}
