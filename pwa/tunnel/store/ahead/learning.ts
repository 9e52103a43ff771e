/** What is learned of a visit: for the page itself, and for pages of its kind. */
import type { RequestHead } from "../../../../shared/http/heads.ts";
import type { NotedRequest, StoredVisit } from "../database/store-database.ts";
import { fromTemplate, type PagePattern, toTemplate } from "./page-pattern.ts";

/** A request that a page is expected to make. */
export interface Expected {
  readonly head: RequestHead;
  /** From 0 to 1: which part of the visits had it, the latest counting as much as all before. */
  readonly share: number;
  /** The document's markup names it: the edge finds it by itself. */
  readonly isNamed: boolean;
  /** Pages of its kind have asked for it, the page itself has not. */
  readonly isGuessed?: true;
}

/** Share of a request that is not learned from: the person may have caused it, and not the page. */
export const UNLEARNED = 0;

/** So many of a kind are kept. */
const OF_KIND = 60;
/** What both of the last two pages of a kind asked for has a share of three quarters. */
const LEAST_OF_KIND = 0.7;
/** What has a smaller share is forgotten. */
const LEAST_KEPT = 0.1;
const FIRST = 0.5;
/** Share of a request that took the place of another at the same path: the next time it may be another again. */
const FIRST_OF_ANOTHER = 0.25;

/** The last visit's requests, with what is known of them from those before. */
export function learnOfPage(before: StoredVisit | undefined, now: readonly NotedRequest[]): NotedRequest[] {
  const known = new Map(before?.requests.map((each) => [each.url, each]));
  const asked = new Set(now.map(({ url }) => url));
  const gone = new Set([...known.keys()].filter((url) => !asked.has(url)).map(pathOf));
  return now.map((each) => {
    if (each.share === UNLEARNED) return each;
    const share = known.get(each.url)?.share;
    if (share !== undefined) return { ...each, share: (share + 1) / 2 };
    return { ...each, share: gone.has(pathOf(each.url)) ? FIRST_OF_ANOTHER : FIRST };
  });
}

/** What pages of the kind ask for, with places in it. A page that was the latest before is none more. */
export function learnOfKind(
  before: StoredVisit | undefined,
  { document, requests }: Pick<StoredVisit, "document" | "requests">,
  { values }: PagePattern,
): Pick<StoredVisit, "requests" | "latest"> {
  if (before?.latest === document) return before;
  const shares = new Map(
    (before?.requests ?? []).map((each) => [each.url, { ...each, share: (each.share ?? FIRST) / 2 }]),
  );
  for (const each of requests.filter(({ share }) => share !== UNLEARNED)) {
    const url = toTemplate(each.url, values);
    const share = (shares.get(url)?.share ?? 0) + FIRST;
    shares.set(url, { ...each, url, referrer: each.referrer && toTemplate(each.referrer, values), share });
  }
  const kept = [...shares.values()].filter(({ share }) => share >= LEAST_KEPT);
  return { latest: document, requests: kept.sort((a, b) => b.share - a.share).slice(0, OF_KIND) };
}

/** @param ofKind what pages of its kind ask for: that speaks for a request, too. */
export function expectedOfPage(visit: StoredVisit, ofKind: readonly Expected[]): Expected[] {
  const shares = new Map(ofKind.map(({ head, share }) => [head.url, share]));
  return visit.requests.map(toExpected).map((each) => {
    const isLearned = each.share !== UNLEARNED;
    return isLearned ? { ...each, share: Math.max(each.share, shares.get(each.head.url) ?? 0) } : each;
  });
}

/** What a page of the kind will ask for that was not visited yet. */
export function expectedOfKind(kind: StoredVisit | undefined, { values }: PagePattern): Expected[] {
  return (kind?.requests ?? []).map(toExpected).flatMap((each) => {
    const url = fromTemplate(each.head.url, values);
    const referrer = fromTemplate(each.head.referrer, values);
    if (each.share < LEAST_OF_KIND || url === null || !URL.canParse(url)) return [];
    return [{ ...each, head: { ...each.head, url, referrer: referrer ?? "" }, isGuessed: true }];
  });
}

/** Visits that a former release noted say neither. */
function toExpected({ share = FIRST, isNamed = false, ...head }: NotedRequest): Expected {
  return { head, share, isNamed };
}

function pathOf(url: string): string {
  return url.replace(/\?.*$/s, "");
}
