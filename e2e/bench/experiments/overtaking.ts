/** Experiment F: what a person waits for overtakes what is large, and what is given up leaves the link (issue 4, flow). */
import { setTimeout as wait } from "node:timers/promises";
import type { Frame } from "@playwright/test";
import type { LinkSettings } from "../../lab/lab.ts";
import { ContestantError } from "../failure.ts";
import { loadFloor } from "../floor.ts";
import type { Laboratory } from "../laboratory.ts";
import { CONTESTANTS, type CongestionControl, type Contestant, type Metric, type Site } from "../model.ts";
import { needsQuiet, type Outcome, type PlannedCell, type PlannedExperiment } from "../schedule.ts";
import { abortDownload, askForStyle, downloadState, startDownload } from "./overtaking-page.ts";
import { DOWNLOAD_PATH, STYLE_BYTES, stylePath } from "./overtaking-site.ts";
import { countStaleBytes } from "./stale-bytes.ts";

export interface OvertakingGrid {
  /** Milliseconds one way. */
  readonly delays: readonly number[];
  readonly congestion: readonly CongestionControl[];
  /** Seconds that the download has been going on when a stylesheet is asked for, rising; three at most. */
  readonly waits: readonly number[];
}

export const OVERTAKING_GRID: OvertakingGrid = { delays: [50, 300], congestion: ["bbr", "cubic"], waits: [3, 8, 15] };

/** The app is open: pages are in the middle of a sitting. */
const CONTESTED = CONTESTANTS.filter((name) => name !== "ropeway cold" && name !== "ropeway warm");

/** Kilobits per second. */
const RATE = 1_000;

/** The bounds: times the time on the idle link, beside a round trip; times the bandwidth-delay product. */
const IDLE_FACTOR = 1.5;

/** Milliseconds after which a link is idle again and connections have settled. */
const PAUSE = 2_000;
/** Milliseconds that the download goes on after the last stylesheet. */
const LAST_PAUSE = 3_000;
const TIMEOUT = 240_000;

/** Queues hold two seconds, as cellular ones often do. @param delay milliseconds one way. */
export function megabitLink(delay: number): LinkSettings {
  return { delay, down: RATE, up: RATE, downQueue: 2 * (RATE / 8), upQueue: 2 * (RATE / 8), loss: 0 };
}

export function overtakingExperiment(laboratory: Laboratory, site: Site, grid: OvertakingGrid): PlannedExperiment {
  const cells = grid.delays.flatMap((delay) => grid.congestion.map((congestion) => ({ delay, congestion })));
  return {
    id: "F",
    title: "A stylesheet under a download of 20 MB at 1 Mbit/s",
    paper:
      "None; the goals are ours: 1.5 times the time on the idle link plus a round trip, and 1.2 products of bandwidth and delay that are stale after an abort.",
    metrics: metricsOf(grid.waits),
    headline: "overtaking",
    cells: cells.map(({ delay, congestion }): PlannedCell => {
      const link = megabitLink(delay);
      const floor = loadFloor(link, STYLE_BYTES);
      const id = `delay=${delay} cc=${congestion}`;
      return {
        id,
        at: { delay, congestion },
        floor: Object.fromEntries(["idle", ...grid.waits.map(loadedName)].map((name) => [name, floor])),
        congestion,
        needsQuiet: needsQuiet(link),
        prepare: (round) => laboratory.configure(link, congestion, { cell: id, round }),
        series: CONTESTED.map((contestant) => ({
          contestant,
          estimate: 25 + (grid.waits.at(-1) ?? 0),
          run: () => overtake(laboratory, contestant, site, link, grid.waits),
        })),
      };
    }),
  };
}

function loadedName(seconds: number): string {
  return `after${seconds}`;
}

function metricsOf(waits: readonly number[]): Metric[] {
  return [
    { name: "overtaking", label: "time under load / (1.5 × idle + RTT), worst", unit: "", better: "lower" },
    { name: "idle", label: "idle link", unit: "ms", better: "lower" },
    ...waits.map((seconds): Metric => {
      return { name: loadedName(seconds), label: `${seconds} s into the download`, unit: "ms", better: "lower" };
    }),
    { name: "staleProducts", label: "stale bytes / bandwidth-delay product", unit: "", better: "lower" },
    { name: "stale", label: "stale bytes", unit: "B", better: "lower" },
    { name: "downloadRate", label: "the download", unit: "kbit/s", better: "higher" },
  ];
}

async function overtake(
  laboratory: Laboratory,
  contestant: Contestant,
  site: Site,
  link: LinkSettings,
  waits: readonly number[],
): Promise<Outcome> {
  const roundTrip = 2 * link.delay;
  const values: Record<string, number> = {};
  await laboratory.observe(contestant, site, TIMEOUT, async (frame) => {
    await wait(PAUSE);
    const idle = await askForStyle(frame, stylePath(0));
    values.idle = idle;
    await wait(PAUSE);
    const start = Date.now();
    await startDownload(frame, DOWNLOAD_PATH);
    let worst = 0;
    for (const [index, seconds] of waits.entries()) {
      await wait(Math.max(0, start + 1000 * seconds - Date.now()));
      await assertGoingOn(frame);
      const time = await askForStyle(frame, stylePath(index + 1));
      values[loadedName(seconds)] = time;
      worst = Math.max(worst, time / (IDLE_FACTOR * idle + roundTrip));
    }
    values.overtaking = worst;
    await wait(LAST_PAUSE);
    const { bytes, at } = await assertGoingOn(frame);
    values.downloadRate = (8 * bytes) / (at - start);
    const stale = await countStaleBytes(
      () => laboratory.lab.counters(),
      roundTrip,
      () => abortDownload(frame),
    );
    values.stale = stale;
    values.staleProducts = stale / ((link.down / 8) * roundTrip);
  });
  return { values };
}

async function assertGoingOn(frame: Frame): Promise<{ readonly bytes: number; readonly at: number }> {
  const { ended, ...state } = await downloadState(frame);
  if (ended !== null) throw new ContestantError(`Cannot go on with the download: ${ended}`);
  return state;
}
