/** When to post what has gathered: the first at once, with what the same turn brings; then not before a rest is over. */
import type { SetTimer } from "../../shared/clock.ts";

export class MessageBatch {
  readonly #post: () => void;
  readonly #rest: number;
  readonly #setTimer: SetTimer;
  #isResting = false;
  #isScheduled = false;
  #isWanted = false;

  /**
   * @param post posts all that has gathered.
   * @param rest milliseconds.
   */
  constructor(post: () => void, rest: number, setTimer: SetTimer) {
    this.#post = post;
    this.#rest = rest;
    this.#setTimer = setTimer;
  }

  /** Something has gathered. @param isUrgent not worth a wait. */
  want(isUrgent = false): void {
    this.#isWanted = true;
    if (this.#isScheduled || (this.#isResting && !isUrgent)) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    this.#isWanted = false;
    this.#post();
    if (this.#isResting) return;
    this.#isResting = true;
    this.#setTimer(() => {
      this.#isResting = false;
      if (this.#isWanted) this.want();
    }, this.#rest);
  }
}
