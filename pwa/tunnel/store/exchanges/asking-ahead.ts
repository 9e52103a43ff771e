/**
 * With a navigation, and before its document has come, asks origins about what the document's page asked for at its last
 * visit and what has become stale since: the page's own requests find it confirmed.
 */
import type { ClientExchange } from "../../../../shared/http/client-exchange.ts";
import { decide } from "../../../../shared/http-cache/decide.ts";
import type { PhoneRequest } from "../../requests/response-source.ts";
import { laterWith } from "../later-with.ts";
import { type AskedAhead, AskedQuestions } from "./asked-questions.ts";
import type { EdgeQuestions } from "./edge-questions.ts";
import { DEAF, type Lookup } from "./lookup.ts";
import { PageVisits } from "./page-visits.ts";
import type { SourceParts } from "./source-parts.ts";
import { contextOf } from "./stored-exchange.ts";
import { variantsOf } from "./variants-of.ts";

/** Milliseconds in which what a page asks for gathers before it is written down. */
const KEPT_AFTER = 1500;

export class AskingAhead {
  readonly #parts: SourceParts;
  readonly #questions: EdgeQuestions;
  readonly #visits: PageVisits;
  readonly #asked: AskedQuestions;
  #isToBeKept = false;

  constructor(parts: SourceParts, questions: EdgeQuestions) {
    this.#parts = parts;
    this.#questions = questions;
    this.#visits = new PageVisits(parts.store);
    this.#asked = new AskedQuestions(() => parts.platform.now());
  }

  /** A document is asked for, or something that its page wants. */
  note(lookup: Lookup): void {
    const { head, partition } = lookup;
    if (head.mode === "navigate") void this.#ask(lookup);
    else if (head.cacheMode === "default" && this.#visits.note(partition, lookup.request.head)) this.#keepSoon();
  }

  /** @returns null where nothing was asked ahead; else what `start` answers when that is over. */
  join({ head, partition }: Lookup, start: (asked: AskedAhead) => ClientExchange): ClientExchange | null {
    const asked = head.cacheMode === "default" ? this.#asked.take(partition, head.url) : null;
    return asked === null ? null : laterWith(asked.over, () => start(asked));
  }

  /** The app may be closed as soon as the page is there. */
  #keepSoon(): void {
    if (this.#isToBeKept) return;
    this.#isToBeKept = true;
    this.#parts.platform.setTimer(() => {
      this.#isToBeKept = false;
      this.#visits.keepAll();
    }, KEPT_AFTER);
  }

  async #ask({ head, partition, next }: Lookup): Promise<void> {
    const { store, platform, invalidations, counters } = this.#parts;
    const wanted = await this.#visits.begin(partition, head.url);
    if (head.cacheMode !== "default" || wanted.length === 0) return;
    await invalidations.allPending(partition);
    const index = await store.index(partition);
    for (const each of wanted) {
      const context = contextOf(each);
      if (context === null) continue;
      const asked = { ...each, cacheMode: "default" } as const;
      const decision = decide(asked, variantsOf(index, each, context), platform.now());
      if (decision.kind !== "validate") continue;
      const request: PhoneRequest = { head: each, body: null, push: null };
      const lookup = { request, head: asked, partition, context, consumer: DEAF, next };
      if (!this.#questions.canConfirm(lookup, decision.stored, decision.fields)) continue;
      const since = platform.now();
      const over = this.#questions.check(lookup, decision.stored, decision.fields);
      this.#asked.add(partition, each.url, { since, over });
      counters.storeAsked += 1;
    }
  }
}
