import { describe, expect, it } from "vitest";
import type { LinkSettings } from "../../lab/lab.ts";
import type { Site, Visit } from "../model.ts";
import { LOSS_GRID, lossExperiment } from "./loss.ts";
import type { CellRound } from "./page-visits.ts";

const SITE: Site = {
  name: "median-mobile",
  url: "https://median.test/",
  hosts: [],
  objects: 66,
  bytes: 2_300_000,
  codedBytes: 1_900_000,
  depth: 3,
};

const VISIT: Visit = {
  firstContentfulPaint: 1000,
  largestContentfulPaint: null,
  speedIndex: null,
  load: 5000,
  complete: 5000,
  bytesUp: 60_000,
  bytesDown: 2_000_000,
  packetsUp: 1000,
  packetsDown: 1500,
  drops: 50,
  connections: 3,
  browserCpu: 2,
  edgeCpu: 1,
  channels: 3,
  socketsOpened: 4,
  objects: 66,
  filmstrip: [],
};

describe("experiment L", () => {
  const links: LinkSettings[] = [];
  const rounds: CellRound[] = [];
  const experiment = lossExperiment(
    {
      configure: async (link, _, at) => {
        links.push(link);
        rounds.push(at);
      },
      visit: async () => VISIT,
    },
    SITE,
    LOSS_GRID,
  );

  it("loses 2 % each way at both delays with both congestion controls, for all with and without fixed channels", async () => {
    expect(experiment.cells.map(({ at }) => at)).toEqual([
      { page: "median-mobile", delay: 100, loss: 2, congestion: "bbr" },
      { page: "median-mobile", delay: 100, loss: 2, congestion: "cubic" },
      { page: "median-mobile", delay: 300, loss: 2, congestion: "bbr" },
      { page: "median-mobile", delay: 300, loss: 2, congestion: "cubic" },
    ]);
    for (const cell of experiment.cells) {
      await cell.prepare(3);
      expect(cell.series.map(({ contestant }) => contestant)).toEqual(LOSS_GRID.contestants);
    }
    // Each has losses of its own.
    expect(rounds).toEqual(experiment.cells.map(({ id }) => ({ cell: id, round: 3 })));
    expect(links).toMatchObject([100, 100, 300, 300].map((delay) => ({ delay, loss: 2, down: 20_000, up: 20_000 })));
  });

  it("records the channels that the app says it had", async () => {
    const outcome = await experiment.cells[0]?.series[3]?.run(0);
    expect(outcome?.values).toMatchObject({ load: 5000, channels: 3, socketsOpened: 4 });
    expect(Object.keys(outcome?.values ?? {})).not.toContain("largestContentfulPaint");
  });
});
