/** One round trip, measured by a ping and its answer. */
export interface Round {
  readonly startedAt: number;
  /** Credit that the peer had and bytes that were under way when it began. */
  readonly outstanding: number;
  /** What the window was when an answer last told that no queue stands, or when it began. */
  window: number;
  /** One of several channels has answered in time. */
  isAnswered: boolean;
  /** Bytes per ms, two slices each. */
  readonly rates: number[];
  gap: number;
  stall: number;
}
