import type { RequestHead, ScriptCookie } from "../../../../shared/http/heads.ts";
import type { PageRequests } from "../ahead/page-requests.ts";
import { bounded } from "../bounded.ts";
import type { ResponseStore } from "../database/response-store.ts";
import type { StoredDictionaries } from "../dictionary/stored-dictionaries.ts";
import type { StoredSourcePlatform } from "../stored-source-platform.ts";
import type { CookieMirror } from "./cookie-mirror.ts";
import type { Invalidations } from "./invalidations.ts";
import type { StoredExchange } from "./stored-exchange.ts";

/** What all parts share that answer from the store and fill it. */
export interface SourceParts {
  readonly store: ResponseStore<StoredExchange>;
  readonly platform: StoredSourcePlatform;
  readonly cookies: CookieMirror;
  readonly invalidations: Invalidations;
  readonly pages: PageRequests;
  readonly counters: StoreCounters;
  /** Null where there are none. */
  readonly dictionaries: StoredDictionaries | null;
}

export interface StoreCounters {
  storeAnswers: number;
  storeValidations: number;
  storeReferences: number;
  storeReferencedBytes: number;
  storeDictionaries: number;
  storeBytes: number;
  storeAsked: number;
  storeAskedUsed: number;
}

/** @param promise does not reject; waited for as long as a request waits for the disk. */
export function withinDiskTime<Value, Other>(
  { platform }: Pick<SourceParts, "platform">,
  promise: Promise<Value>,
  otherwise: Other,
): Promise<Value | Other> {
  return bounded(promise, otherwise, (task, delay) => platform.setTimer(task, delay));
}

/** What the scripts of the answer may read of them; null where a document needs them and nobody knows. */
export function scriptCookiesOf(
  { cookies }: Pick<SourceParts, "cookies">,
  head: RequestHead,
): readonly ScriptCookie[] | null {
  return head.mode === "navigate" ? cookies.cookiesFor(head) : [];
}
