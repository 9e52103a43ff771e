/** What a profile says: `*-profile.json`. Times in milliseconds. */
import type { LinkUse } from "./link-activity.ts";
import type { MessageCount, Phase } from "./waterfall.ts";

/** Processor time of one kind of thread. */
export interface ThreadCost {
  /** Such as "page: service worker". */
  readonly thread: string;
  readonly time: number;
}

/** Self time of one function, or of all of one source file. */
export interface CodeCost {
  /** On the phone, the kind of thread; "edge" there. */
  readonly thread: string;
  readonly source: string;
  /** Null for all functions of the source. */
  readonly functionName: string | null;
  readonly time: number;
}

/** Processor time of the phone in one visit. */
export interface PhoneTime {
  readonly all: number;
  readonly compiling: number;
}

export interface CellProfile {
  readonly id: string;
  /** Of each visit that was not profiled, in the order made. */
  readonly loads: readonly number[];
  /** Of the visits by HTTP/2 to the same page between them. */
  readonly directLoads: readonly number[];
  /** The next four of the visit whose load is the median. */
  readonly phases: readonly Phase[];
  readonly link: LinkUse;
  readonly messages: MessageCount;
  readonly phoneThreads: readonly ThreadCost[];
  /** Of the visits with the median load; not in profiles of before 24 November 2026. */
  readonly phoneTimes?: { readonly ropeway: PhoneTime; readonly direct: PhoneTime };
  /** Processor time of workerd, by thread. */
  readonly edgeThreads: readonly ThreadCost[];
  /** The next four are of one more visit, with profilers on, which slow everything down. */
  readonly profiledLoad: number;
  readonly phoneSources: readonly CodeCost[];
  readonly phoneFunctions: readonly CodeCost[];
  readonly edgeSources: readonly CodeCost[];
  readonly edgeFunctions: readonly CodeCost[];
}

export interface ProfileResult {
  readonly schema: 1;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly rounds: number;
  readonly machine: Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, string>>;
  readonly cells: readonly CellProfile[];
}
