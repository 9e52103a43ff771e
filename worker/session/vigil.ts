import type { SetTimer } from "../../shared/clock.ts";

type State = { readonly kind: "off" | "over" } | { readonly kind: "on"; readonly cancel: () => void };

/** How long something is kept for the phone while nothing else is: after `time` ms in a row it is over. */
export class Vigil {
  #state: State = { kind: "off" };
  #setTimer: SetTimer;
  #time: number;
  #onOver: () => void;

  constructor(setTimer: SetTimer, time: number, onOver: () => void) {
    this.#setTimer = setTimer;
    this.#time = time;
    this.#onOver = onOver;
  }

  get isOver(): boolean {
    return this.#state.kind === "over";
  }

  keep(isNeeded: boolean): void {
    if (!isNeeded) {
      if (this.#state.kind === "on") this.#state.cancel();
      this.#state = { kind: "off" };
    } else if (this.#state.kind === "off") {
      const cancel = this.#setTimer(() => {
        this.#state = { kind: "over" };
        this.#onOver();
      }, this.#time);
      this.#state = { kind: "on", cancel };
    }
  }
}
