/** What a receiver knows of its link. */
export interface LinkEstimate {
  /** Bytes per ms, or 0 as long as nothing is known. */
  readonly rate: number;
  /** The shortest round trip in ms, or null as long as nothing is known. */
  readonly minRtt: number | null;
  /** The last one. */
  readonly rtt: number | null;
  /** How long arrivals pause for other reasons than the rate, in ms. */
  readonly stall: number;
  /** Bytes per ms when the link carried all that it can, a queue standing and bytes coming evenly; null if it never did. */
  readonly fullRate: number | null;
  /** Part of the last ten round trips in which arrivals stalled for half of one or more. */
  readonly stallShare: number;
}
