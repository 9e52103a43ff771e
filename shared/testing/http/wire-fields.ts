import { ErrorCode } from "../../errors.ts";
import type { HeaderField } from "../../http/heads.ts";
import type { EncodableField } from "../../wire/frame.ts";

/** What a list of fields that is no head ends its stream with. */
export const malformed = { code: ErrorCode.PROTOCOL_ERROR, scope: "stream", initiator: "peer" };

/** As they come out of HPACK: without the sender's wishes on indexing. */
export function onTheWire(fields: readonly EncodableField[]): HeaderField[] {
  return fields.map(([name, value]) => [name, value]);
}
