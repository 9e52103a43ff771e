/** What the shell knows an entry of the frame's history by. */

import { entryKey } from "./address-key.ts";

/** Missing in Firefox before 147 and Safari before 26.2: there, scripts that set `location` cannot be followed. */
export const navigationApi = (window as { navigation?: Navigation }).navigation;

/** As `entryKey`, of this document. */
export function historyKey(): string {
  return entryKey(navigationApi, location.href);
}
