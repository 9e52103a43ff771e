/** The report of a run: one HTML file that needs nothing else and runs no script. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type BenchResult, type ExperimentResult, roundsText } from "../model.ts";
import { ratioGroups } from "./figures.ts";
import { type Markup, markup, trusted } from "./markup.ts";
import { ratioDrawing } from "./plot/ratio-drawing.ts";
import { counted, formatNumber } from "./quantity.ts";
import { experimentSection, responsive } from "./sections/experiment-section.ts";
import { headlineOf, runsSentence } from "./sections/headline.ts";
import { tableMarkup } from "./sections/table.ts";
import { themeStyle } from "./theme.ts";

/** Fewer rounds than this have no quartiles worth the name. */
const ENOUGH_ROUNDS = 5;

/** @param result as `readResult` gives it. */
export function renderReport(result: BenchResult): string {
  const { experiments, seed, mode } = result;
  const title = `Ropeway bench, ${dayOf(result)}`;
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${title}</title>
<style>${themeStyle()}${trusted(readFileSync(join(import.meta.dirname, "report.css"), "utf8"))}</style>
</head>
<body>
<a class="skip" href="#experiments">Skip to the experiments</a>
<header>
<p class="kicker">Ropeway bench · ${mode} run · ${dayOf(result)}</p>
<h1>Ropeway against direct browsers</h1>
<p>${runsSentence(experiments.flatMap(({ cells }) => cells))} ${counted(result.rounds, "round")}, contestants taking turns. Medians are compared with the best direct contestant of the same cell.</p>
${result.rounds < ENOUGH_ROUNDS && markup`<p class="caution"><strong>A look, not a measurement:</strong> ${counted(result.rounds, "round")} only. Run the full bench before you rely on these numbers.</p>`}
</header>
<main>
<nav aria-label="Experiments"><ul class="cards">${experiments.map((experiment) => card(experiment, seed))}</ul></nav>
${standing(experiments, seed)}
<div id="experiments">${experiments.map((experiment) => experimentSection(experiment, seed))}</div>
${methodSection(result)}
</main>
</body>
</html>
`;
  return page.text;
}

function card(experiment: ExperimentResult, seed: number): Markup {
  const { figure, better, sentence } = headlineOf(experiment, seed);
  return markup`<li><a href="#${experiment.id}"><span class="card-title"><span class="id">${experiment.id}</span> ${experiment.title}</span>${figure !== null && markup`<span class="figure ${better ? "" : "worse"}">${figure}</span>`}<span>${sentence}</span></a></li>`;
}

function standing(experiments: readonly ExperimentResult[], seed: number): Markup | null {
  const groups = ratioGroups(experiments, seed);
  if (groups.length === 0) return null;
  return markup`<figure class="standing"><figcaption><h2>Where Ropeway stands</h2><p class="note">Ours / best direct: a dot per cell, the bar and the number at the right are the geometric mean. Diamonds on the shaded side are cells in which a direct browser is better.</p></figcaption>${responsive((width) => ratioDrawing(groups, width), 1060)}</figure>`;
}

function methodSection(result: BenchResult): Markup {
  const { versions, machine, links, seed, warmUpRounds, laboratories = 1, options, seconds, startedAt } = result;
  const settings = [...new Set(Object.values(links).flatMap(Object.keys))];
  const run = {
    started: startedAt,
    took: `${formatNumber(seconds / 60)} min`,
    seed: String(seed),
    rounds: `${roundsText(result)}, after ${counted(warmUpRounds, "warm-up round")} that ${warmUpRounds === 1 ? "is" : "are"} thrown away`,
    laboratories: String(laboratories),
    ...(options === undefined ? {} : { options: options.length === 0 ? "none" : options.join(" ") }),
    quartiles: "Hyndman and Fan, definition 7 (linear interpolation)",
    intervals: "95 % percentile bootstrap of the ratio of medians, 1,000 resamples, seeded",
  };
  const pairs = (caption: string, record: Readonly<Record<string, string>>) =>
    tableMarkup({ caption, head: ["", ""], numbersFrom: 2, rows: Object.entries(record) });
  return markup`<section id="method" aria-labelledby="method-title">
<h2 id="method-title">What it takes to repeat this</h2>
<div class="columns">${pairs("This run", run)}${pairs("Versions", versions)}${pairs("Machine", machine)}</div>
${tableMarkup({
  caption: "Links (delay in ms one way, rates in kbit/s, queues in KB, loss in %)",
  head: ["", ...settings],
  numbersFrom: 1,
  rows: Object.entries(links).map(([name, link]) => [name, ...settings.map((key) => link[key] ?? "–")]),
})}
</section>`;
}

function dayOf({ startedAt }: BenchResult): string {
  return startedAt.slice(0, 10);
}
