/** What a request hears of when its tunnel cannot carry it. */
import { ErrorCode, RopewayError } from "../../shared/errors.ts";

/** After these an origin may have had the request, and acted on it. */
export const HIDES_THE_OUTCOME: ReadonlySet<number> = new Set([
  ErrorCode.LINK_LOST,
  ErrorCode.OFFLINE,
  ErrorCode.ALREADY_SENT,
  ErrorCode.OUTCOME_UNKNOWN,
]);

export function unreachable(isOnline: boolean): RopewayError {
  const [code, reason] = isOnline
    ? [ErrorCode.LINK_LOST, "check the network, then try again"]
    : [ErrorCode.OFFLINE, "this device is offline"];
  return new RopewayError(code, "session", "library", `Cannot reach the edge: ${reason}`);
}

export function refused(): RopewayError {
  return new RopewayError(
    ErrorCode.KEY_NOT_ACCEPTED,
    "session",
    "peer",
    "Cannot reach the edge: it does not accept this phone any more; pair it again",
  );
}

export function sessionLost(): RopewayError {
  return new RopewayError(ErrorCode.LINK_LOST, "session", "library", "Cannot resume the session: it was too long ago");
}
