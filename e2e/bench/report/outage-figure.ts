/** An outage as each contestant lived through it, side by side. */
import type { ExperimentResult } from "../model.ts";
import { contestantsOf, headlineMetric } from "./analysis.ts";
import { looksOf } from "./contestant-look.ts";
import { type Figure, PANEL_WIDTH } from "./figures.ts";
import { cellLabel, gridOf } from "./grid.ts";
import { timelineDrawing } from "./plot/timeline-drawing.ts";

const HEIGHT = 270;

/** Null where no run has a timeline. */
export function outageFigure(experiment: ExperimentResult): Figure | null {
  const grid = gridOf(experiment.cells);
  const metric = headlineMetric(experiment);
  const looks = looksOf(contestantsOf(experiment));
  const panels = experiment.cells.flatMap((cell) => {
    const draw = (width: number) => timelineDrawing({ cell, metric, looks, width, height: HEIGHT });
    if (draw(PANEL_WIDTH) === null) return [];
    const title = cellLabel(cell, grid);
    return [{ title, section: "", widest: PANEL_WIDTH, draw: (width: number) => draw(width) ?? missing(title) }];
  });
  if (panels.length === 0) return null;
  return {
    name: "timelines",
    title: "What comes, and when",
    note: "The run in the middle of each contestant: bytes on the link towards the phone, from the asking to load, which the marker shows. Shaded: no link. ↻: the person reloads, because the page has failed or hangs.",
    legend: [...looks.values()].map((look) => ({ label: look.label, look })),
    panels,
  };
}

function missing(title: string): never {
  throw new Error(`Cannot draw the timelines of ${title}: there are none`);
}
