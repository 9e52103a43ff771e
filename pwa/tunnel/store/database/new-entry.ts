import type { BodyCopy } from "./body-copy.ts";
import type { StoredEntry } from "./store-database.ts";

/** A response that is asked for now, and may be stored when it is there. */
export interface ResponseCopy {
  /** What was asked for before something was forgotten is not stored. */
  readonly era: number;
  readonly body: BodyCopy;
}

export interface NewEntry<Meta> {
  readonly partition: string;
  readonly url: string;
  readonly meta: Meta;
  /** Whether it takes the place of one with the same URL. */
  replaces(old: StoredEntry<Meta>): boolean;
}
