/**
 * Real origins of the slots that this document exchanges messages with. Only the shell knows them; it tells of
 * the frames in a document when they set out, and of others when it is asked.
 */
import { parseUrl } from "../../../shared/web/origin.ts";
import { isSlotHost, type SlotIdentity } from "../slot-url.ts";

/** Milliseconds after which a shell is taken not to know the question. */
const ANSWER_TIMEOUT = 2_000;

export class OriginNames {
  readonly #own: SlotIdentity & { readonly slotSources: string };
  readonly #ask: (origins: readonly string[]) => void;
  readonly #realBySlot = new Map<string, string>();
  readonly #asked = new Map<string, { readonly answered: Promise<void>; readonly resolve: () => void }>();

  constructor(own: SlotIdentity & { readonly slotSources: string }, ask: (origins: readonly string[]) => void) {
    this.#own = own;
    this.#ask = ask;
    this.#realBySlot.set(own.slotOrigin, own.realOrigin);
  }

  /** @returns null for a slot that is not known yet; any other origin reads as it is. */
  real(origin: string): string | null {
    return this.#realBySlot.get(origin) ?? (this.isSlot(origin) ? null : origin);
  }

  /** The known slots of a real origin; it may have several in one page, each under another origin. A slot is its own. */
  slots(real: string): string[] {
    if (real === this.#own.slotOrigin || this.isSlot(real)) return [real];
    return [...this.#realBySlot].filter(([, origin]) => origin === real).map(([slot]) => slot);
  }

  /** Resolves when the shell has said what it knows of a slot's or a real origin. */
  learn(origin: string): Promise<void> {
    const known = this.#asked.get(origin);
    if (known !== undefined) return known.answered;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#asked.set(origin, { answered: promise, resolve });
    setTimeout(() => this.take({}, [origin]), ANSWER_TIMEOUT);
    this.#ask([origin]);
    return promise;
  }

  /** @param asked what this answers; a slot of which nothing is said keeps its own name. */
  take(origins: Readonly<Record<string, string>>, asked: readonly string[] = []): void {
    for (const [slot, real] of Object.entries(origins)) this.#realBySlot.set(slot, real);
    for (const origin of asked) {
      const question = this.#asked.get(origin);
      if (question === undefined) continue;
      this.#asked.delete(origin);
      if (this.real(origin) === null) this.#realBySlot.set(origin, origin);
      question.resolve();
    }
  }

  /** Whether it is the origin of another slot. */
  isSlot(origin: string): boolean {
    if (origin === this.#own.slotOrigin) return false;
    const host = parseUrl(origin)?.host;
    return host !== undefined && isSlotHost(host, this.#own.slotSources);
  }
}
