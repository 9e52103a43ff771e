/** How a HELLO of a channel on the first one's socket is refused (PROTOCOL.md section 4.5). */
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import * as limits from "../../shared/limits.ts";

export function misplacedHello(): RopewayError {
  const message = "Cannot take a channel over: its HELLO names another channel";
  return new RopewayError(ErrorCode.PROTOCOL_ERROR, "session", "peer", message);
}

export function tooManyHellos(): RopewayError {
  const message = `Cannot carry channels more than ${limits.carriedHellos} times on a link: open another`;
  return new RopewayError(ErrorCode.ENHANCE_YOUR_CALM, "session", "peer", message);
}
