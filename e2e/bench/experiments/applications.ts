/** Experiment C: application classes, replayed (Dong, Shuang, Cai, Wang, Li: HTTP/2-Advance). */
import { paperC } from "../../lab/profiles.ts";
import { type ReplayClass, readReplay, replayReady, startReplay } from "../behaviours/classes.ts";
import { applicationThroughput, applicationTraffic } from "../behaviours/replay/replay-outcome.ts";
import { replayFloor } from "../behaviours/replay/replay-plan.ts";
import { needsQuiet, type Outcome, type PlannedCell, type PlannedExperiment } from "../execute.ts";
import { ContestantError } from "../failure.ts";
import type { Laboratory } from "../laboratory.ts";
import { type CongestionControl, type Contestant, DIRECT } from "../model.ts";

export interface ApplicationGrid {
  readonly classes: readonly ReplayClass[];
  /** Milliseconds one way. */
  readonly delays: readonly number[];
  /** Percent each way. */
  readonly losses: readonly number[];
  readonly congestion: readonly CongestionControl[];
}

/** The paper's links; it says nothing of congestion control. */
export const PAPER_GRID = { delays: [0, 100, 300], losses: [0, 2], congestion: ["bbr", "cubic"] } as const;

/** The app is open, with its own and with fixed numbers of channels: an application is used in the middle of a sitting. */
const CONTESTED = [
  ...DIRECT,
  "ropeway open",
  "ropeway open 1 channel",
  "ropeway open 3 channels",
  "ropeway open 5 channels",
] as const satisfies readonly Contestant[];

/** How many times the floor a replay may take. */
const PATIENCE = 12;

export function applicationExperiment(laboratory: Laboratory, grid: ApplicationGrid): PlannedExperiment {
  const cells = grid.classes.flatMap((replayed) =>
    grid.delays.flatMap((delay) =>
      grid.losses.flatMap((loss) => grid.congestion.map((congestion) => ({ replayed, delay, loss, congestion }))),
    ),
  );
  return {
    id: "C",
    title: "Application classes, replayed",
    metrics: [
      { name: "applicationLatency", label: "L_app", unit: "ms", better: "lower" },
      { name: "waiting", label: "waiting for answers", unit: "ms", better: "lower" },
      { name: "applicationThroughput", label: "TP_app", unit: "kbit/s", better: "higher" },
      { name: "linkBytes", label: "bytes on the link", unit: "B", better: "lower" },
      { name: "connections", label: "connections", unit: "", better: "lower" },
      { name: "channels", label: "channels", unit: "", better: "lower" },
      { name: "browserCpu", label: "CPU of the browser", unit: "s", better: "lower" },
      { name: "edgeCpu", label: "CPU of the edge", unit: "s", better: "lower" },
    ],
    headline: "applicationLatency",
    cells: cells.map(({ replayed, delay, loss, congestion }): PlannedCell => {
      const link = paperC(delay, loss);
      const floor = replayFloor(replayed.plan, link);
      const id = `class=${replayed.name} delay=${delay} loss=${loss} cc=${congestion}`;
      return {
        id,
        at: { class: replayed.name, delay, loss, congestion },
        floor: { applicationLatency: floor, linkBytes: replayed.bytesDown },
        congestion,
        link,
        needsQuiet: needsQuiet(link),
        prepare: (round) => laboratory.configure(link, congestion, { cell: id, round }),
        series: CONTESTED.map((contestant) => ({
          contestant,
          estimate: 5 + (1.5 * floor) / 1000,
          run: () => replay(laboratory, contestant, replayed, PATIENCE * floor + 60_000),
        })),
      };
    }),
  };
}

async function replay(
  laboratory: Laboratory,
  contestant: Contestant,
  replayed: ReplayClass,
  timeout: number,
): Promise<Outcome> {
  let values: Record<string, number> = {};
  const visit = await laboratory.replay(contestant, replayed, timeout, async (page) => {
    await replayReady(page, timeout);
    const before = await laboratory.lab.counters();
    await startReplay(page);
    const outcome = await readReplay(page, timeout);
    const after = await laboratory.lab.counters();
    const failed = outcome.requests.find(({ failure }) => failure !== null);
    if (failed !== undefined || outcome.applicationLatency === null) {
      throw new ContestantError(`Cannot replay ${replayed.name}: ${failed?.method} ${failed?.url}: ${failed?.failure}`);
    }
    const traffic = applicationTraffic(before, after, contestant === "http/3" ? "quic" : "tcp");
    values = {
      applicationLatency: outcome.applicationLatency,
      waiting: outcome.waiting,
      applicationThroughput: applicationThroughput(traffic, outcome.applicationLatency),
      linkBytes: traffic.linkBytes,
      // Those that the page itself needed are the application's too.
    };
  });
  const { connections, browserCpu, edgeCpu, channels, socketsOpened } = visit;
  const measured = Object.entries({ connections, browserCpu, edgeCpu, channels, socketsOpened }).filter(
    (entry): entry is [string, number] => typeof entry[1] === "number",
  );
  return { values: { ...values, ...Object.fromEntries(measured) } };
}
