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
  /** Names whoever writes here, among all windows; `liveWriters` has it from `hold` on. */
  readonly writer: string;
  hold(): void;
  liveWriters(): Promise<ReadonlySet<string>>;
  /** Milliseconds, of any beginning. */
  now(): number;
  tellOthers(news: StoreNews): void;
}
