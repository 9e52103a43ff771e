import { shellOriginOf } from "./shell-origin.ts";

/** For the document whose script runs: it is told by its element, or by its host's name. */
export function shellOriginHere(): string {
  return document.currentScript?.dataset.shell ?? shellOriginOf(location.origin);
}
