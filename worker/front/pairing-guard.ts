/**
 * Slows down those who guess access keys. An address that sent several wrong ones is not listened to for a while. All
 * wrong keys together only delay the answers to wrong keys, so strangers with many addresses cannot keep the owner out.
 * The counts are in memory: they are lost when an isolate starts anew, which a key of 128 bits can bear.
 */
import { BoundedMap } from "../../shared/bounded-map.ts";
import { type Clock, pause } from "../../shared/clock.ts";

/** Wrong access keys of one address before it is not listened to: more than a person mistypes. */
export const WRONG_KEYS_PER_ADDRESS = 10;

/** Milliseconds after which one of them is forgiven: an address gets two guesses a minute. */
export const WRONG_KEY_TIME = 30_000;

export class PairingGuard {
  #clock: Clock;
  /** Wrong keys of each address that were not forgiven by `since`; oldest first. */
  #addresses = new BoundedMap<string, Tally>(MOST_ADDRESSES);
  #all: Tally = { wrong: 0, since: 0 };
  #waiting = 0;

  /** @param clock milliseconds since the epoch. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Seconds for which this address is not listened to; 0 where it is. */
  patienceFor(address: string | null): number {
    const tally = address === null ? undefined : this.#addresses.get(groupOf(address));
    if (tally === undefined) return 0;
    const { wrong } = this.#forgiven(tally, WRONG_KEY_TIME);
    return wrong < WRONG_KEYS_PER_ADDRESS ? 0 : Math.ceil(WRONG_KEY_TIME / 1000);
  }

  /** Resolves when the answer to a wrong key may go out. */
  async wrongKey(address: string | null): Promise<void> {
    if (address !== null) this.#count(groupOf(address));
    this.#all = this.#forgiven(this.#all, ALL_TIME);
    this.#all.wrong += 1;
    const excess = this.#all.wrong - WRONG_KEYS_PER_ADDRESS;
    // With MOST_WAITING of them, further answers are not delayed: to keep more would only cost us.
    if (excess <= 0 || this.#waiting >= MOST_WAITING) return;
    this.#waiting += 1;
    await pause(this.#clock.setTimer, Math.min(MOST_DELAY, excess * DELAY_STEP));
    this.#waiting -= 1;
  }

  #count(group: string): void {
    const { wrong, since } = this.#forgiven(
      this.#addresses.get(group) ?? { wrong: 0, since: this.#clock.now() },
      WRONG_KEY_TIME,
    );
    this.#addresses.set(group, { wrong: wrong + 1, since });
  }

  /** One wrong key less for each `time` that has passed. */
  #forgiven({ wrong, since }: Tally, time: number): Tally {
    const forgiven = Math.max(0, Math.floor((this.#clock.now() - since) / time));
    if (forgiven >= wrong) return { wrong: 0, since: this.#clock.now() };
    return { wrong: wrong - forgiven, since: since + forgiven * time };
  }
}

interface Tally {
  wrong: number;
  /** When the next of them began to be forgiven, as `now`. */
  since: number;
}

/** Milliseconds after which one wrong key of all is forgiven. */
const ALL_TIME = 1_000;
/** Milliseconds that each wrong key beyond the usual adds to the answer of the next, and the most. */
const DELAY_STEP = 100;
const MOST_DELAY = 5_000;
/** Answers that wait at a time; and addresses that are remembered, some 100 bytes each. */
const MOST_WAITING = 100;
const MOST_ADDRESSES = 4_096;

/** An IPv6 subscriber has 2^64 addresses or more: those of a /64 count as one. */
function groupOf(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head = "", tail = ""] = address.split("::");
  const [before, after] = [head, tail].map((part) => part.split(":").filter((word) => word !== ""));
  const missing = Math.max(0, 8 - (before?.length ?? 0) - (after?.length ?? 0));
  const words = [...(before ?? []), ...Array<string>(missing).fill("0"), ...(after ?? [])];
  return words.slice(0, 4).join(":");
}
