import type { SetTimer } from "../../../shared/clock.ts";

/** Milliseconds that a request waits for the disk before it does without. */
export const DISK_TIME = 1000;

/** Milliseconds that a person waits for the store to forget something: a slow phone has to delete 200 MB. */
export const FORGETTING_TIME = 15_000;

/** What `promise` gives, or `otherwise` if that takes longer than `time`. The promise does not reject. */
export function bounded<Value, Other>(
  promise: Promise<Value>,
  otherwise: Other,
  setTimer: SetTimer,
  time = DISK_TIME,
): Promise<Value | Other> {
  return new Promise((resolve) => {
    const cancel = setTimer(() => resolve(otherwise), time);
    void promise.then((value) => {
      cancel();
      resolve(value);
    });
  });
}
