/** Milliseconds for which the page of the navigation may take what was confirmed. */
const TAKEN_WITHIN = 60_000;

/** A question that was asked ahead. */
export interface AskedAhead {
  /** Milliseconds since the epoch: what came since is confirmed. */
  readonly since: number;
  /** Settles when it was answered, or will not be. */
  readonly over: Promise<void>;
}

/** Questions that were asked ahead, until the page's own request takes them, once. */
export class AskedQuestions {
  /** By partition and URL. */
  readonly #asked = new Map<string, AskedAhead>();
  readonly #now: () => number;

  /** @param now milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  add(partition: string, url: string, question: AskedAhead): void {
    for (const [key, { since }] of this.#asked) if (!isRecent(since, question.since)) this.#asked.delete(key);
    this.#asked.set(keyOf(partition, url), question);
  }

  take(partition: string, url: string): AskedAhead | null {
    const key = keyOf(partition, url);
    const asked = this.#asked.get(key) ?? null;
    this.#asked.delete(key);
    return asked !== null && isRecent(asked.since, this.#now()) ? asked : null;
  }
}

function keyOf(partition: string, url: string): string {
  return `${partition} ${url}`;
}

/** The clock may have been set back since. */
function isRecent(since: number, now: number): boolean {
  return Math.abs(now - since) <= TAKEN_WITHIN;
}
