/** Calls back after `ms`; the result stops it. */
export type StartTimer = (ms: number, callback: () => void) => () => void;

/** By the platform's `setTimeout`, which workerd, Deno and Node have. */
export const startPlatformTimer: StartTimer = (ms, callback) => {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
};
