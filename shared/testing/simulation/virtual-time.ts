/** A clock that jumps from event to event, so that minutes of a link are simulated in milliseconds and always alike. */
export class VirtualTime {
  #now = 0;
  #count = 0;
  /** A binary heap, the next event first. */
  #heap: Event[] = [];

  /** Milliseconds since the start. */
  readonly now = (): number => this.#now;

  /** Runs `task` in `delay` milliseconds; tasks of the same time run in the order in which they were asked for. */
  in(delay: number, task: () => void): void {
    const heap = this.#heap;
    const event = { time: this.#now + Math.max(0, delay), order: this.#count++, task };
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, heap[parent] as Event)) break;
      heap[index] = heap[parent] as Event;
      index = parent;
    }
    heap[index] = event;
  }

  /** Runs all events up to `time`, then stands there. @param until stops early once it says so. */
  runTo(time: number, until: () => boolean = () => false): void {
    while (this.#heap[0] !== undefined && this.#heap[0].time <= time) {
      const event = this.#take();
      this.#now = event.time;
      event.task();
      if (until()) return;
    }
    this.#now = Math.max(this.#now, time);
  }

  #take(): Event {
    const heap = this.#heap;
    const first = heap[0] as Event;
    const last = heap.pop() as Event;
    if (heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Event)) child += 1;
      if (!isBefore(heap[child] as Event, last)) break;
      heap[index] = heap[child] as Event;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

interface Event {
  readonly time: number;
  readonly order: number;
  readonly task: () => void;
}

function isBefore(left: Event, right: Event): boolean {
  return left.time < right.time || (left.time === right.time && left.order < right.order);
}
