/** What a request hears of when its tunnel cannot carry it. */
import { ErrorCode, RopewayError } from "../../shared/errors.ts";

/** Whether an origin may have had the request, and acted on it. An edge that refuses the phone has passed nothing on. */
export function hidesTheOutcome({ code, scope }: RopewayError): boolean {
  if (scope === "session") return code !== ErrorCode.KEY_NOT_ACCEPTED;
  return code === ErrorCode.ALREADY_SENT || code === ErrorCode.OUTCOME_UNKNOWN;
}

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
