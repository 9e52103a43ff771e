/** A check of a deployment, its needs, and its findings for those after it. */
import type { RestingPhone } from "./resting-phone.ts";

export const CHECK_NAMES = [
  "address",
  "certificate",
  "health",
  "app",
  "headers",
  "service workers",
  "own answers",
  "hosts of sites",
  "boot page",
  "closed to sites",
  "strangers",
  "pairing",
  "websocket",
  "first message",
  "keep-alive",
  "page",
  "push",
  "resume",
  "fetch road",
  "rest",
] as const;

export type CheckName = (typeof CHECK_NAMES)[number];

/** The person's arguments. */
export interface SmokeSettings {
  /** Origin of the deployment. */
  readonly origin: string;
  readonly accessKey: string;
  /** An address with pictures for the edge to load; the edge's own demo or a public page by default. */
  readonly page: string | null;
  /** Milliseconds for which a phone rests; longer than Cloudflare keeps an idle object in memory by default. */
  readonly restTime?: number;
  /** Milliseconds in which an answer that nobody holds back has begun; 5 seconds by default. */
  readonly streamPatience?: number;
}

/** Findings of checks; null until then. */
export interface Findings {
  /** Of the app: where the given one leads. */
  origin: string;
  /** Host and port below which sites get theirs; null where there is no wildcard. */
  slotHost: string | null;
  /** Where sites get theirs, where there is a list of hosts. */
  slotOrigins: readonly string[];
  demoUrl: string | null;
  token: string | null;
  resting: RestingPhone | null;
}

export interface Check {
  readonly name: CheckName;
  /** Checks without which this one can say nothing. */
  readonly needs: readonly CheckName[];
  /**
   * @returns what was found, for a person.
   * @throws SmokeFault
   */
  readonly run: (settings: SmokeSettings, found: Findings) => Promise<string>;
}

/** A fault of a deployment, and its mend: two sentences without full stops at their ends. */
export class SmokeFault extends Error {
  readonly mend: string;

  constructor(what: string, mend: string) {
    super(what);
    this.mend = mend;
  }
}

/** @throws SmokeFault unless it holds. */
export function expectThat(holds: boolean, what: string, mend: string): asserts holds {
  if (!holds) throw new SmokeFault(what, mend);
}
