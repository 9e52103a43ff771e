import type { StoreDatabase } from "./store-database.ts";

/** What another window did. */
export type StoreNews =
  | { readonly kind: "changed"; readonly partitions: readonly string[] }
  /** What is under way is not to be stored. */
  | { readonly kind: "forgotten"; readonly isDatabaseNew: boolean };

export interface StorePlatform {
  openDatabase(): Promise<StoreDatabase>;
  /** With all that is in it; whoever has it open closes it. */
  deleteDatabase(): Promise<void>;
  /** Names whoever writes here, among all windows. */
  readonly writer: string;
  readonly bodies: BodyHolds;
  /** Milliseconds, of any beginning. */
  now(): number;
  /** @returns cancels it. */
  setTimer(task: () => void, delay: number): () => void;
  tellOthers(news: StoreNews): void;
}

/** Bodies that some window reads or writes: nobody takes their blocks away. What a window holds ends with it. */
export interface BodyHolds {
  /** @returns ends it. */
  hold(bodyId: string): Promise<() => void>;
  /** Runs the task, and nobody gets hold of the body meanwhile; not at all where somebody holds it. */
  unlessHeld(bodyId: string, task: () => Promise<void>): Promise<void>;
}
