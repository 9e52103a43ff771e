/** Whether a page that is shown as it was stored, with nobody asked, has another version by now. */
import type { HeaderList } from "../../../../shared/http/heads.ts";
import { type Decision, decide, isLifetimeGuessed, selectVariant } from "../../../../shared/http-cache/cache-rules.ts";
import type { EdgeQuestions } from "./edge-questions.ts";
import type { Lookup } from "./lookup.ts";
import type { SourceParts } from "./source-parts.ts";
import { isPage } from "./stored-exchange.ts";
import { type Variant, variantsOf } from "./variants-of.ts";

/** Milliseconds: what a page needs goes first. */
const CHECK_DELAY = 2_000;

export class NewerPages {
  readonly #parts: SourceParts;
  readonly #questions: EdgeQuestions;

  constructor(parts: SourceParts, questions: EdgeQuestions) {
    this.#parts = parts;
    this.#questions = questions;
  }

  /** A page gets what is stored. What is not asked about beside is asked about later, where nothing says how long it is fresh. */
  shown(lookup: Lookup, decision: Decision<Variant> & { kind: "answer" | "answer-and-validate" }): void {
    const { stored } = decision;
    if (decision.kind === "answer-and-validate") this.#check(lookup, stored, decision.fields);
    else if (isPage(lookup.head) && lookup.head.cacheMode === "default" && isLifetimeGuessed(stored)) {
      this.#parts.platform.setTimer(() => this.#ask(lookup, stored), CHECK_DELAY);
    }
  }

  #ask(lookup: Lookup, shown: Variant): void {
    const { platform } = this.#parts;
    const asked = decide({ ...lookup.head, cacheMode: "no-cache" }, [shown], platform.now());
    if (platform.isAway() || asked.kind !== "validate") return;
    const fields = asked.fields.filter(([name]) => name !== "cache-control");
    if (this.#questions.canConfirm(lookup, shown, fields)) this.#check(lookup, shown, fields);
  }

  #check(lookup: Lookup, shown: Variant, fields: HeaderList): void {
    const checked = this.#questions.check(lookup, shown, fields);
    if (isPage(lookup.head)) void checked.then(() => this.#compare(lookup, shown));
  }

  async #compare({ head, partition, context }: Lookup, shown: Variant): Promise<void> {
    const { store, invalidations, platform } = this.#parts;
    await invalidations.pendingFor(partition, head.url);
    const stored = selectVariant(head, variantsOf(await store.index(partition), head, context));
    if (stored !== null && stored.entry.body.hash !== shown.entry.body.hash) platform.onNewerPage(head.url);
  }
}
