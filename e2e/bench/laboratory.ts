/** Everything that a run of the bench needs, started together: link, origins, edge, and the contestants. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Frame } from "@playwright/test";
import { seedOf } from "../demo/random.ts";
import { EDGE_TO_ORIGINS, Lab, type LinkSettings } from "../lab/lab.ts";
import { PROFILES } from "../lab/profiles.ts";
import { type ReplayClass, type ReplayServer, startReplayServer } from "./behaviours/classes.ts";
import { DirectBrowser, type HttpVersion } from "./contestants/direct.ts";
import { RopewayApp } from "./contestants/ropeway.ts";
import { ropewayContestant } from "./contestants/ropeway-contestant.ts";
import type { VisitOptions as WatchedVisitOptions } from "./contestants/visit.ts";
import { type CellRound, HOUR, type PageVisitor, type Revisit, type VisitOptions } from "./experiments/pages.ts";
import { HarnessError } from "./failure.ts";
import { loadFloor } from "./floor.ts";
import type { CongestionControl, Contestant, Site, Visit } from "./model.ts";
import { type Caddy, startCaddy } from "./servers/caddy.ts";
import { type Authority, createAuthority } from "./servers/certificates.ts";
import type { Front } from "./servers/front.ts";
import { hostAddresses } from "./servers/host-addresses.ts";
import { EDGE_NAMES, type RopewayEdge, startRopewayEdge } from "./servers/ropeway-edge.ts";

export interface LaboratoryOptions {
  /** As they are on a first visit. */
  readonly sites: readonly Site[];
  /** The same sites as they were edited since, in the order of their edits. */
  readonly edited: readonly Site[];
  /** One of them is visited before a page where the app has to be warm: the first that fits the link. */
  readonly warmUpSites: readonly Site[];
  readonly replayClasses: readonly ReplayClass[];
  readonly seed: number;
  /** Whether the edge keeps public responses for its phones, so that a visit finds those of the visits before. */
  readonly sharesCache?: boolean;
  /** Between the phone and the edge; nothing by default. */
  readonly front?: Front;
}

/** A link with no limits, for what is not measured. */
const PREPARATION: { readonly link: LinkSettings; readonly congestion: CongestionControl } = {
  link: { ...PROFILES.lte, delay: 1, down: 0, up: 0 },
  congestion: "bbr",
};

/** Where nothing is compared. */
const ANY_ROUND: CellRound = { cell: "", round: 0 };

/** Milliseconds between the places in a trace where two rounds begin: five of them lie all over its twelve seconds. */
const TRACE_STEP = 7_417;

/** Milliseconds that a person looks at a page before the browser is closed. */
const LOOK = 2_000;

/** Milliseconds, at best. */
const LONGEST_WARM_UP = 20_000;

export class Laboratory implements PageVisitor {
  readonly lab: Lab;
  readonly #options: LaboratoryOptions;
  readonly #directory: string;
  readonly #caddy: Caddy;
  readonly #edge: RopewayEdge;
  readonly #replay: ReplayServer;
  readonly #direct: DirectBrowser;
  readonly #ropeway: RopewayApp;
  #current = { ...PREPARATION, at: ANY_ROUND };

  private constructor(
    options: LaboratoryOptions,
    directory: string,
    lab: Lab,
    authority: Authority,
    servers: { readonly caddy: Caddy; readonly edge: RopewayEdge; readonly replay: ReplayServer },
  ) {
    this.lab = lab;
    this.#options = options;
    this.#directory = directory;
    this.#caddy = servers.caddy;
    this.#edge = servers.edge;
    this.#replay = servers.replay;
    this.#direct = new DirectBrowser({ lab, authority, directory });
    this.#ropeway = new RopewayApp({ lab, authority, directory, edge: servers.edge, front: options.front });
  }

  /** @throws HarnessError or Error with what did not start; then nothing is left. */
  static async open(options: LaboratoryOptions): Promise<Laboratory> {
    const { replayClasses, seed } = options;
    const directory = await mkdtemp(join(tmpdir(), "ropeway-bench-"));
    const closing: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
    try {
      const sites = [...new Set([...options.sites, ...options.warmUpSites])];
      const replayHosts = [...new Set(replayClasses.flatMap(({ hosts }) => hosts))];
      const addresses = hostAddresses(sites, replayHosts);
      const lab = await Lab.open({ ...PREPARATION, seed, names: { ...addresses, ...EDGE_NAMES } });
      closing.push(() => lab.close());
      const authority = await createAuthority(directory);
      const { front, sharesCache = false } = options;
      const edge = await startRopewayEdge({ lab, authority, directory, sharesCache, front });
      closing.push(() => edge.close());
      const replay = await startReplayServer({
        classes: replayClasses,
        directory,
        spawn: (argv, spawning) => lab.origins.spawn(argv, spawning),
      });
      closing.push(() => replay.close());
      const caddy = await startCaddy({ lab, authority, directory, sites, addresses, proxied: replay.proxied });
      closing.push(() => caddy.close());
      const laboratory = new Laboratory(options, directory, lab, authority, { caddy, edge, replay });
      await laboratory.#ropeway.install();
      return laboratory;
    } catch (error) {
      for (const close of closing.reverse()) await close().catch(() => {});
      throw error;
    }
  }

  /**
   * The link from now on. Visits of a cell's round meet the same losses, as far as they send the same packets, and begin
   * at the same place of a trace; those of another round or cell at others, or all would be one sample of what either does.
   *
   * @param toOrigins milliseconds one way between edge and origins.
   */
  async configure(
    link: LinkSettings,
    congestion: CongestionControl,
    at: CellRound = ANY_ROUND,
    toOrigins: number = EDGE_TO_ORIGINS.delay,
  ): Promise<void> {
    this.#current = { link, congestion, at };
    const { cell, round } = at;
    const seed = seedOf(`${this.#options.seed} ${cell} ${round}`);
    await this.lab.configure({ link, congestion, seed, traceStart: round * TRACE_STEP, toOrigins });
  }

  async visit(contestant: Contestant, site: Site, options: VisitOptions): Promise<Visit> {
    const { revisit } = options;
    if (revisit === null) return this.#visit(contestant, { ...options, site });
    const profile = await mkdtemp(join(this.#directory, "kept-"));
    try {
      return await this.#visitAgain(contestant, site, { ...options, revisit, profile });
    } finally {
      await rm(profile, { recursive: true, force: true });
    }
  }

  /**
   * Visits the page that replays an application's requests, and watches it while it does.
   *
   * @param observe runs in the page; what it waits for belongs to the visit.
   */
  replay(
    contestant: Contestant,
    replayed: ReplayClass,
    timeout: number,
    observe: (page: Frame) => Promise<void>,
  ): Promise<Visit> {
    const site: Site = {
      name: replayed.name,
      url: replayed.url,
      hosts: replayed.hosts.map((name) => ({ name, root: "", cacheControl: [] })),
      // The page, its script and its plan. What it replays it counts itself.
      objects: 3,
      bytes: replayed.bytesDown,
      codedBytes: replayed.bytesDown,
      depth: 2,
    };
    return this.#visit(contestant, { site, timeout, observe });
  }

  /** Visits a page, and runs `observe` in it before the visit ends. */
  observe(
    contestant: Contestant,
    site: Site,
    timeout: number,
    observe: (page: Frame) => Promise<void>,
  ): Promise<Visit> {
    return this.#visit(contestant, { site, timeout, observe });
  }

  /** @param loadThrough see `VisitOptions` of contestants. */
  visitThrough(
    contestant: Contestant,
    site: Site,
    timeout: number,
    loadThrough: NonNullable<WatchedVisitOptions["loadThrough"]>,
  ): Promise<Visit> {
    return this.#visit(contestant, { site, timeout, loadThrough });
  }

  /**
   * Visits a page again and again over the link as it is, hour after hour, with one profile.
   *
   * @param hours of the visits; at each but the first its site has been edited once more.
   * @returns the visits after the first.
   */
  async visitHourly(contestant: Contestant, site: Site, hours: number, timeout: number): Promise<Visit[]> {
    const profile = await mkdtemp(join(this.#directory, "kept-"));
    const versions = [site, ...this.#options.edited.filter(({ name }) => name === site.name)].slice(0, hours);
    const visits: Visit[] = [];
    try {
      for (const [hour, page] of versions.entries()) {
        await this.#caddy.setClock(new Date(Date.now() - HOUR * (versions.length - 1 - hour)));
        await this.#caddy.setSites(this.#sitesWith(page));
        const visit = { site: page, timeout, profile, isRevisit: hour > 0, observe: () => wait(LOOK) };
        visits.push(await this.#visit(contestant, visit, hour === 0));
      }
      return visits.slice(1);
    } finally {
      await this.#caddy.setClock(null);
      await this.#caddy.setSites(this.#sitesWith(site));
      await rm(profile, { recursive: true, force: true });
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#caddy.close(), this.#edge.close(), this.#replay.close()]);
    await this.lab.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** What a browser got under a former clock is so old in its cache. */
  async #visitAgain(
    contestant: Contestant,
    site: Site,
    options: VisitOptions & { readonly revisit: Revisit; readonly profile: string },
  ): Promise<Visit> {
    const { after, to } = options.revisit;
    const [next, ...before] = this.#pagesOf(site, to).toReversed();
    if (next === undefined || before.length === 0)
      throw new HarnessError(`Cannot visit ${site.name} again: it has no ${to} page`);
    const { link, congestion, at } = this.#current;
    try {
      await this.lab.configure(PREPARATION);
      const { watcher: _, ...unwatched } = options;
      const observe = () => wait(LOOK);
      for (const [index, page] of [...before.entries()].toReversed()) {
        await this.#caddy.setClock(new Date(Date.now() - after * (index + 1)));
        await this.#caddy.setSites(this.#sitesWith(page));
        await this.#visit(contestant, { ...unwatched, site: page, observe }, true);
      }
      await this.#caddy.setClock(null);
      await this.#caddy.setSites(this.#sitesWith(next));
      await this.configure(link, congestion, at);
      return await this.#visit(contestant, { ...options, site: next, isRevisit: true });
    } finally {
      await this.#caddy.setClock(null);
      await this.#caddy.setSites(this.#sitesWith(site));
    }
  }

  /** What is visited one after the other. */
  #pagesOf(site: Site, to: Revisit["to"]): readonly Site[] {
    if (to === "same") return [site, site];
    return [site, ...this.#options.edited.filter(({ name }) => name === site.name).slice(0, 1)];
  }

  #sitesWith(current: Site): Site[] {
    const sites = [...new Set([...this.#options.sites, ...this.#options.warmUpSites])];
    return sites.map((site) => (site.name === current.name ? current : site));
  }

  /** @param isFirst of two: what makes an app warm is not to be stored when that has to move again. */
  async #visit(contestant: Contestant, options: WatchedVisitOptions, isFirst = false): Promise<Visit> {
    const ropeway = ropewayContestant(contestant);
    await this.#caddy.setShort(contestant === "http/1.0");
    if (ropeway === null) return this.#direct.visit(contestant as HttpVersion, options);
    const state = isFirst && ropeway.state === "warm" ? "open" : ropeway.state;
    return this.#ropeway.visit({ ...options, ...ropeway, state, before: this.#warmUpSite(options.site) });
  }

  /** Another site than the one that is measured, which does not take for ever on this link. */
  #warmUpSite(site: Site): Site {
    const { link } = this.#current;
    const others = this.#options.warmUpSites.filter(({ name }) => name !== site.name);
    const before = others.find(({ codedBytes }) => loadFloor(link, codedBytes) < LONGEST_WARM_UP) ?? others.at(-1);
    if (before === undefined) throw new HarnessError("Cannot make the app warm: there is no other site");
    return before;
  }
}
