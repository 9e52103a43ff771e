/**
 * The entries of the page's session history as far as the shell has seen them. The browser owns the real list; the
 * documents report the Navigation API key of their entry, from which the shell knows whether there is a way back.
 */
import { ADDRESS_KEY } from "../../slot/page/links/address-key.ts";

export interface HistoryList {
  readonly keys: readonly string[];
  readonly index: number;
}

export const EMPTY_HISTORY: HistoryList = { keys: [], index: -1 };

/** Whether a key is only an address, as in a browser without the Navigation API. */
const isAddress = (key: string): boolean => key.startsWith(ADDRESS_KEY);

/**
 * The list after a document reported the entry `key`: a known key is a traversal, a new one cuts what lay ahead.
 *
 * @param isNew it was asked for by its address.
 */
export function visit(list: HistoryList, key: string, isNew = false): HistoryList {
  if (isAddress(key)) return visitUrl(list, key, isNew);
  const known = list.keys.indexOf(key);
  if (known >= 0) return { keys: list.keys, index: known };
  const keys = [...list.keys.slice(0, list.index + 1), key];
  return { keys, index: keys.length - 1 };
}

/** Whether a document that reports the entry `key` was come to by the history: the buttons, or the phone's gesture. */
export function isTraversal({ keys, index }: HistoryList, key: string, isNew = false): boolean {
  if (isAddress(key)) return !isNew && keys[index] !== key && [index - 1, index + 1].some((at) => keys[at] === key);
  return keys.includes(key) && keys[index] !== key;
}

/**
 * As `visit`, for a document that cannot report: it is known by its URL where it is next to the entry shown.
 *
 * @param isNew it was asked for by its address.
 */
export function visitUrl(list: HistoryList, url: string, isNew: boolean): HistoryList {
  const { keys, index } = list;
  const near = isNew ? [index] : [index, index - 1, index + 1];
  const known = near.find((at) => keys[at] === url);
  if (known !== undefined) return { keys, index: known };
  return { keys: [...keys.slice(0, index + 1), url], index: index + 1 };
}

/** Another document, with the entry `key`, has taken the place of the one shown. */
export function replaced({ keys, index }: HistoryList, key: string): HistoryList {
  return { keys: keys.with(index, key), index };
}

export function canGoBack(list: HistoryList): boolean {
  return list.index > 0;
}

export function canGoForward(list: HistoryList): boolean {
  return list.index < list.keys.length - 1;
}
