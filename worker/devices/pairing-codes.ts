/** Codes in place of the access key: each pairs one device, once, within ten minutes. */

import type { DeviceTerms } from "./device-terms.ts";
import { hashOf } from "./device-token.ts";
import type { RecordStore } from "./record-store.ts";

/** Milliseconds: time to fetch the other device; a stranger has some thousand guesses of 2^40 by then. */
export const CODE_TIME = 600_000;

/** Without letters that look like others (Crockford's base 32). */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH = 8;
/** Codes that are open at a time; the oldest gives way. */
const MOST_CODES = 20;
const RECORD = "codes";

/** What a device gets that shows the code. `lastsFor` in milliseconds from then on. */
export type CodeTerms =
  | { readonly kind: "full" }
  | { readonly kind: "guest"; readonly lastsFor: number | null; readonly mostBytes: number | null };

interface OpenCode {
  readonly hash: string;
  readonly expiresAt: number;
  readonly terms: CodeTerms;
}

export class PairingCodes {
  #store: RecordStore;
  #now: () => number;

  /** @param now milliseconds since the epoch. */
  constructor(store: RecordStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  async create(terms: CodeTerms): Promise<{ readonly code: string; readonly expiresAt: number }> {
    const letters = [...crypto.getRandomValues(new Uint8Array(LENGTH))].map((byte) => ALPHABET[byte % ALPHABET.length]);
    const code = letters.join("");
    const hash = await hashOf(code);
    const expiresAt = this.#now() + CODE_TIME;
    await this.#store.update<readonly OpenCode[]>(RECORD, (codes = []) =>
      [...this.#open(codes), { hash, expiresAt, terms }].slice(-MOST_CODES),
    );
    return { code: `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`, expiresAt };
  }

  /** @returns null for what is no code, or no longer one. Otherwise the code is void from now on. */
  async redeem(text: string): Promise<DeviceTerms | null> {
    const code = readCode(text);
    if (code === null) return null;
    const hash = await hashOf(code);
    let found: OpenCode | undefined;
    await this.#store.update<readonly OpenCode[]>(RECORD, (codes = []) => {
      const open = this.#open(codes);
      found = open.find((each) => each.hash === hash);
      return open.filter((each) => each !== found);
    });
    if (found === undefined) return null;
    const { terms } = found;
    if (terms.kind === "full") return terms;
    const endsAt = terms.lastsFor === null ? null : this.#now() + terms.lastsFor;
    return { kind: "guest", endsAt, mostBytes: terms.mostBytes };
  }

  /** All open codes become void. */
  clear(): Promise<void> {
    return this.#store.update(RECORD, () => undefined);
  }

  #open(codes: readonly OpenCode[]): OpenCode[] {
    return codes.filter(({ expiresAt }) => expiresAt > this.#now());
  }
}

/** However a person typed it. */
function readCode(text: string): string | null {
  const code = text.toUpperCase().replace(/[\s-]/g, "").replaceAll("O", "0").replace(/[IL]/g, "1");
  return code.length === LENGTH && [...code].every((letter) => ALPHABET.includes(letter)) ? code : null;
}
