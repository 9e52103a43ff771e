import type { Defer } from "../mux/pipe/channel.ts";

/** Deferred work that runs when a test says so, instead of at the end of the turn. */
export class Turns {
  #tasks: (() => void)[] = [];

  readonly defer: Defer = (task) => {
    this.#tasks.push(task);
  };

  /** Runs all that was deferred, and what that defers in turn. */
  run(): void {
    for (let task = this.#tasks.shift(); task !== undefined; task = this.#tasks.shift()) task();
  }
}

/** Lets promise reactions and streams of the platform come to rest. */
export async function settle(rounds = 20): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await new Promise<void>((resolve) => setTimeout(resolve, 0));
}
