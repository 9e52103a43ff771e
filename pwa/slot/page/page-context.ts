/** What the parts of the page script share. */

import type { PageToShell } from "../../messages/page-messages.ts";
import type { PageConfig } from "../documents/page-config.ts";
import { toReal } from "../slot-url.ts";

export interface PageContext {
  readonly config: PageConfig;
  /** Whether a reload would send a form again. */
  isPosted: boolean;
  /** Real URL of the document, as it is now. */
  readonly realUrl: () => string;
  /** Does nothing where the slot is not in the shell. */
  readonly toShell: (message: PageToShell, transfer?: Transferable[]) => void;
}

export function createPageContext(config: PageConfig): PageContext {
  const { top } = window;
  return {
    config,
    isPosted: config.isPosted,
    realUrl: () => toReal(location.href, config),
    toShell(message, transfer = []) {
      if (top !== null && top !== window) top.postMessage(message, config.shellOrigin, transfer);
    },
  };
}
