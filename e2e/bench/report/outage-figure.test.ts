import { expect, it } from "vitest";
import type { Cell, ExperimentResult, Timeline } from "../model.ts";
import { outageFigure } from "./outage-figure.ts";

function cell(outage: number, timelines: Readonly<Record<string, Timeline | null>>): Cell {
  const series = Object.entries(timelines).map(([contestant, timeline]) => ({
    contestant,
    runs: [
      timeline === null
        ? { round: 1, values: {}, failure: { blame: "contestant" as const, message: "gone" } }
        : { round: 1, values: { ratio: 1 }, failure: null, timeline },
    ],
  }));
  return { id: `outage=${outage}`, at: { profile: "3g", outage }, floor: {}, series };
}

function experiment(cells: readonly Cell[]): ExperimentResult {
  const metrics = [{ name: "ratio", label: "ratio", unit: "", better: "lower" as const }];
  return { id: "O", title: "An outage", paper: "", metrics, headline: "ratio", cells };
}

const OURS: Timeline = {
  points: [
    [0, 0],
    [4_000, 500_000],
    [9_100, 500_000],
    [12_000, 1_000_000],
  ],
  outage: { from: 4_000, to: 9_000 },
  load: 12_000,
  reload: null,
};

it("has a panel for each cell, with whoever came through and why others were asked again", () => {
  const direct = { ...OURS, load: 20_000, reload: { at: 15_000, reason: "net::ERR_<b>" } };
  const cells = [
    cell(5, { "http/2": direct, "ropeway open": OURS }),
    cell(15, { "http/2": null, "ropeway open": OURS }),
  ];
  const figure = outageFigure(experiment(cells));
  expect(figure?.panels.map(({ title }) => title)).toEqual(
    ["5 s outage", "15 s outage"].map((text) => text.replace(" s", "\u00a0s")),
  );
  const drawings = figure?.panels.map((panel) => panel.draw(390)) ?? [];
  expect(drawings[0]?.description).toBe(
    "Loaded after the link's return: HTTP/2 11\u00a0s with a reload; Ropeway open 3\u00a0s",
  );
  expect(drawings[0]?.content.text).toContain("net::ERR_&lt;b&gt;");
  expect(drawings[1]?.description).toBe("Loaded after the link's return: Ropeway open 3\u00a0s");
  for (const { content } of drawings) expect(content.text).not.toMatch(/NaN|Infinity|undefined/);
});

it("is none where nobody came through", () => {
  expect(outageFigure(experiment([cell(5, { "http/2": null })]))).toBeNull();
});
