/** The words of the bench: what is visited, by whom, over which link, and what is measured. */

/** A site as files on disk; every file lies at `root/host/path`. */
export interface Site {
  readonly name: string;
  /** Address of the page that is visited, `https://host.test/…`. */
  readonly url: string;
  readonly hosts: readonly SiteHost[];
  /** What a complete visit fetches, the document itself included. */
  readonly objects: number;
  /** Bytes of those objects' bodies as stored, before any content coding. */
  readonly bytes: number;
  /**
   * Bytes of the same bodies in the smallest coding that the origin offers: no contestant that fetches everything from
   * the origin can have fewer on its link.
   */
  readonly codedBytes: number;
  /** Of what the load event waits for, where that is not all: lazy pictures and what scripts fetch later are not. */
  readonly atLoad?: { readonly codedBytes: number };
  /** Longest chain of objects of which each is known only once the one before has arrived (document, style, font: 3). */
  readonly depth: number;
}

export interface SiteHost {
  /** Below `.test`. */
  readonly name: string;
  /** Directory that it serves. */
  readonly root: string;
  /** Cache-Control by path pattern (a Caddy path matcher), first match wins. */
  readonly cacheControl: readonly { readonly path: string; readonly value: string }[];
}

export const CONTESTANTS = ["http/1.1", "http/2", "http/3", "ropeway cold", "ropeway open", "ropeway warm"] as const;

/**
 * Ropeway open with a set number of channels, against which the app's own choice ("ropeway open") is measured: a setting
 * for experiments, nothing that a person would choose.
 */
export const FIXED_CHANNEL_CONTESTANTS = [
  "ropeway open 1 channel",
  "ropeway open 3 channels",
  "ropeway open 5 channels",
] as const;

/** Of "Pictures", those that can be measured: the others go by the link, or wait for a tap. */
export const PICTURE_SETTINGS = ["off", "balanced", "strong"] as const;
export type PictureSetting = (typeof PICTURE_SETTINGS)[number];

export const ALL_CONTESTANTS = [...CONTESTANTS, ...FIXED_CHANNEL_CONTESTANTS] as const;

/** Direct over one HTTP version, or Ropeway: app closed, app open (first page), later site of a sitting. */
export type Contestant = (typeof ALL_CONTESTANTS)[number];

export type CongestionControl = "bbr" | "cubic";

/** What one contestant did with one page. Times in milliseconds since the person asked for the page. */
export interface Visit {
  readonly firstContentfulPaint: number | null;
  readonly largestContentfulPaint: number | null;
  /** Null where no pictures were taken. */
  readonly speedIndex: number | null;
  readonly load: number;
  /** The load event is over, and the last is there of what the page tells of that it asked for (Resource Timing). */
  readonly complete: number;
  /** On the link, IP headers included. */
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly packetsUp: number;
  readonly packetsDown: number;
  readonly drops: number;
  /** TCP and QUIC connections that the phone opened during the visit. */
  readonly connections: number;
  /** Seconds, of all of its processes. */
  readonly browserCpu: number;
  /** Seconds; null for direct contestants. */
  readonly edgeCpu: number | null;
  /** Channels attached when the visit ended, and WebSockets opened since the app started, as the app says; Ropeway's only. */
  readonly channels?: number;
  readonly socketsOpened?: number;
  /** Responses that the edge pushed during the visit, and the part of them that the page had asked for by its end; Ropeway's only. */
  readonly pushes?: number;
  readonly pushesOfUse?: number;
  /** Objects that arrived whole, seen by the page itself. */
  readonly objects: number;
  readonly filmstrip: readonly FilmstripFrame[];
}

export interface FilmstripFrame {
  /** Milliseconds since the person asked for the page. */
  readonly at: number;
  /** data: URL of a JPEG at phone proportions, at most 120 CSS pixels wide. */
  readonly picture: string;
}

/** What came over the link towards the phone, and when: milliseconds since the person asked for the page. */
export interface Timeline {
  /** IP headers included. */
  readonly points: readonly (readonly [at: number, bytes: number])[];
  /** The time without a link. */
  readonly outage: { readonly from: number; readonly to: number };
  readonly load: number;
  /** When the person asked for the page a second time, and what was wrong with the first; null where once was enough. */
  readonly reload: { readonly at: number; readonly reason: string } | null;
}

/** One number of one run; a run that failed has no values. */
export interface Run {
  readonly round: number;
  readonly values: Readonly<Record<string, number>>;
  readonly failure: RunFailure | null;
  /** Part of the machine's processor time that was spent, by whatever ran, from the run's preparation to its end. */
  readonly processorsBusy?: number;
  readonly filmstrip?: readonly FilmstripFrame[];
  readonly timeline?: Timeline;
}

export interface RunFailure {
  /** "harness": the bench's own doing. "contestant": what is measured failed, a timeout included. */
  readonly blame: "harness" | "contestant";
  readonly message: string;
}

/** All rounds of one contestant in one cell, warm-up rounds not among them. */
export interface Series {
  readonly contestant: string;
  readonly runs: readonly Run[];
}

/** One point of an experiment's grid. */
export interface Cell {
  /** Unique within its experiment, such as "delay=300". */
  readonly id: string;
  /** The coordinates, such as { delay: 300 } or { page: "news", profile: "3g", congestion: "bbr" }. */
  readonly at: Readonly<Record<string, string | number>>;
  /** The physical floor by metric, in the metric's unit: round trips that cannot be avoided plus bytes over bandwidth. */
  readonly floor: Readonly<Record<string, number>>;
  /** Of TCP, on both ends of the link. */
  readonly congestion?: CongestionControl;
  /** Version of Ropeway (commit) that it was measured at; where absent, its result's. */
  readonly ropeway?: string;
  readonly series: readonly Series[];
}

export interface Metric {
  /** Key in Run.values. */
  readonly name: string;
  readonly label: string;
  readonly unit: string;
  /** Which way is better; "lower" for times. */
  readonly better: "lower" | "higher";
}

export interface ExperimentResult {
  /** "A", "A-3g", "B", "C", "D", "D-hour", "F", "L", "O", "R", "R-scripts". */
  readonly id: string;
  readonly title: string;
  /** What the paper said, for the report. */
  readonly paper: string;
  readonly metrics: readonly Metric[];
  /** Metric by which ours is compared with the best direct contestant. */
  readonly headline: string;
  readonly cells: readonly Cell[];
}

/** One run of the bench: `e2e/bench/results/*.json`. */
export interface BenchResult {
  readonly schema: 1;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly seconds: number;
  readonly mode: "quick" | "full" | "smoke";
  readonly seed: number;
  readonly rounds: number;
  /** Where medians have to be precise; no more than `rounds` where absent. */
  readonly mostRounds?: number;
  readonly warmUpRounds: number;
  /** That measured side by side; one where absent. */
  readonly laboratories?: number;
  /** Options that it was started with. */
  readonly options?: readonly string[];
  readonly machine: Readonly<Record<string, string>>;
  /** Versions of Chromium, Caddy, workerd, kernel, Node and of Ropeway (commit). */
  readonly versions: Readonly<Record<string, string>>;
  /** Every link setting used, by the name that cells use. */
  readonly links: Readonly<Record<string, Readonly<Record<string, string | number>>>>;
  readonly experiments: readonly ExperimentResult[];
}

/** As "5", or "5 to 15" where contestants whose medians scatter took more. */
export function roundsText({ rounds, mostRounds = rounds }: Pick<BenchResult, "rounds" | "mostRounds">): string {
  return mostRounds > rounds ? `${rounds} to ${mostRounds}` : String(rounds);
}
