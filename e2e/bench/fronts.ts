/** What a proxy in front of the edge does to how the app starts. */
import { join } from "node:path";
import { dist } from "../../scripts/build/paths.ts";
import { seededRandom } from "../demo/random.ts";
import { PROFILES, type ProfileName } from "../lab/profiles.ts";
import { ContestantError } from "./failure.ts";
import { Laboratory } from "./laboratory.ts";
import type { Site } from "./model.ts";
import { needsQuiet, shuffled } from "./schedule.ts";
import { FRONTS, type Front } from "./servers/front.ts";
import { GPRSWEB_SITES, makeSite } from "./sites/make-sites.ts";
import { summarize } from "./statistics.ts";

/** "new": the phone has never seen the app. "closed": it is installed there. */
interface Start {
  readonly app: "new" | "closed";
  readonly link: ProfileName;
  readonly site: Site;
  readonly fronts: readonly Front[];
}

/** Milliseconds. */
const TIMEOUT = 300_000;

/** HTTP/3 fails on D's link before it begins (BENCHMARKS.md). */
const FRONTS_OF_D: readonly Front[] = ["none", "http/2"];

const SITES_DIRECTORY = join(dist, "bench", "sites");

/**
 * @param tell what was measured, a line each.
 * @returns a Markdown table of medians and quartiles of the load, in seconds. A visit that fails is told, and counts for nothing.
 */
export async function compareFronts(rounds: number, tell: (line: string) => void): Promise<string> {
  const sites: Site[] = [];
  for (const name of GPRSWEB_SITES) sites.push(await makeSite(SITES_DIRECTORY, name, 0));
  const starts = startsOf(sites);
  const laboratories = new Map<Front, Laboratory>();
  const loads = new Map<string, number[]>();
  const random = seededRandom(1);
  try {
    for (const front of FRONTS) {
      laboratories.set(
        front,
        await Laboratory.open({ sites, edited: [], warmUpSites: sites, replayClasses: [], seed: 1, front }),
      );
    }
    for (let round = 0; round < rounds; round++) {
      for (const start of starts) {
        const visit = async (front: Front): Promise<void> => {
          const laboratory = laboratories.get(front);
          if (laboratory === undefined) return;
          const name = cellOf(start, front);
          const load = await measure(laboratory, start, round).catch((error: unknown) => {
            if (!(error instanceof ContestantError)) throw error;
            tell(`${round + 1}/${rounds} ${name}: ${error.message}`);
            return null;
          });
          if (load === null) return;
          tell(`${round + 1}/${rounds} ${name}: ${Math.round(load)} ms`);
          loads.set(name, [...(loads.get(name) ?? []), load]);
        };
        const fronts = shuffled(start.fronts, random);
        if (!needsQuiet(PROFILES[start.link])) await Promise.all(fronts.map(visit));
        else for (const front of fronts) await visit(front);
      }
    }
  } finally {
    await Promise.allSettled([...laboratories.values()].map((laboratory) => laboratory.close()));
  }
  return table(starts, loads);
}

function startsOf(sites: readonly Site[]): Start[] {
  const [small] = sites;
  if (small === undefined) throw new Error("Cannot compare: there is no site");
  const links = ["lte", "3g", "sat"] as const;
  return [
    ...links.flatMap((link) => (["new", "closed"] as const).map((app) => ({ app, link, site: small, fronts: FRONTS }))),
    ...sites.map((site) => ({ app: "closed", link: "gprs", site, fronts: FRONTS_OF_D }) as const),
  ];
}

async function measure(laboratory: Laboratory, { app, link, site }: Start, round: number): Promise<number> {
  await laboratory.configure(PROFILES[link], "bbr", { cell: `${app} ${link} ${site.name}`, round });
  const { load } =
    app === "new"
      ? await laboratory.firstStart(site, TIMEOUT)
      : await laboratory.visit("ropeway cold", site, { filmstrip: false, timeout: TIMEOUT, revisit: null });
  return load;
}

function cellOf({ app, link, site }: Start, front: Front): string {
  return `${app} ${link} ${site.name}, ${front}`;
}

function table(starts: readonly Start[], loads: ReadonlyMap<string, readonly number[]>): string {
  const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(2);
  const figure = (start: Start, front: Front): string => {
    const sample = loads.get(cellOf(start, front));
    if (sample === undefined) return "–";
    const { lowerQuartile, median, upperQuartile } = summarize(sample);
    return `${seconds(median)} s (${seconds(lowerQuartile)} to ${seconds(upperQuartile)})`;
  };
  return [
    `| link, page, app | ${FRONTS.join(" | ")} |`,
    `| --- |${" ---: |".repeat(FRONTS.length)}`,
    ...starts.map(
      (start) =>
        `| ${start.link}, ${start.site.name}, ${start.app} | ${FRONTS.map((front) => figure(start, front)).join(" | ")} |`,
    ),
  ].join("\n");
}
