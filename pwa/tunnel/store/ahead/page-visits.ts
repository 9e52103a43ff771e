/** What the pages of documents asked for at their last visits. The record never leaves the phone. */
import type { RequestHead } from "../../../../shared/http/heads.ts";
import type { StoredVisit } from "../database/store-database.ts";

/** Requests of one visit: nearly all that a page has; the edge asks a host for six at once. */
const REQUESTS = 60;

/** What it needs of the store. */
export interface VisitStore {
  readonly era: number;
  visit(partition: string, document: string): Promise<StoredVisit | undefined>;
  keepVisit(visit: StoredVisit, era: number): Promise<void>;
}

interface Visit {
  readonly document: string;
  readonly era: number;
  readonly requests: Map<string, RequestHead>;
  isKept: boolean;
}

export class PageVisits {
  readonly #store: VisitStore;
  /** Under way, by partition: what follows a navigation there is its page's. */
  readonly #visits = new Map<string, Visit>();

  constructor(store: VisitStore) {
    this.#store = store;
  }

  /**
   * A navigation begins: what follows in its partition is its page's.
   *
   * @returns what the page asked for at its last visit.
   */
  async begin(partition: string, document: string): Promise<readonly RequestHead[]> {
    const { era } = this.#store;
    const before = this.#visits.get(partition);
    this.keepAll();
    this.#visits.set(partition, { document, era, requests: new Map(), isKept: true });
    const isSame = before?.document === document && before.era === era && before.requests.size > 0;
    if (isSame) return [...before.requests.values()];
    return (await this.#store.visit(partition, document))?.requests ?? [];
  }

  /** A page asks for what may be stored. @returns whether there is more to write down. */
  note(partition: string, head: RequestHead): boolean {
    const visit = this.#visits.get(partition);
    if (visit === undefined || visit.requests.size >= REQUESTS || visit.requests.has(head.url)) return false;
    visit.requests.set(head.url, head);
    visit.isKept = false;
    return true;
  }

  /** Writes down what pages have asked for since. */
  keepAll(): void {
    for (const [partition, visit] of this.#visits) {
      if (visit.isKept) continue;
      visit.isKept = true;
      const { document, requests, era } = visit;
      void this.#store.keepVisit({ partition, document, requests: [...requests.values()] }, era);
    }
  }
}
