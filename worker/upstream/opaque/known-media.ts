/**
 * Which URLs hold audio or video: a later range of them does not tell by itself (Fetch section 4.6, no-cors media request
 * state). Bounded, in memory: what was forgotten is looked at again.
 */
import { BoundedMap } from "../../../shared/bounded-map.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";

/** Addresses of other origins known to hold audio or video; one that was dropped costs a request more to seek in. */
const KNOWN_MEDIA = 256;

type Asker = Pick<RequestHead, "origin" | "topLevelOrigin" | "credentials">;

export class KnownMedia {
  /** Least recently used first. */
  readonly #keys = new BoundedMap<string, true>(KNOWN_MEDIA);

  has(asker: Asker, url: URL): boolean {
    return this.#keys.use(keyOf(asker, url)) === true;
  }

  add(asker: Asker, url: URL): void {
    this.#keys.set(keyOf(asker, url), true);
  }
}

function keyOf({ origin, topLevelOrigin, credentials }: Asker, url: URL): string {
  return [topLevelOrigin, origin, credentials, url.href].join(" ");
}
