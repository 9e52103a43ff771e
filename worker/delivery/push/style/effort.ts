/** What a page may still cost, in steps of some 50 ns: sites write selectors, values and documents. */
export interface Effort {
  left: number;
}

/** Characters that are gone through in the time of a step. */
export const CHARACTERS = 16;
