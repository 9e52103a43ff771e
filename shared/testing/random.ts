/**
 * The seed of this run, for all tests: the same each time, so that what fails fails again. ROPEWAY_FUZZ_SEED gives another
 * (`vitest.config.ts`).
 */
export const runSeed = (): number => Number(process.env.ROPEWAY_FUZZ_SEED ?? 1) >>> 0;

/** Pseudo-random numbers that a printed seed repeats (mulberry32). Not for secrets. */
export class Random {
  readonly seed: number;
  #state: number;

  constructor(seed: number) {
    this.seed = seed >>> 0;
    this.#state = this.seed;
  }

  /** Numbers of its own, for one of several that take theirs at the same time: whoever is first changes nothing for others. */
  fork(name: string): Random {
    let seed = this.seed;
    for (const character of name) seed = new Random(seed ^ (character.codePointAt(0) ?? 0)).uint32();
    return new Random(seed);
  }

  /** An integer from 0 to 2^32 - 1. */
  uint32(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** An integer from 0 to `end` - 1. */
  below(end: number): number {
    return this.uint32() % end;
  }

  /** True once in `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  bytes(length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(length);
    for (let index = 0; index < length; index += 1) bytes[index] = this.uint32();
    return bytes;
  }
}
