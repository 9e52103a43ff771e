import { ErrorCode, RopewayError } from "../../errors.ts";

/** The peer sent a block that cannot be decoded: both tables are out of step, so the session ends (RFC 9113 4.3). */
export function compressionError(reason: string): RopewayError {
  return new RopewayError(
    ErrorCode.COMPRESSION_ERROR,
    "session",
    "peer",
    `Cannot decode HPACK header block: ${reason}`,
  );
}
