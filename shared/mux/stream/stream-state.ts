/**
 * The life of a stream, as in RFC 9113 section 5.1 without push reservations:
 *
 * ```
 *                 ┌── end sent ──► half-closed-local ── end received ──┐
 *   idle ─► open ─┤                                                    ├─► closed
 *                 └─ end received ► half-closed-remote ── end sent ────┘
 *   any ── reset sent or received ─────────────────────────────────────► closed
 * ```
 */
import { ErrorCode, RopewayError } from "../../errors.ts";

export type StreamState = "open" | "half-closed-local" | "half-closed-remote" | "closed";

export type StreamTransition = "end-sent" | "end-received" | "reset";

const TRANSITIONS: Record<StreamState, Partial<Record<StreamTransition, StreamState>>> = {
  open: { "end-sent": "half-closed-local", "end-received": "half-closed-remote", reset: "closed" },
  "half-closed-local": { "end-received": "closed", reset: "closed" },
  "half-closed-remote": { "end-sent": "closed", reset: "closed" },
  closed: { reset: "closed" },
};

/** @throws RopewayError STREAM_CLOSED of scope "stream" when the state knows no such transition. */
export function nextStreamState(state: StreamState, transition: StreamTransition): StreamState {
  const next = TRANSITIONS[state][transition];
  if (next === undefined) {
    throw new RopewayError(
      ErrorCode.STREAM_CLOSED,
      "stream",
      transition === "end-sent" ? "user" : "peer",
      `Cannot follow "${transition}" on a stream that is ${state}`,
    );
  }
  return next;
}

export function maySend(state: StreamState): boolean {
  return state === "open" || state === "half-closed-remote";
}

export function mayReceive(state: StreamState): boolean {
  return state === "open" || state === "half-closed-local";
}
