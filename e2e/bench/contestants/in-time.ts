import { ContestantError, HarnessError } from "../failure.ts";
import type { Site } from "../model.ts";
import type { Arrivals } from "./arrivals.ts";
import type { PhoneBrowser } from "./phone-browser.ts";

export interface LoadLimit {
  readonly site: Site;
  /** Milliseconds. */
  readonly timeout: number;
  readonly browser: PhoneBrowser;
  /** What has come so far, for the error message. */
  readonly arrivals: Arrivals;
}

/**
 * Waits for a page to load. Whatever goes wrong is the contestant's fault, unless the browser is gone.
 *
 * @throws ContestantError, HarnessError
 */
export async function inTime<T>(limit: LoadLimit, work: () => Promise<T>): Promise<T> {
  const { site, timeout, browser, arrivals } = limit;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const seconds = Math.round(timeout / 1000);
      const progress = `${arrivals.whole} of ${site.objects} objects after ${seconds} s; ${arrivals.failures}`;
      reject(new ContestantError(`Cannot load ${site.url} in time: ${progress}`));
    }, timeout);
  });
  try {
    return await Promise.race([work(), late]);
  } catch (error) {
    throw asFailure(error, browser, `load ${site.url}`);
  } finally {
    clearTimeout(timer);
  }
}

/** @param goal what could not be done. */
export function asFailure(error: unknown, browser: PhoneBrowser, goal: string): Error {
  if (error instanceof ContestantError || error instanceof HarnessError) return error;
  const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
  if (browser.context.browser()?.isConnected() === true) return new ContestantError(`Cannot ${goal}: ${reason}`);
  return new HarnessError(`Cannot ${goal}: the browser is gone: ${reason}`);
}
