import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Lab } from "../../lab/lab.ts";
import { ContestantError } from "../failure.ts";
import type { DIRECT, Site, Visit } from "../model.ts";
import type { Authority } from "../servers/certificates.ts";
import { startPhoneBrowser } from "./phone-browser.ts";
import { type VisitOptions, watchVisit } from "./visit.ts";

export type HttpVersion = (typeof DIRECT)[number];

/** As the browser names the protocol of an exchange (`nextHopProtocol`). */
const PROTOCOL: Readonly<Record<HttpVersion, string>> = {
  "http/1.0": "http/1.1",
  "http/1.1": "http/1.1",
  "http/2": "h2",
  "http/3": "h3",
};

export interface DirectOptions {
  readonly lab: Lab;
  readonly authority: Authority;
  /** Directory of the run. */
  readonly directory: string;
}

/** The browser by itself: what a person would use instead of Ropeway. */
export class DirectBrowser {
  readonly #options: DirectOptions;

  constructor(options: DirectOptions) {
    this.#options = options;
  }

  /**
   * Starts the browser, visits the page, ends the browser. Time zero is the start of the navigation.
   *
   * @throws ContestantError, HarnessError as `watchVisit` does; also when another protocol was used than asked for.
   */
  async visit(version: HttpVersion, options: VisitOptions): Promise<Visit> {
    const { lab, authority, directory } = this.#options;
    const profile = options.profile ?? (await mkdtemp(join(directory, "profile-")));
    const flags = protocolFlags(version, options.site);
    const browser = await startPhoneBrowser({ phone: lab.phone, authority, profile, directory, flags });
    try {
      const { page } = browser;
      const load = async () => {
        await page.goto(options.site.url, { waitUntil: "load", timeout: 0 });
        const { zero, protocols } = await page.evaluate(() => {
          const timings = ["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type));
          const protocols = timings.map((timing) => (timing as PerformanceResourceTiming).nextHopProtocol);
          return { zero: performance.timeOrigin, protocols: [...new Set(protocols)] };
        });
        // Other origins' and cached answers have none.
        const others = protocols.filter((protocol) => protocol !== "" && protocol !== PROTOCOL[version]);
        if (others.length > 0)
          throw new ContestantError(`Cannot use ${version}: the browser used ${others.join(", ")}`);
        return { frame: page.mainFrame(), zero };
      };
      return await watchVisit({ ...options, lab, browser, edgePid: null, load });
    } finally {
      await browser.close();
      if (options.profile === undefined) await rm(profile, { recursive: true, force: true });
    }
  }
}

/** HTTP/3 is used from the first packet, as if every origin's DNS record said that it may: at its best. */
function protocolFlags(version: HttpVersion, { hosts }: Site): string[] {
  if (version === "http/1.0" || version === "http/1.1") return ["--disable-http2", "--disable-quic"];
  if (version === "http/2") return ["--disable-quic"];
  return ["--enable-quic", `--origin-to-force-quic-on=${hosts.map(({ name }) => `${name}:443`).join(",")}`];
}
