/** The words of the bench: what is visited, by whom, over which link, and what is measured. */
import type { LinkSettings } from "../lab/lab.ts";

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

/** HTTP/1.0 is HTTP/1.1 with a connection for each request, as the papers' browsers had it, but over TLS. */
export const DIRECT = ["http/1.0", "http/1.1", "http/2", "http/3"] as const;

/** What an experiment takes away from an open app, or adds to it, beside the number of channels. */
export const CHANGES = ["without push", "without known bodies", "transport alone", "smaller pictures"] as const;
export type Change = (typeof CHANGES)[number];

export const CONTESTANTS = [
  ...DIRECT,
  "ropeway cold",
  "ropeway open",
  "ropeway warm",
  "ropeway open 1 channel",
  "ropeway open 3 channels",
  "ropeway open 5 channels",
  "ropeway open 1 channel without push",
  "ropeway open without push",
  "ropeway open without known bodies",
  "ropeway open transport alone",
  "ropeway open smaller pictures",
] as const;

/** Direct over one HTTP version, or Ropeway: app closed (cold), app open (first page), later site of a sitting (warm). */
export type Contestant = (typeof CONTESTANTS)[number];

export type CongestionControl = "bbr" | "cubic";

/** What one contestant did with one page. Times in milliseconds since the person asked for the page. */
export interface Visit {
  readonly firstContentfulPaint: number | null;
  readonly largestContentfulPaint: number | null;
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
  /** Bytes that its processes have for themselves when the visit is over: of shared memory each has its part (PSS). */
  readonly browserMemory: number;
  /** Seconds; null for direct contestants. */
  readonly edgeCpu: number | null;
  /** As the browser's; it does not fall back at once. */
  readonly edgeMemory: number | null;
  /** Channels attached when the visit ended, and WebSockets opened since the app started, as the app says; Ropeway's only. */
  readonly channels?: number;
  readonly socketsOpened?: number;
  /** Responses that the edge pushed during the visit, and the part of them that the page had asked for by its end; Ropeway's only. */
  readonly pushes?: number;
  readonly pushesOfUse?: number;
  /** Objects that arrived whole, seen by the page itself. */
  readonly objects: number;
}

/** The numbers of one run; a run that failed has none. */
export interface Run {
  readonly round: number;
  readonly values: Readonly<Record<string, number>>;
  readonly failure: RunFailure | null;
  /** Part of the machine's processor time that was spent, by whatever ran, from the run's preparation to its end. */
  readonly processorsBusy?: number;
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
  readonly link?: LinkSettings;
  /** Of TCP, on both ends of the link. */
  readonly congestion?: CongestionControl;
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
  /** One of `EXPERIMENTS`. */
  readonly id: string;
  readonly title: string;
  readonly metrics: readonly Metric[];
  /** Metric that progress is told by, and without which no run is sane. */
  readonly headline: string;
  readonly cells: readonly Cell[];
}

export const EXPERIMENTS = ["A", "A-3g", "B", "C", "C-heads", "D", "D-cache", "D-day", "O", "R", "chaos"] as const;

/** One run of the bench: `e2e/bench/results/*.json.gz`. */
export interface BenchResult {
  readonly schema: 2;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly seconds: number;
  readonly seed: number;
  readonly rounds: number;
  readonly warmUpRounds: number;
  /** That measured side by side. */
  readonly laboratories: number;
  /** Options that it was started with. */
  readonly options: readonly string[];
  readonly machine: Readonly<Record<string, string>>;
  /** Versions of Chromium, Caddy, workerd, kernel, Node and of Ropeway (commit). */
  readonly versions: Readonly<Record<string, string>>;
  readonly experiments: readonly ExperimentResult[];
}
