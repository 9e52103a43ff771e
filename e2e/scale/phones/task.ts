/** What a process of phones is asked, and what it answers: one answer per question. */
import type { TallyReport } from "./tally.ts";

/** Of one person, as shares of the pages that are visited; times in milliseconds. */
export interface Behaviour {
  /** Mean time from one page's end to the next page. */
  readonly think: number;
  /** Pages in whose first 300 ms the link is cut. */
  readonly cuts: number;
  /** Pages with a large download after them. */
  readonly downloads: number;
  readonly downloadBytes: number;
  /** Pages from which a form is sent. */
  readonly forms: number;
}

export type PhoneTask =
  /** Pairs phones and opens their links, one every `pause` milliseconds; each makes one small request. */
  | {
      readonly type: "join";
      readonly count: number;
      readonly pause: number;
      /** Of the edge's app. */
      readonly edge: string;
      readonly accessKey: string;
      readonly origin: string;
      readonly seed: number;
      /** Of every phone; null to let the app decide. */
      readonly channels: number | null;
    }
  /** One small request of each phone, spread over `time` milliseconds. */
  | { readonly type: "touch"; readonly time: number }
  /** One page of each phone. */
  | { readonly type: "visit"; readonly behaviour: Behaviour }
  | { readonly type: "read"; readonly behaviour: Behaviour }
  /** Answered once all pages under way are whole. */
  | { readonly type: "rest" }
  | { readonly type: "report" };

export interface PhonesReport extends TallyReport {
  readonly linked: number;
  /** Of all phones so far: one each, unless the edge lost one. */
  readonly sessions: number;
  readonly resumes: number;
  /** Answered by the edge, of all phones so far. */
  readonly keepAlives: number;
  /** Payload of all other WebSocket messages so far, both ways. */
  readonly frameBytes: number;
  /** Of this process so far. */
  readonly cpuSeconds: number;
}
