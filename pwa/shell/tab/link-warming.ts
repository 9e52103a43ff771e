/** Whether links may be warmed: the person wants it, and nothing says that data is dear. */
import type { Settings } from "../app/app-state.ts";

/** Network Information API; not in all browsers. */
export interface NetworkCost {
  readonly saveData?: boolean;
  readonly type?: string;
}

/** Of the API's types; where a browser tells none, what the person has chosen holds. */
const UNMETERED: readonly string[] = ["wifi", "ethernet", "other", "unknown"];

/** @param network as of now. */
export function mayWarmLinks(settings: Settings, { saveData, type }: NetworkCost): boolean {
  const { warmsLinks, takesPushes, pictures, pageBudget } = settings;
  const isSaving = !takesPushes || pictures !== "off" || pageBudget !== null || saveData === true;
  return warmsLinks && !isSaving && (type === undefined || UNMETERED.includes(type));
}

export function networkCost(): NetworkCost {
  return (navigator as Navigator & { readonly connection?: NetworkCost }).connection ?? {};
}
