/** Why a channel, and with it its session, cannot go on. */
import { ErrorCode, RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";

/** LINK_LOST: the phone's next request begins a session of its own. */
export function cannotResume(reason: string): RopewayError {
  const message = `Cannot resume the session: ${reason}, open a new one`;
  return new RopewayError(ErrorCode.LINK_LOST, "session", "library", message);
}

/** What streams of a channel fail with that the phone has retired. */
export function begunAnew(): RopewayError {
  return new RopewayError(ErrorCode.LINK_LOST, "stream", "peer", "Cannot go on: the peer began the channel anew");
}

export function keepsTooMuch(): RopewayError {
  const message = `Cannot keep more than ${limits.retainedBytes} unacknowledged bytes: the peer does not acknowledge`;
  return new RopewayError(ErrorCode.ENHANCE_YOUR_CALM, "session", "peer", message);
}

export function tooMuchCarried(): RopewayError {
  const message =
    "Cannot send again what channels keep: the peer does not acknowledge what was sent again on this link";
  return new RopewayError(ErrorCode.ENHANCE_YOUR_CALM, "session", "peer", message);
}

export function violation(reason: string): RopewayError {
  return new RopewayError(ErrorCode.PROTOCOL_ERROR, "session", "peer", `Cannot go on with the peer: ${reason}`);
}

export function toSessionError(error: unknown): RopewayError {
  if (error instanceof RopewayError) return error;
  return new RopewayError(ErrorCode.INTERNAL_ERROR, "session", "library", "Cannot handle a message: internal error", {
    cause: error,
  });
}
