/** One experiment of the report: what it found, its plots, its numbers. */
import type { ExperimentResult } from "../../model.ts";
import { headlineMetric, measuredMetrics, partsOf } from "../analysis.ts";
import {
  barFigure,
  costFigures,
  distributionFigure,
  type Figure,
  filmstripFigure,
  isPartOfStack,
  lineFigures,
  PANEL_WIDTH,
  type Panel,
} from "../figures.ts";
import { type Markup, markup } from "../markup.ts";
import { outageFigure } from "../outage-figure.ts";
import { inlineSvg, legendDrawing } from "../plot/drawing.ts";
import { behindSentence, headlineOf, runsSentence } from "./headline.ts";
import { failureTable, ratioTable, rawTables } from "./numbers-section.ts";
import { disclosure } from "./table.ts";

/** More panels than this are folded away. */
const MANY_PANELS = 8;

export function experimentSection(experiment: ExperimentResult, seed: number): Markup {
  const { id, title, paper } = experiment;
  return markup`<section class="experiment" id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title"><span class="id">${id}</span> ${title}</h2>
<p class="lead">${headlineOf(experiment, seed).sentence}</p>
<p>${behindSentence(experiment, seed)} ${runsSentence(experiment.cells)}</p>
<p class="paper"><strong>The paper:</strong> ${paper}</p>
${partsOf(experiment).map((part) => partMarkup(part, seed))}
${failureTable(experiment)}
${partsOf(experiment).map((part, _, parts) => rawTables(part, parts.length > 1 ? ` (${headlineMetric(part).label})` : ""))}
</section>
`;
}

function partMarkup(part: ExperimentResult, seed: number): Markup {
  const lines = lineFigures(part);
  const distribution = distributionFigure(part);
  const film = filmstripFigure(part);
  const outages = outageFigure(part);
  return markup`${lines.map((figure) => figureMarkup(figure))}
${barFigureMarkup(barFigure(part, headlineMetric(part)), lines.length > 0)}
${ratioTable(part, seed)}
${distribution && figureMarkup(distribution)}
${outages && figureMarkup(outages)}
${film && filmstripMarkup(film)}
${costFigures(part).map((figure) => foldedFigure(figure, figure.panels.length <= MANY_PANELS))}
${otherFigures(part).map((figure) => foldedFigure(figure, false))}`;
}

/** Of what stands in no other figure: everything where one plot shows it, else only what has the headline's unit. */
function otherFigures(part: ExperimentResult): Figure[] {
  const headline = headlineMetric(part);
  const others = measuredMetrics(part).filter(
    (metric) => metric.name !== headline.name && metric.better === "lower" && !isPartOfStack(metric),
  );
  return others.flatMap((metric) => {
    const [lines] = lineFigures(part, metric);
    return lines ?? (metric.unit === headline.unit ? barFigure(part, metric) : []);
  });
}

/** Bars stand open where they are the main plot; of many, the first section does. */
function barFigureMarkup(figure: Figure, linesShowIt: boolean): Markup {
  if (linesShowIt) return foldedFigure({ ...figure, title: `${figure.title}, cell by cell` }, false);
  if (figure.panels.length <= MANY_PANELS) return figureMarkup(figure);
  return markup`<h3>${figure.title}</h3><p class="note">${figure.note}</p>${sections(figure).map(
    ([name, panels], index) => disclosure(name === "" ? "Every cell" : name, panelGrid(panels), index === 0),
  )}`;
}

function figureMarkup(figure: Figure): Markup {
  return markup`<figure><figcaption><h3>${figure.title}</h3><p class="note">${figure.note}</p></figcaption>${figureBody(figure)}</figure>`;
}

function foldedFigure(figure: Figure, open: boolean): Markup {
  return disclosure(figure.title, markup`<p class="note">${figure.note}</p>${figureBody(figure)}`, open);
}

function figureBody(figure: Figure): Markup {
  const legend =
    figure.legend.length > 0 &&
    markup`<div class="legend">${responsive((width) => legendDrawing(figure.legend, width), 800)}</div>`;
  return markup`${legend}${sections(figure).map(([name, panels]) => markup`${name !== "" && markup`<h4>${name}</h4>`}${panelGrid(panels)}`)}`;
}

function sections({ panels }: Figure): [string, Panel[]][] {
  return [...Map.groupBy(panels, ({ section }) => section)];
}

function panelGrid(panels: readonly Panel[]): Markup {
  return markup`<div class="panels">${panels.map(
    (panel) =>
      markup`<div class="panel${panel.widest > PANEL_WIDTH ? " whole" : ""}">${panel.title !== "" && markup`<h5>${panel.title}</h5>`}${responsive((width) => panel.draw(width), panel.widest)}</div>`,
  )}</div>`;
}

/** The plot for wide screens and, where it has room to be wide, another for phones; the style shows one of them. */
export function responsive(draw: (width: number) => Parameters<typeof inlineSvg>[0], widest: number): Markup {
  const narrow = inlineSvg(draw(Math.min(widest, PANEL_WIDTH)));
  if (widest <= PANEL_WIDTH) return narrow;
  return markup`<div class="wide">${inlineSvg(draw(widest))}</div><div class="narrow">${narrow}</div>`;
}

/** Too wide for phones whatever is done; each scrolls by itself. */
function filmstripMarkup(figure: Figure): Markup {
  return markup`<h3>${figure.title}</h3><p class="note">${figure.note}</p>${figure.panels.map((panel, index) =>
    disclosure(
      panel.title,
      markup`<div class="scroll film" tabindex="0" role="region" aria-label="${`Filmstrips: ${panel.title}`}">${inlineSvg(panel.draw(panel.widest))}</div>`,
      index === figure.panels.length - 1,
    ),
  )}`;
}
