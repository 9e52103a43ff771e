/** The document and its window, as the parts of the page script share them. */

import { entryKey, MESSAGE_TAG, type PageToShell, type Trouble } from "../../messages/page-messages.ts";
import type { PageConfig } from "../documents/page-config.ts";
import { heldPolicies } from "../policy.ts";
import { ropewayPath, toReal } from "../slot-url.ts";
import type { View } from "../view/view.ts";

export type Realm = Window & typeof globalThis & { readonly navigation?: Navigation };

export interface PageContext {
  readonly config: PageConfig;
  /** Whose documents these are: the page script's own, or those of a frame that has none. */
  readonly realm: Realm;
  /** The realm may outlive it: a frame's first blank document leaves its window to the next one. */
  readonly document: Document;
  /** Whether a reload would send a form again. */
  isPosted: boolean;
  /** The element that had the focus when the person asked for the search by a key: focus that leaves the page leaves it, too. */
  searchedFrom: Element | null;
  /** Where the page is no HTML. */
  view: View | null;
  /** Whether origins get `Save-Data: on`. */
  savesData: boolean;
  /** Real URL of the document, as it is now. */
  readonly realUrl: () => string;
  /**
   * Of this document, before pages may put something else in its place. Missing in Firefox before 147 and Safari before
   * 26.2: there, scripts that set `location` cannot be followed.
   */
  readonly navigation: Navigation | undefined;
  /** The shell knows the entry of the frame's history by it: `entryKey` of this document. */
  readonly historyKey: () => string;
  /** As `heldPolicies` says of the response's fields, and of the `<meta>` elements that the document has by now. */
  readonly policies: () => string[];
  /** Does nothing where the slot is not in the shell. */
  readonly toShell: (message: PageToShell, transfer?: Transferable[]) => void;
  /** Loads a part of the page script that no first page needs. @param name as in `__LATE` of the slot's worker. */
  readonly late: <Module>(name: string) => Promise<Module>;
  /** The person should know of this. @param isOver no more. */
  readonly tell: (trouble: Trouble, isOver?: boolean) => void;
}

/** Whether the realm still has the document. */
export const isThere = ({ realm, document }: PageContext): boolean => realm.document === document;

/** That window, and all in it, from the top down. */
export function windowsBelow(root: Window): Window[] {
  const windows = [root];
  for (const each of windows) for (let index = 0; index < each.length; index += 1) windows.push(each[index] as Window);
  return windows;
}

/** Whether its document is of this origin. */
export function isOpen(other: Window): other is Realm {
  try {
    return Boolean(other.document);
  } catch {
    return false;
  }
}

export function createPageContext(config: PageConfig): PageContext {
  const { top, navigation } = window as Realm;
  const context: PageContext = {
    config,
    realm: window,
    document,
    isPosted: config.isPosted,
    searchedFrom: null,
    view: null,
    savesData: config.savesData === true,
    realUrl: () => toReal(location.href, config),
    navigation,
    historyKey: () => entryKey(navigation, location.href),
    policies() {
      const metas = document.querySelectorAll<HTMLMetaElement>('head > meta[http-equiv="content-security-policy" i]');
      return [...(config.connect ?? []), ...heldPolicies(Array.from(metas, ({ content }) => content))];
    },
    toShell(message, transfer = []) {
      // Only the browser can say that the person has acted in a frame.
      const options = { targetOrigin: config.shellOrigin, transfer, includeUserActivation: true };
      if (top !== null && top !== window) top.postMessage(message, options);
    },
    late: (name) => import(`${config.slotOrigin}${ropewayPath.pageScript}?${name}`),
    tell: (trouble, isOver = false) => context.toShell({ tag: MESSAGE_TAG, type: "trouble", trouble, isOver }),
  };
  return context;
}
