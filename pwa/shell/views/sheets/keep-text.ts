import type { KeptPage } from "../../../messages/kept-page.ts";
import type { KeepResult } from "../../app/kept-pages.ts";
import { agoText } from "../bar/link-pill.tsx";
import { formatBytes } from "../parts/format.ts";

const REFUSALS: Record<Exclude<KeepResult, "kept">, string> = {
  forbidden: "Cannot keep it: its site does not allow this page to be stored.",
  form: "Cannot keep it: it is the answer to a form.",
  "not-stored": "Cannot keep it: this phone has not stored it. Reload the page, then try again.",
  unavailable: "Cannot keep it now: try again.",
};

/** What the switch does, or has done. @param now as `Date.now()` */
export function keepText(page: KeptPage | null, result: KeepResult | null, now: number): string {
  if (result !== null && result !== "kept") return REFUSALS[result];
  if (page === null) return "Stays on this phone as it is now, to be read without a link.";
  const { keptAt, bytes, missing } = page;
  const kept = `Kept ${agoText(keptAt, now)}, ${formatBytes(bytes)}.`;
  if (missing === 0) return kept;
  return `${kept} Without a link it lacks ${missing} ${missing === 1 ? "part" : "parts"} that could not be stored.`;
}
