/** What a session says in quick succession goes in one message: each costs the phone a task in three processes. */
import type { SetTimer } from "../../shared/clock.ts";
import type { Defer } from "../../shared/mux/pipe/channel.ts";

/** Milliseconds: what a session says within it goes in one message: each costs a phone tasks in three processes. */
export const GATHER_TIME = 3;

/** Runs a task at the end of the turn, and those that come within `time` milliseconds after it together at its end. */
export function gathering(setTimer: SetTimer, time: number): Defer {
  let isResting = false;
  let waiting: (() => void)[] = [];
  const rest = (): void => {
    isResting = true;
    setTimer(() => {
      isResting = false;
      if (waiting.length === 0) return;
      const tasks = waiting;
      waiting = [];
      rest();
      for (const task of tasks) task();
    }, time);
  };
  return (task) => {
    if (isResting) {
      waiting.push(task);
      return;
    }
    queueMicrotask(task);
    rest();
  };
}
