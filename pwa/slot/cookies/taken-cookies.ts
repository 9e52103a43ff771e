/**
 * Which of the cookies that scripts set are on their way to the edge. A request overtakes a message to the service worker
 * that was posted before it (Chromium 156), and would be sent without the cookie.
 */
export class TakenCookies {
  #set = 0;
  #taken = 0;
  #waiting: { readonly number: number; readonly go: () => void }[] = [];

  /** @returns the number of a cookie that is being set. */
  begin(): number {
    this.#set += 1;
    return this.#set;
  }

  /** This one, and those before it, are ahead of every request that follows. */
  taken(number: number): void {
    this.#taken = Math.max(this.#taken, number);
    const ready = this.#waiting.filter((each) => each.number <= this.#taken);
    this.#waiting = this.#waiting.filter((each) => each.number > this.#taken);
    for (const { go } of ready) go();
  }

  /** When a request may go; null for now. */
  whenTaken(): Promise<void> | null {
    const number = this.#set;
    if (this.#taken >= number) return null;
    return new Promise((go) => {
      this.#waiting.push({ number, go });
    });
  }
}
