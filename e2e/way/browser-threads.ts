/** The workers of a running browser that a page's request passes. */
import { setTimeout as sleep } from "node:timers/promises";
import { Cdp } from "./cdp.ts";

interface TargetInfo {
  readonly targetId: string;
  readonly type: string;
  readonly url: string;
}

const ATTEMPTS = 100;
/** Milliseconds. */
const PAUSE = 50;

export class BrowserThreads {
  readonly #cdp: Cdp;

  private constructor(cdp: Cdp) {
    this.#cdp = cdp;
  }

  /** @param port on which it was told to be debugged. */
  static async open(port: number): Promise<BrowserThreads> {
    const version = await fetch(`http://127.0.0.1:${port}/json/version`);
    const { webSocketDebuggerUrl } = (await version.json()) as { webSocketDebuggerUrl: string };
    return new BrowserThreads(await Cdp.open(webSocketDebuggerUrl));
  }

  get cdp(): Cdp {
    return this.#cdp;
  }

  /** @returns the session of the one worker of that type and address, waited for. */
  async attach(type: "worker" | "service_worker", url: string): Promise<string> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const { targetInfos } = await this.#cdp.call<{ targetInfos: readonly TargetInfo[] }>("Target.getTargets", {
        filter: [{}],
      });
      const target = targetInfos.find((each) => each.type === type && each.url.startsWith(url));
      if (target !== undefined) {
        const attached = await this.#cdp.call<{ sessionId: string }>("Target.attachToTarget", {
          targetId: target.targetId,
          flatten: true,
        });
        return attached.sessionId;
      }
      await sleep(PAUSE);
    }
    throw new Error(`Cannot inspect: the browser has no ${type} at ${url}`);
  }
}
