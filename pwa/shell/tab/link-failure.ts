/** Pages that nothing but the link between phone and edge stood in the way of. */
import { ErrorCode } from "../../../shared/errors.ts";
import type { PageError } from "./tab-state.ts";

/** The last also ends, by the key that the edge wants. */
const OF_THE_LINK: ReadonlySet<number> = new Set([ErrorCode.LINK_LOST, ErrorCode.OFFLINE, ErrorCode.KEY_NOT_ACCEPTED]);

/** Whether the page is loaded again, unasked, when the link is back. What a form sent may have arrived. */
export function comesBackWithLink({ code, method }: PageError): boolean {
  return method === "GET" && OF_THE_LINK.has(code);
}
