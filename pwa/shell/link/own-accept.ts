/**
 * What this browser sends as `accept` for what elements load, so that the edge pushes just what pages will ask for. Only
 * its requests say so: the app's service worker is shown some, once for each version of the browser.
 */
import type { AcceptTable } from "../../../shared/http/phone-fields.ts";
import type { KeyValueStorage } from "../app/key-value-storage.ts";

const STORAGE_KEY = "ropeway.accept";

/** @returns null where it has to be found out. */
export function storedAccept(
  storage: KeyValueStorage,
  { userAgent }: Pick<NavigatorID, "userAgent"> = navigator,
): AcceptTable | null {
  const [of, accept] = JSON.parse(storage.getItem(STORAGE_KEY) ?? "[]") as [string?, AcceptTable?];
  return of === userAgent && accept ? accept : null;
}

export function storeAccept(
  storage: KeyValueStorage,
  accept: AcceptTable,
  { userAgent }: Pick<NavigatorID, "userAgent"> = navigator,
): void {
  storage.setItem(STORAGE_KEY, JSON.stringify([userAgent, accept]));
}
