/**
 * What the person has answered to questions of sites: by origin, as browsers keep it. In synchronous storage, read anew each
 * time: another window may have changed it.
 */
import type { AskedFeature } from "../../messages/page-messages.ts";
import type { KeyValueStorage } from "./settings.ts";

/**
 * `app:` and a scheme, such as `app:mailto`: to open other apps by such addresses. "password": the person knows how the
 * browser's list names the site, and has answered nothing.
 */
export type AskedOfPerson = AskedFeature | "password" | `app:${string}`;

/** "put off": the question was closed, once. */
export type Answer = "allowed" | "refused" | "put off";

export interface SiteAnswer {
  readonly origin: string;
  readonly what: AskedOfPerson;
  readonly answer: Answer;
}

export const ANSWERS_KEY = "ropeway.answers";

/** The oldest go first. A page makes none by itself, but for its questions that were closed. */
const MOST_KEPT = 500;

/** The latest last. */
export function siteAnswers(storage: KeyValueStorage): readonly SiteAnswer[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(ANSWERS_KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isAnswer) : [];
  } catch {
    return [];
  }
}

function isAnswer(value: Partial<Record<keyof SiteAnswer, unknown>> | null): value is SiteAnswer {
  const isKnown = ["allowed", "refused", "put off"].includes(String(value?.answer));
  return isKnown && typeof value?.origin === "string" && typeof value.what === "string";
}

/** Null: the site was not asked about, or its question was closed once. */
export function answerTo(storage: KeyValueStorage, origin: string, what: AskedOfPerson): Answer | null {
  return siteAnswers(storage).findLast((each) => each.origin === origin && each.what === what)?.answer ?? null;
}

export function keepAnswer(storage: KeyValueStorage, kept: SiteAnswer): void {
  const others = siteAnswers(storage).filter(({ origin, what }) => origin !== kept.origin || what !== kept.what);
  write(storage, [...others, kept].slice(-MOST_KEPT));
}

/** @param isOf says of origins whether they are forgotten. */
export function forgetAnswers(storage: KeyValueStorage, isOf: (origin: string) => boolean): void {
  const all = siteAnswers(storage);
  const left = all.filter(({ origin }) => !isOf(origin));
  if (left.length < all.length) write(storage, left);
}

function write(storage: KeyValueStorage, answers: readonly SiteAnswer[]): void {
  if (answers.length > 0) storage.setItem(ANSWERS_KEY, JSON.stringify(answers));
  else storage.removeItem(ANSWERS_KEY);
}
