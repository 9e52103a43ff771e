import { constants } from "node:os";

/**
 * Makes a signal end the process with the code that a shell gives it, after its `exit` listeners, which remove the lab.
 * To be called first: Playwright listens too, and on SIGTERM it closes browsers without an end of the process, so that a
 * bench without browsers and link would go on and count each run as failed.
 */
export function endOnSignals(): void {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(name, () => process.exit(128 + constants.signals[name]));
  }
}
