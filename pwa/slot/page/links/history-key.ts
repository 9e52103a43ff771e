/** What the shell knows an entry of the frame's history by. */

import { ADDRESS_KEY } from "./address-key.ts";

/** Missing in Firefox before 147 and Safari before 26.2: there, scripts that set `location` cannot be followed. */
export const navigationApi = (window as { navigation?: Navigation }).navigation;

/**
 * The Navigation API's key of the entry; where there is none the address, which the shell takes for the entry next to
 * the one shown that has it.
 */
export function historyKey(): string {
  return navigationApi?.currentEntry?.key ?? ADDRESS_KEY + location.href;
}
