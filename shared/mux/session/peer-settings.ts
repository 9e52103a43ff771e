/** What the peer allows by SETTINGS: PROTOCOL.md section 3.5. */
import { ErrorCode, RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";

/** Ids that are not here are ignored. */
export const Setting = { INITIAL_STREAM_CREDIT: 1, CONCURRENT_STREAMS: 2, SESSION_CREDIT: 3 } as const;

/** For structured clone. */
export interface PeerSettingsSnapshot {
  readonly peerStreamCredit: number;
  readonly peerSessionCredit: number;
  readonly peerConcurrentStreams: number;
}

/** By how much credit moves because of a setting, in bytes. */
export interface CreditShift {
  readonly streams: number;
  readonly session: number;
}

export class PeerSettings {
  #streamCredit: number;
  #sessionCredit: number;
  #concurrentStreams: number;

  constructor(streamCredit: number, snapshot?: PeerSettingsSnapshot) {
    this.#streamCredit = snapshot?.peerStreamCredit ?? streamCredit;
    this.#sessionCredit = snapshot?.peerSessionCredit ?? limits.initialSessionCreditBytes;
    this.#concurrentStreams = snapshot?.peerConcurrentStreams ?? limits.concurrentStreams;
  }

  /** Bytes of credit that a fresh stream has. */
  get streamCredit(): number {
    return this.#streamCredit;
  }

  /** That the session began with. */
  get sessionCredit(): number {
    return this.#sessionCredit;
  }

  get concurrentStreams(): number {
    return this.#concurrentStreams;
  }

  /** @throws RopewayError FLOW_CONTROL_ERROR of scope "session" for a credit that no window may have. */
  apply(id: number, value: number): CreditShift {
    const before = { streams: this.#streamCredit, session: this.#sessionCredit };
    if (id === Setting.INITIAL_STREAM_CREDIT) this.#streamCredit = credit(value);
    else if (id === Setting.SESSION_CREDIT) this.#sessionCredit = credit(value);
    else if (id === Setting.CONCURRENT_STREAMS) {
      this.#concurrentStreams = Math.max(1, Math.min(value, limits.concurrentStreams));
    }
    return { streams: this.#streamCredit - before.streams, session: this.#sessionCredit - before.session };
  }
}

function credit(value: number): number {
  if (value <= limits.creditBytes) return value;
  const message = "Cannot use an initial credit so large";
  throw new RopewayError(ErrorCode.FLOW_CONTROL_ERROR, "session", "peer", message);
}
