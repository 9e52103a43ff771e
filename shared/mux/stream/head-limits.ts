/** Heads that this side sends: PROTOCOL.md section 5.1. The receiver's limits are those of its HPACK decoder. */
import { ErrorCode, RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { toByteString } from "../../wire/hpack/byte-string.ts";
import { type EncodableField, fieldBytes } from "../../wire/hpack/field.ts";

/**
 * To be called before encoding: a block that was encoded and not sent would leave the peer's HPACK table behind. Errs on
 * the safe side, since no block is longer than what its lines count.
 *
 * @throws RopewayError ENHANCE_YOUR_CALM of scope "stream" when the peer would refuse the head.
 */
export function assertHeadFits(fields: readonly EncodableField[]): void {
  const bytes = fields.reduce((sum, [name, value]) => sum + fieldBytes(toByteString(name), toByteString(value)), 0);
  if (fields.length <= limits.headFields && bytes <= limits.headBytes) return;
  throw new RopewayError(
    ErrorCode.ENHANCE_YOUR_CALM,
    "stream",
    "user",
    `Cannot send a head of ${fields.length} lines and ${bytes} bytes: the limits are ${limits.headFields} and ${limits.headBytes}`,
  );
}
