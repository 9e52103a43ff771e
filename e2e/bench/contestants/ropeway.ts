import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { AppPage, storeExperiment, storeSettings } from "../../fixtures/app-page.ts";
import type { Lab } from "../../lab/lab.ts";
import { ContestantError, HarnessError } from "../failure.ts";
import type { Change, Site, Visit } from "../model.ts";
import type { Authority } from "../servers/certificates.ts";
import type { Front } from "../servers/front.ts";
import type { RopewayEdge } from "../servers/ropeway-edge.ts";
import {
  channelFault,
  channelsOpened,
  pushesSince,
  readStats,
  type UsedChannels,
  usedChannels,
} from "./app-channels.ts";
import { enter, hasSpareSlot, isPageRequest, launch, shownPage } from "./app-control.ts";
import { Arrivals } from "./arrivals.ts";
import { asFailure, inTime } from "./in-time.ts";
import { type PhoneBrowser, startPhoneBrowser } from "./phone-browser.ts";
import { type AppState, experimentOf } from "./ropeway-contestant.ts";
import { type VisitOptions, watchVisit } from "./visit.ts";

export interface RopewayVisitOptions extends VisitOptions {
  readonly state: AppState;
  /** Stored as the app's setting before it starts; null and by default the app chooses by itself. */
  readonly channels?: number | null;
  readonly change?: Change | null;
  /** What is visited before, where the state is "warm": another site, of 300 KB or more. */
  readonly before?: Site;
}

export interface RopewayOptions {
  readonly lab: Lab;
  readonly authority: Authority;
  readonly edge: RopewayEdge;
  /** Directory of the run. */
  readonly directory: string;
  readonly front?: Front | undefined;
}

/** Milliseconds that a person looks at the app, or at the page before. */
const PAUSE = 2_000;
/** Milliseconds that the harness waits for what has no part in a visit; 300 KB take a minute on the slowest link. */
const PREPARE_TIMEOUT = 240_000;
const POLL = 50;
const WARM_BYTES = 300_000;

const NO_QUIC = ["--disable-quic"];

/** HTTP/3 from the first packet, as where the name's DNS record says that it may. No WebSocket goes over it. */
const FLAGS: Readonly<Record<Front, readonly string[]>> = {
  none: NO_QUIC,
  "http/2": NO_QUIC,
  "http/3": ["--enable-quic", "--origin-to-force-quic-on=*"],
};

/** Ropeway on the phone: the app installed and paired, its service worker in charge. */
export class RopewayApp {
  readonly #options: RopewayOptions;
  /** Directory of the profile that visits start from. */
  #installed: string | null = null;

  constructor(options: RopewayOptions) {
    this.#options = options;
  }

  /**
   * Starts the browser, brings the app into the state asked for, visits the page, ends the browser. Time zero is the
   * start of the navigation to the app where it was closed, and Enter on the address where it was open.
   *
   * @throws ContestantError, HarnessError as `watchVisit` does.
   */
  async visit(options: RopewayVisitOptions): Promise<Visit> {
    const { lab, edge } = this.#options;
    const profile = options.profile ?? (await mkdtemp(join(this.#options.directory, "profile-")));
    const { state } = options;
    await this.#installInto(profile);
    const isClosed = state === "cold";
    const browser = await this.#startBrowser(profile);
    try {
      const app = new AppPage(browser.page, edge.url);
      const { url } = options.site;
      const { channels = null, change = null } = options;
      await browser.page.addInitScript(storeExperiment, experimentOf({ channels, change }));
      if (change === "smaller pictures") await browser.page.addInitScript(storeSettings, { pictures: "balanced" });
      const seen: UsedChannels[] = [];
      if (!isClosed) await this.#openApp(browser, app);
      // An app that is open has been so for a while, whether it chooses their number or a setting does.
      if (!isClosed) seen.push(await this.#asked(browser, channelsOpened(browser.page, channels)));
      if (state === "warm") await this.#visitBefore(browser, app, options.before);
      const before = isClosed ? null : await this.#asked(browser, readStats(browser.page));
      const load = async () => {
        const zero = isClosed ? await launch(app, edge.url, url) : await enter(app, url);
        return { frame: await shownPage(app), zero };
      };
      const visit = await watchVisit({ ...options, lab, browser, edgePid: edge.pid, isPageRequest, load });
      const stats = await this.#asked(browser, readStats(browser.page));
      const used = usedChannels(stats);
      const fault = channelFault(channels, [...seen, used]);
      if (fault !== null) throw new ContestantError(fault);
      return { ...visit, ...used, ...pushesSince(before, stats) };
    } finally {
      await browser.close();
      if (options.profile === undefined) await rm(profile, { recursive: true, force: true });
    }
  }

  /** @throws ContestantError when the app does not answer, HarnessError when the browser is gone. */
  #asked<T>(browser: PhoneBrowser, answer: Promise<T>): Promise<T> {
    return answer.catch((error: unknown) => {
      throw asFailure(error, browser, "ask the app what it has done");
    });
  }

  #startBrowser(profile: string): Promise<PhoneBrowser> {
    const { lab, authority, directory, front = "none" } = this.#options;
    return startPhoneBrowser({ phone: lab.phone, authority, profile, directory, flags: FLAGS[front] });
  }

  /** Copies the profile in which the app is installed, unless there is one. */
  async #installInto(profile: string): Promise<void> {
    if (existsSync(join(profile, "Default"))) return;
    const installed = await this.install();
    await mkdir(profile, { recursive: true });
    await cp(installed, profile, { recursive: true });
  }

  /**
   * Installs the app once for all visits: opens it, pairs it, waits until it could open without a network. A visit
   * does so by itself, over the link as it is then.
   *
   * @returns the directory of the profile.
   * @throws ContestantError when it cannot be installed, HarnessError when the browser is gone.
   */
  async install(): Promise<string> {
    this.#installed ??= await this.#installAnew();
    return this.#installed;
  }

  async #installAnew(): Promise<string> {
    const { directory, edge } = this.#options;
    const profile = await mkdtemp(join(directory, "app-"));
    const browser = await this.#startBrowser(profile);
    try {
      const { page } = browser;
      await page.goto(`${edge.url}/#key=${edge.accessKey}`, { timeout: PREPARE_TIMEOUT });
      const isReady = async (): Promise<boolean> => {
        await navigator.serviceWorker.ready;
        return (await window.ropeway.stats()).sockets >= 1;
      };
      await waitUntil(() => page.evaluate(isReady), "pair the app");
      await waitUntil(() => hasSpareSlot(page), "prepare a slot");
      await wait(PAUSE);
      return profile;
    } catch (error) {
      throw asFailure(error, browser, "prepare the app");
    } finally {
      await browser.close();
    }
  }

  async #openApp(browser: PhoneBrowser, app: AppPage): Promise<void> {
    const { page } = browser;
    try {
      // It would open where it was left: a visit begins at the start page.
      await page.addInitScript((key) => window === top && localStorage.removeItem(key), "ropeway.history");
      await page.goto(this.#options.edge.url, { timeout: PREPARE_TIMEOUT });
      await app.address.waitFor({ timeout: PREPARE_TIMEOUT });
      await waitUntil(async () => (await app.stats()).sockets >= 1, "open the app's socket");
      await waitUntil(() => hasSpareSlot(page), "prepare a slot");
      await wait(PAUSE);
      const phase = await page.evaluate(() => document.documentElement.dataset.page);
      if (phase !== "idle") throw new Error(`Cannot begin at the start page: the app is ${phase}`);
    } catch (error) {
      throw asFailure(error, browser, "prepare the app");
    }
  }

  async #visitBefore(browser: PhoneBrowser, app: AppPage, site: Site | undefined): Promise<void> {
    if (site === undefined) throw new HarnessError("Cannot make the app warm: no site to visit before was named");
    const { lab } = this.#options;
    const before = await lab.counters();
    const arrivals = new Arrivals(app.page, isPageRequest);
    await inTime({ site, timeout: PREPARE_TIMEOUT, browser, arrivals }, async () => {
      await enter(app, site.url);
      await arrivals.settled(site.objects);
      await waitUntil(() => hasSpareSlot(app.page), "prepare the next slot");
    });
    arrivals.stop();
    await wait(PAUSE);
    const { down } = await lab.counters();
    const moved = down.bytes - before.down.bytes;
    if (moved < Math.min(WARM_BYTES, site.codedBytes)) {
      throw new HarnessError(`Cannot make the app warm: ${site.name} moved ${moved} bytes only, not ${WARM_BYTES}`);
    }
  }
}

/** @param condition may take for ever, as an app that hangs does. */
async function waitUntil(condition: () => Promise<boolean>, goal: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      isLate = true;
      reject(new ContestantError(`Cannot ${goal}: not within ${PREPARE_TIMEOUT / 1000} s`));
    }, PREPARE_TIMEOUT);
  });
  const met = async (): Promise<void> => {
    while (!isLate && !(await condition())) await wait(POLL);
  };
  try {
    await Promise.race([met(), late]);
  } finally {
    clearTimeout(timer);
  }
}
