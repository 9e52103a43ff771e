/**
 * Which URLs hold audio or video: a later range of them does not tell by itself (Fetch section 4.6, no-cors media request
 * state). Bounded, in memory: what was forgotten is looked at again.
 */
import type { RequestHead } from "../../../shared/http/heads.ts";

/** Addresses of other origins known to hold audio or video; one that was dropped costs a request more to seek in. */
const KNOWN_MEDIA = 256;

type Asker = Pick<RequestHead, "origin" | "topLevelOrigin" | "credentials">;

export class KnownMedia {
  /** Least recently used first. */
  readonly #keys = new Set<string>();

  has(asker: Asker, url: URL): boolean {
    const key = keyOf(asker, url);
    if (!this.#keys.delete(key)) return false;
    this.#keys.add(key);
    return true;
  }

  add(asker: Asker, url: URL): void {
    const key = keyOf(asker, url);
    this.#keys.delete(key);
    this.#keys.add(key);
    const [oldest] = this.#keys;
    if (this.#keys.size > KNOWN_MEDIA && oldest !== undefined) this.#keys.delete(oldest);
  }
}

function keyOf({ origin, topLevelOrigin, credentials }: Asker, url: URL): string {
  return [topLevelOrigin, origin, credentials, url.href].join(" ");
}
