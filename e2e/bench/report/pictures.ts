/** The report's plots as SVG files, for README and BENCHMARKS.md. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BenchResult, ExperimentResult } from "../model.ts";
import { headlineMetric, partsOf } from "./analysis.ts";
import {
  barFigure,
  costFigures,
  distributionFigure,
  type Figure,
  filmstripFigure,
  lineFigures,
  PANEL_WIDTH,
  ratioGroups,
} from "./figures.ts";
import { type Markup, markup } from "./markup.ts";
import { outageFigure } from "./outage-figure.ts";
import { arrange, type Drawing, legendDrawing, textAt } from "./plot/drawing.ts";
import { ratioDrawing } from "./plot/ratio-drawing.ts";
import { pictureStyle } from "./theme.ts";

const WIDTH = 860;
const COLUMNS = 2;
const MARGIN = 20;

interface Picture {
  readonly file: string;
  readonly svg: string;
}

/**
 * Writes one SVG per figure, such as `a-throughput-against-delay.svg`, and `ours-against-best-direct.svg` for all
 * experiments together. Files of other results stay.
 *
 * @param isShown whether a document shows the file; others are not written.
 * @returns names of the files, in the report's order.
 */
export async function writePictures(
  result: BenchResult,
  directory: string,
  isShown: (file: string) => boolean = () => true,
): Promise<string[]> {
  await mkdir(directory, { recursive: true });
  const pictures = picturesOf(result).filter(({ file }) => isShown(file));
  for (const { file, svg } of pictures) await writeFile(join(directory, file), svg);
  return pictures.map(({ file }) => file);
}

function picturesOf({ experiments, seed }: BenchResult): Picture[] {
  const groups = ratioGroups(experiments, seed);
  const standing: Picture[] =
    groups.length === 0
      ? []
      : [
          {
            file: "ours-against-best-direct.svg",
            svg: pictureSvg("Ours / best direct", "A dot per cell; bar and number: geometric mean", [
              ratioDrawing(groups, WIDTH),
            ]),
          },
        ];
  return [...standing, ...experiments.flatMap(experimentPictures)];
}

/** Costs of many cells stay in the report: nobody looks at dozens of pictures of them. */
function experimentPictures(experiment: ExperimentResult): Picture[] {
  return partsOf(experiment).flatMap(partPictures);
}

function partPictures(experiment: ExperimentResult): Picture[] {
  const lines = lineFigures(experiment);
  const film = filmstripFigure(experiment);
  const costs = costFigures(experiment).filter(
    ({ panels }) => new Set(panels.map(({ section }) => section)).size === 1,
  );
  const lastFilm = film && { ...film, panels: film.panels.slice(-1) };
  const bars = lines.length > 0 ? [] : [barFigure(experiment, headlineMetric(experiment))];
  const figures = [...lines, ...bars, distributionFigure(experiment), outageFigure(experiment), lastFilm, ...costs];
  return figures.flatMap((figure) => (figure === null ? [] : figurePictures(experiment, figure)));
}

/** One picture, or one for each section of panels. */
function figurePictures({ id, title }: ExperimentResult, figure: Figure): Picture[] {
  return [...Map.groupBy(figure.panels, ({ section }) => section)].map(([section, panels]) => {
    const columns = panels.some(({ widest }) => widest > PANEL_WIDTH) ? 1 : COLUMNS;
    const drawings = panels.map((panel) => ({
      title: panel.title,
      drawing: panel.draw(Math.min(panel.widest, WIDTH)),
    }));
    const description = drawings.map(({ title: name, drawing }) => `${name} ${drawing.description}`.trim()).join(". ");
    const legend = figure.legend.length > 0 ? [legendDrawing(figure.legend, WIDTH)] : [];
    const file = `${[id, figure.name, section]
      .filter((part) => part !== "")
      .map(slug)
      .join("-")}.svg`;
    const heading = section === "" ? figure.title : `${figure.title}: ${section}`;
    return { file, svg: pictureSvg(heading, `${id} · ${title}`, [...legend, arrange(drawings, columns, description)]) };
  });
}

/** Drawings one below the other under a title, as a file of its own. */
export function pictureSvg(title: string, subtitle: string, drawings: readonly Drawing[]): string {
  let y = 66;
  const parts: Markup[] = [];
  for (const { height, content } of drawings) {
    parts.push(markup`<g transform="translate(${MARGIN} ${y})">${content}</g>`);
    y += height + 14;
  }
  const width = Math.max(420, ...drawings.map((drawing) => drawing.width)) + 2 * MARGIN;
  const height = y + 6;
  const description = `${title}. ${drawings.at(-1)?.description ?? ""}`;
  return markup`<svg xmlns="http://www.w3.org/2000/svg" class="drawing" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${description}"><style>${pictureStyle()}</style><rect class="ground" width="${width}" height="${height}" rx="12"/><text class="title" x="${MARGIN}" y="32">${title}</text>${markup`<g transform="translate(${MARGIN} 50)">${textAt(0, 0, subtitle, { tone: "muted" })}</g>`}${parts}</svg>
`.text;
}

function slug(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}
