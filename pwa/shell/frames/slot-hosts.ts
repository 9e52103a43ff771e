/** Where slots live: at any label below a host, or at the hosts of a list. */
import type { HostWish } from "./host-choice.ts";
import { freshLabel, type Slot } from "./slot-registry.ts";

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
