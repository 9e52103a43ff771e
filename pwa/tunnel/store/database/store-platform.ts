import type { Clock } from "../../../../shared/clock.ts";
import type { StoreDatabase } from "./store-database.ts";

/** What another window did. */
export type StoreNews =
  | { readonly kind: "changed"; readonly partitions: readonly string[] }
  /** What is under way is not to be stored. */
  | { readonly kind: "forgotten"; readonly isDatabaseNew: boolean };

/** Its milliseconds are of any beginning. */
export interface StorePlatform extends Clock {
  openDatabase(): Promise<StoreDatabase>;
  /** With all that is in it; whoever has it open closes it. */
  deleteDatabase(): Promise<void>;
  /** Names whoever writes here, among all windows. */
  readonly writer: string;
  readonly bodies: BodyHolds;
  tellOthers(news: StoreNews): void;
}

/** Bodies that some window reads or writes: nobody takes their blocks away. What a window holds ends with it. */
export interface BodyHolds {
  /** @returns ends it. */
  hold(bodyId: string): Promise<() => void>;
  /** Runs the task, and nobody gets hold of the body meanwhile; not at all where somebody holds it. */
  unlessHeld(bodyId: string, task: () => Promise<void>): Promise<void>;
}
