/** Milliseconds that a request waits for the disk before it does without. */
export const DISK_TIME = 1000;

/** What `promise` gives, or `otherwise` if that takes longer than `DISK_TIME`. The promise does not reject. */
export function bounded<Value, Other>(
  promise: Promise<Value>,
  otherwise: Other,
  setTimer: (task: () => void, delay: number) => () => void,
): Promise<Value | Other> {
  return new Promise((resolve) => {
    const cancel = setTimer(() => resolve(otherwise), DISK_TIME);
    void promise.then((value) => {
      cancel();
      resolve(value);
    });
  });
}
