/**
 * With a navigation, and before its document has come, asks origins about what the document's page asked for at its last
 * visit and what has become stale since: the page's own requests find it confirmed. The record never leaves the phone.
 */
import type { RequestHead } from "../../../shared/http/heads.ts";
import type { StoredVisit } from "./store-database.ts";

/** Requests of one visit: what a page has of its own host; the edge asks for six at once. */
const REQUESTS = 60;
/** Milliseconds for which the page of the navigation may take what was confirmed. */
const TAKEN_WITHIN = 60_000;

/** What it needs of the store. */
export interface VisitStore {
  readonly era: number;
  visit(partition: string, document: string): Promise<StoredVisit | undefined>;
  keepVisit(visit: StoredVisit, era: number): Promise<void>;
}

/** A question that was asked ahead. */
export interface AskedAhead {
  /** Milliseconds since the epoch: what came since is confirmed. */
  readonly since: number;
  /** Settles when it was answered, or will not be. */
  readonly over: Promise<void>;
}

interface Visit {
  readonly document: string;
  readonly era: number;
  readonly requests: Map<string, RequestHead>;
  isKept: boolean;
}

export class AskingAhead {
  readonly #store: VisitStore;
  readonly #now: () => number;
  /** Under way, by partition: what follows a navigation there is its page's. */
  readonly #visits = new Map<string, Visit>();
  /** By partition and URL. */
  readonly #asked = new Map<string, AskedAhead>();

  /** @param now milliseconds since the epoch. */
  constructor(store: VisitStore, now: () => number) {
    this.#store = store;
    this.#now = now;
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

  asked(partition: string, url: string, question: AskedAhead): void {
    for (const [key, { since }] of this.#asked) if (question.since - since > TAKEN_WITHIN) this.#asked.delete(key);
    this.#asked.set(keyOf(partition, url), question);
  }

  /** A page asks for what its own origin can be asked about. */
  note(partition: string, head: RequestHead): void {
    const visit = this.#visits.get(partition);
    if (visit === undefined || visit.requests.size >= REQUESTS || visit.requests.has(head.url)) return;
    visit.requests.set(head.url, head);
    visit.isKept = false;
  }

  /** The question about what is stored for a URL, once. */
  take(partition: string, url: string): AskedAhead | null {
    const key = keyOf(partition, url);
    const asked = this.#asked.get(key) ?? null;
    this.#asked.delete(key);
    return asked !== null && this.#now() - asked.since <= TAKEN_WITHIN ? asked : null;
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

function keyOf(partition: string, url: string): string {
  return `${partition} ${url}`;
}
