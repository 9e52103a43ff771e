/** What the papers measured beside what was measured here, figure by figure. */
import { CLASS_NAMES } from "../behaviours/models/application-model.ts";
import type { Cell, ExperimentResult, Metric } from "../model.ts";
import { summaryOf } from "./analysis.ts";
import { contestantLabel, isOurs } from "./contestant-look.ts";
import { versionsOf } from "./grid.ts";
import { counted, formatNumber, formatQuantity } from "./quantity.ts";

/** The papers compared with what was usual then: short connections, HTTP/1.1 or raw TCP. */
export const PAPER_FIGURE_HEAD = [
  "figure",
  "the paper",
  "here: HTTP/1.1 or TCP",
  "best other",
  "Ropeway",
  "version",
] as const;

type Row = readonly [figure: string, paper: string, baseline: string, other: string, ours: string, version: string];

/** A row for each figure that the result has numbers for. */
export function paperFigures(experiments: readonly ExperimentResult[]): readonly Row[] {
  const find = (id: string): ExperimentResult | undefined => experiments.find((each) => each.id === id);
  const [delays, thirdGeneration, cost, applications, gprs] = ["A", "A-3g", "B", "C", "D"].map(find);
  return [
    ...throughputRows(delays, ({ at }) => at.delay === 300, "A: throughput, 300 ms", "60 → 162 kbit/s: 2.7 times"),
    ...throughputRows(thirdGeneration, () => true, "A: throughput, 3G", "242 → 1,358 kbit/s: 5.6 times"),
    ...(cost === undefined ? [] : costRows(cost)),
    ...(applications === undefined ? [] : applicationRows(applications)),
    ...(gprs === undefined ? [] : gprsRows(gprs)),
  ];
}

function throughputRows(
  experiment: ExperimentResult | undefined,
  isMeant: (cell: Cell) => boolean,
  figure: string,
  paper: string,
): Row[] {
  const cell = experiment?.cells.find(isMeant);
  const baseline = cell && medianOf(cell, "http/1.1", "throughput");
  if (cell === undefined || !baseline) return [];
  const shown = (contestant: string): string[] => {
    const value = medianOf(cell, contestant, "throughput");
    const times = value === null ? "" : `: ${formatNumber(value / baseline)} times`;
    return value === null ? [] : [`${contestantLabel(contestant)} ${formatQuantity(value, "kbit/s")}${times}`];
  };
  const best = directOf(cell).toSorted(
    (one, other) => (medianOf(cell, other, "throughput") ?? 0) - (medianOf(cell, one, "throughput") ?? 0),
  )[0];
  return [
    [
      figure,
      paper,
      formatQuantity(baseline, "kbit/s"),
      best === undefined ? "–" : shown(best).join(),
      oursOf(cell).flatMap(shown).join("; "),
      versionsOf([cell]),
    ],
  ];
}

const TCP = "raw TCP";
const WEBSOCKET = "raw WebSocket";
const STREAM = "ropeway stream";

function costRows({ cells, metrics }: ExperimentResult): Row[] {
  const ofPayload = (payload: number): Cell | undefined => cells.find(({ at }) => at.payload === payload);
  const opening = cells
    .filter(({ at }) => at.payload === undefined)
    .flatMap((cell): Row[] => {
      const [tcp, websocket] = ["TCP", "WebSocket"].map((contestant) => medianOf(cell, contestant, "handshake"));
      if (!tcp || !websocket) return [];
      const place = cell.at.delay === 0 ? "loopback" : `${cell.at.delay} ms`;
      if (cell.at.delay !== 0 && cell.at.delay !== 50) return [];
      const times = `WebSocket ${formatQuantity(websocket, "ms")}: ${formatNumber(websocket / tcp)} times`;
      return [
        [
          `B: opening, ${place}`,
          "3.7 times TCP (LAN)",
          formatQuantity(tcp, "ms"),
          times,
          "opened ahead",
          versionsOf([cell]),
        ],
      ];
    });
  const echo = (payload: number, paper: string): Row[] => {
    const cell = ofPayload(payload);
    const tcp = cell && medianOf(cell, TCP, "echoTime");
    if (cell === undefined || !tcp) return [];
    const [websocket, stream] = [WEBSOCKET, STREAM].map((name) => changeText(medianOf(cell, name, "echoTime"), tcp));
    const unit = unitOf(metrics, "echoTime");
    return [
      [
        `B: echo of ${formatQuantity(payload, "B")}, loopback`,
        paper,
        formatQuantity(tcp, unit),
        `WebSocket ${websocket}`,
        `${stream}`,
        versionsOf([cell]),
      ],
    ];
  };
  const framing = (payload: number): Row[] => {
    const cell = ofPayload(payload);
    const [websocket, stream] = [WEBSOCKET, STREAM].map((name) => cell && medianOf(cell, name, "relativeOverhead"));
    if (cell === undefined || websocket == null || stream == null) return [];
    const percent = (value: number): string => `${formatNumber(value)} %`;
    const figure = `B: framing of ${formatQuantity(payload, "B")}, from the server`;
    return [
      [figure, "under 1 % above 1 kB", "0", `WebSocket ${percent(websocket)}`, percent(stream), versionsOf([cell])],
    ];
  };
  return [
    ...opening,
    ...echo(1, "+150 to +250 %"),
    ...echo(1_000_000, "+60 to +70 %"),
    ...framing(1_000),
    ...framing(10_000),
  ];
}

/** The paper's own figures by class. */
const CLASSES = [
  ["all classes", "", "−41.67 % of short connections"],
  ["browser", "browser", "−48.39 % in situ"],
  ["social", "social", "−25.86 % in situ"],
] as const;

function applicationRows(experiment: ExperimentResult): Row[] {
  // The paper has none of what somebody recorded.
  const cells = experiment.cells.filter(({ at }) => CLASS_NAMES.includes(String(at.class)));
  const rows = CLASSES.flatMap(([label, name, paper]): Row[] => {
    const meant = cells.filter(({ at }) => String(at.class).startsWith(name));
    return changeRow(`C: L_app, ${label}`, paper, meant, "applicationLatency");
  });
  const channels = rangeOf(cells.map((cell) => medianOf(cell, "ropeway open", "channels")));
  const connections = rangeOf(cells.map((cell) => medianOf(cell, "http/1.1", "connections")));
  const [h2, h3] = ["http/2", "http/3"].map((name) =>
    rangeOf(cells.map((cell) => medianOf(cell, name, "connections"))),
  );
  const used: Row[] =
    channels === null || connections === null
      ? []
      : [
          [
            "C: connections",
            "105 to 220 → 3 to 4",
            connections,
            `HTTP/2 ${h2 ?? "–"}, HTTP/3 ${h3 ?? "–"}`,
            `${channels} channels`,
            versionsOf(cells),
          ],
        ];
  return [
    ...rows,
    ...changeRow("C: L_app less think times", "–", cells, "waiting"),
    ...used,
    ...changeRow("C: bytes on the link", "about −40 %", cells, "linkBytes"),
  ];
}

/** Geometric means over cells, of each contestant against HTTP/1.1. */
function changeRow(figure: string, paper: string, cells: readonly Cell[], metric: string): Row[] {
  const mean = (contestant: string): number | null => {
    const ratios = cells.flatMap((cell) => {
      const [own, baseline] = [contestant, "http/1.1"].map((name) => medianOf(cell, name, metric));
      return own && baseline ? [own / baseline] : [];
    });
    return ratios.length === 0 ? null : Math.exp(ratios.reduce((sum, each) => sum + Math.log(each), 0) / ratios.length);
  };
  const ours = mean("ropeway open");
  if (ours === null) return [];
  const others = ["http/2", "http/3"].map((name) => `${contestantLabel(name)} ${changeText(mean(name), 1)}`);
  return [
    [
      `${figure} (${counted(cells.length, "cell")})`,
      paper,
      "0",
      others.join(", "),
      `open ${changeText(ours, 1)}`,
      versionsOf(cells),
    ],
  ];
}

/** By page, with a cold cache at the server: the only one that there is here. */
const GPRS_PAGES: Readonly<Record<string, string>> = {
  "static-i": "−40 to −45 %",
  "static-ii": "−26 to −29 %",
  "news-herald": "−26 to −29 % (one news page)",
  "news-wire": "−45 to −55 % (the other)",
  shop: "−45 to −55 %",
};

function gprsRows({ cells, metrics }: ExperimentResult): Row[] {
  return cells.flatMap((cell): Row[] => {
    const paper = GPRS_PAGES[String(cell.at.page)];
    const baseline = medianOf(cell, "http/1.1", "load");
    if (paper === undefined || !baseline) return [];
    const shown = (contestant: string): string =>
      `${contestantLabel(contestant).replace("Ropeway ", "")} ${changeText(medianOf(cell, contestant, "load"), baseline)}`;
    const others = directOf(cell).filter((name) => name !== "http/1.1");
    return [
      [
        `D: load of ${cell.at.page}`,
        paper,
        formatQuantity(baseline, unitOf(metrics, "load")),
        others.map(shown).join(", "),
        oursOf(cell).map(shown).join(", "),
        versionsOf([cell]),
      ],
    ];
  });
}

function medianOf(cell: Cell, contestant: string, metric: string): number | null {
  const series = cell.series.find((each) => each.contestant === contestant);
  return (series && summaryOf(series, metric)?.median) ?? null;
}

/** Such as "−42 %", or "failed". */
function changeText(value: number | null, baseline: number): string {
  if (value === null) return "failed";
  const percent = 100 * (value / baseline - 1);
  const sign = percent < 0 ? "−" : "+";
  return `${sign}${formatNumber(Math.round(Math.abs(percent)))} %`;
}

/** From the least to the largest. */
function rangeOf(values: readonly (number | null)[]): string | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const [least, largest] = [Math.min(...known), Math.max(...known)].map(formatNumber);
  return least === largest ? `${least}` : `${least} to ${largest}`;
}

function directOf({ series }: Cell): string[] {
  return series.map(({ contestant }) => contestant).filter((contestant) => !isOurs(contestant));
}

function oursOf({ series }: Cell): string[] {
  return series.map(({ contestant }) => contestant).filter(isOurs);
}

function unitOf(metrics: readonly Metric[], name: string): string {
  return metrics.find((metric) => metric.name === name)?.unit ?? "";
}
