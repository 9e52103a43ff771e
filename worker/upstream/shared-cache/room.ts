/** Bytes that may be kept, of all who keep some. */
export class Room {
  #free: number;

  constructor(bytes: number) {
    this.#free = bytes;
  }

  /** False where there are not so many left, and then none is taken. */
  take(bytes: number): boolean {
    if (bytes > this.#free) return false;
    this.#free -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.#free += bytes;
  }
}
