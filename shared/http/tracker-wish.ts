/** What a phone wants done with requests for trackers: PROTOCOL.md section 5.9. */
import type { HeaderField, HeaderList } from "./heads.ts";

/** Edges that do not know it drop it. */
const TRACKERS = "sec-ropeway-trackers";

/** In the session's head: no request of it goes to a tracker. */
export const TRACKERS_BLOCKED: HeaderField = [TRACKERS, "block"];

/** In a request: it goes wherever it leads, since the person lets trackers be on that page. */
export const TRACKERS_ALLOWED: HeaderField = [TRACKERS, "allow"];

export const isTrackerField = ([name]: HeaderField): boolean => name === TRACKERS;

export function has(headers: HeaderList, [name, value]: HeaderField): boolean {
  return headers.some((field) => field[0] === name && field[1] === value);
}
