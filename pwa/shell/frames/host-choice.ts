/** Which host of a list another origin may have. */
import type { Slot } from "./slot-registry.ts";

export interface ListedHost {
  readonly label: string;
  /** Null where no origin has it; what is there may be another's of before all the same. */
  readonly owner: Slot | null;
  /** As `Date.now()`; 0 where that is not known. */
  readonly usedAt: number;
}

export interface HostWish {
  /** For a frame of another origin in a page. */
  readonly isFrame: boolean;
  /** The person tapped for it. */
  readonly isAsked: boolean;
}

/**
 * The least recently used, those without an owner first. A page asks for frames as it likes, so frames that nobody
 * tapped for get half of the list at most, and then one another's hosts.
 *
 * @param isFree says what is neither open in this window nor kept for its owner.
 * @returns null where none is free.
 */
export function chooseHost(
  hosts: readonly ListedHost[],
  { isFrame, isAsked }: HostWish,
  isFree: (host: ListedHost) => boolean,
): ListedHost | null {
  const isOfFrame = ({ owner }: ListedHost) => owner?.topLevel === false;
  const isFull = isFrame && !isAsked && hosts.filter(isOfFrame).length >= Math.floor(hosts.length / 2);
  const free = hosts.filter((host) => isFree(host) && (!isFull || isOfFrame(host)));
  const rank = ({ owner, usedAt }: ListedHost) => (owner === null ? -1 : usedAt);
  return free.reduce<ListedHost | null>(
    (least, host) => (least === null || rank(host) < rank(least) ? host : least),
    null,
  );
}
