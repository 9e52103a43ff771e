import { ErrorCode, RopewayError } from "../../shared/errors.ts";

/** There is no way to a tunnel here. The tunnel has not got the request, and will not: it may go over another port. */
export class PortLost extends RopewayError {
  constructor() {
    super(ErrorCode.LINK_LOST, "stream", "library", "Cannot send: the app was closed");
  }
}
