import type { Slot } from "./places.ts";
import { freshLabel } from "./slot-registry.ts";

/** Where slots live: at any label below a host, or at the hosts of a list. */
export interface SlotHosts {
  /** How many are kept ready for sites to come. */
  readonly spares: number;
  /** Other origins may have had it: it is wiped before it is used. */
  readonly areUsedAgain: boolean;
  originOf(label: string): string;
  /** @returns null for an origin where no slot is. */
  labelOf(origin: string): string | null;
  /** @param isFree says of a label that nothing of this window's is there. @returns the label for a new slot, null for none. */
  take(wish: HostWish, isFree: (label: string) => boolean): string | null;
  /** Whether there can be a new slot for that wish at all. */
  hasRoomFor(wish: HostWish): boolean;
  /** The slot is shown. */
  use(slot: Slot): void;
  /** Whether this window has shown the host before, for another origin. */
  isNewHere(slot: Slot): boolean;
  /** This window has begun to show the slot. */
  show(slot: Slot): void;
  /**
   * Whether this window has shown more than one origin on the host. Then an entry of its history may be of any of them.
   */
  hasMoved(label: string): boolean;
  /** The host cannot be wiped now, or its owner was granted something that no other origin may have. */
  refuse(label: string, isKept: boolean): void;
}

/** @param slotHost host and port. */
export function wildcardHosts(scheme: string, slotHost: string): SlotHosts {
  const [prefix, suffix] = [`${scheme}//`, `.${slotHost}`];
  const isLabel = (label: string) => label !== "" && !label.includes(".");
  return {
    spares: 2,
    areUsedAgain: false,
    originOf: (label) => prefix + label + suffix,
    labelOf(origin) {
      const label = origin.slice(prefix.length, -suffix.length);
      return origin === prefix + label + suffix && isLabel(label) ? label : null;
    },
    take: () => freshLabel(),
    hasRoomFor: () => true,
    use() {},
    isNewHere: () => false,
    show() {},
    hasMoved: () => false,
    refuse() {},
  };
}

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
  /** For a site that may come. */
  readonly isSpare?: true;
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
