/** Whether links may be warmed: the person wants it, and nothing says that data is dear. */
import type { Settings } from "../app/state.ts";

/** Network Information API; not in all browsers. */
export interface NetworkCost {
  readonly saveData?: boolean;
  readonly type?: string;
}

/** Types of that API on which data costs nothing. Where a browser tells no type, the person's choice alone decides. */
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
