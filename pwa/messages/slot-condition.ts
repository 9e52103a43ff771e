/** Whether a slot can be emptied for another origin, as its service worker sees it. */
export interface SlotCondition {
  /** The document that asks is all that is open of it, in any window, and nothing is under way for it. */
  readonly isAlone: boolean;
  /** Names of what the person has granted to the host, by question. */
  readonly permissions: readonly string[];
}
