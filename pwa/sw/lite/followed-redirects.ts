/**
 * Redirects within a site that the browser is following: its next request needs no judgement. It is of the same
 * navigation, which has one client to come (Fetch section 4.4, "reserved client"); a page cannot make another one of it.
 */
import { BoundedMap } from "../../../shared/bounded-map.ts";

/** Redirects that are remembered: navigations may be given up. */
const KEPT = 16;
/** Milliseconds: the browser follows at once. */
const LIFETIME = 5_000;

export class FollowedRedirects<Leave> {
  readonly #expected = new BoundedMap<string, { readonly address: string; readonly at: number; readonly leave: Leave }>(
    KEPT,
  );
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param address on the base host, without a fragment. */
  expect(navigation: string, address: string, leave: Leave): void {
    if (navigation !== "") this.#expected.set(navigation, { address, at: this.#now(), leave });
  }

  /** Once. A redirect is followed by a GET. */
  take(navigation: string, method: string, address: string): Leave | null {
    const expected = this.#expected.get(navigation);
    this.#expected.delete(navigation);
    if (expected === undefined || method !== "GET" || expected.address !== address) return null;
    return this.#now() - expected.at < LIFETIME ? expected.leave : null;
  }
}
