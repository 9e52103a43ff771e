import type { PageStoreUse, WarmedStats } from "../../../messages/tunnel-messages.ts";
import { formatBytes } from "../parts/format.ts";

/** What of a page this phone had, in sentences; none where it had nothing. */
export function storeSentences({
  storeAnswers,
  storeValidations,
  storeReferences,
  storeBytes,
  pagesWarmed,
  pagesWarmedUsed,
}: PageStoreUse & WarmedStats): readonly string[] {
  const sentences: string[] = [];
  if (storeAnswers > 0) sentences.push(`${parts(storeAnswers)} from this phone, and nobody was asked.`);
  if (storeValidations > 0) {
    sentences.push(`${parts(storeValidations)} from this phone after the site had said: not changed.`);
  }
  if (storeReferences > 0) {
    sentences.push(
      `${parts(storeReferences)} from this phone after the site had sent the same again, to your edge only.`,
    );
  }
  if (storeBytes > 0) sentences.push(`${formatBytes(storeBytes)} did not have to be sent again.`);
  if (pagesWarmedUsed > 0) sentences.push("It was loaded before you opened it.");
  if (pagesWarmed > 0) sentences.push(`${pagesWarmed === 1 ? "1 link" : `${pagesWarmed} links`} of it loaded ahead.`);
  return sentences;
}

function parts(count: number): string {
  return `${count} ${count === 1 ? "part" : "parts"} of the page came`;
}
