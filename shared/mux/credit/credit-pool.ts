/**
 * What the streams of a session may have unread beyond what each begins with: PROTOCOL.md section 6. None gets more than
 * a part of what the others leave: so those that are read get what the link carries, and those that are not can never
 * hold all of it.
 */
export class CreditPool {
  #free: number;

  constructor(bytes: number) {
    this.#free = bytes;
  }

  /**
   * @param held bytes that the stream has already.
   * @param wanted bytes more.
   * @param part of what no other stream has, which this one may have at most.
   * @returns bytes that it has now in addition.
   */
  take(held: number, wanted: number, part: number): number {
    const most = Math.floor(part * (this.#free + held)) - held;
    const taken = Math.max(0, Math.min(wanted, most));
    this.#free -= taken;
    return taken;
  }

  giveBack(bytes: number): void {
    this.#free += bytes;
  }
}
