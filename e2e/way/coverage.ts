/** Which functions of a thread have run, by V8's own count. */
import type { Cdp } from "./cdp.ts";

/** A script, and where in it the functions begin that ran, in characters. */
export interface RanScript {
  readonly url: string;
  readonly offsets: readonly number[];
}

/** Of Profiler.takePreciseCoverage. */
interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly {
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
  }[];
}

export class Coverage {
  readonly #cdp: Cdp;
  readonly #sessionId: string | undefined;

  private constructor(cdp: Cdp, sessionId: string | undefined) {
    this.#cdp = cdp;
    this.#sessionId = sessionId;
  }

  /** @param sessionId as in Cdp.call. */
  static async start(cdp: Cdp, sessionId?: string): Promise<Coverage> {
    await cdp.call("Profiler.enable", {}, sessionId);
    await cdp.call("Profiler.startPreciseCoverage", { callCount: true, detailed: false }, sessionId);
    return new Coverage(cdp, sessionId);
  }

  /** What ran since the last call. */
  async take(): Promise<RanScript[]> {
    const { result } = await this.#cdp.call<{ result: readonly ScriptCoverage[] }>(
      "Profiler.takePreciseCoverage",
      {},
      this.#sessionId,
    );
    return result.map(({ url, functions }) => ({
      url,
      // What begins at 0 is the script itself, which runs when it is loaded.
      offsets: functions.flatMap(({ ranges: [whole] }) =>
        whole !== undefined && whole.count > 0 && whole.startOffset > 0 ? [whole.startOffset] : [],
      ),
    }));
  }
}
