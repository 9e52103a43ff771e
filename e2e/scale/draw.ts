/** The picture of how an edge process grows with its phones. */
import { arrange, type Drawing, pictureSvg } from "../bench/report/drawing.ts";
import { type ChartLine, chartDrawing } from "./chart.ts";
import type { ScaleResult } from "./result.ts";

type Growth = Extract<ScaleResult, { experiment: "growth" }>;

const COLOURS = { workerd: "var(--ours-1)", deno: "var(--ours-2)" } as const;
const NAMES = { workerd: "workerd", deno: "Deno" } as const;

/** @returns an SVG file. */
export function growthPicture(results: readonly Growth[]): string {
  const lines = (of: (sample: Growth["samples"][number]) => number, label = ""): ChartLine[] =>
    results.map(({ runtime, samples }) => ({
      label: `${NAMES[runtime]}${label}`,
      colour: COLOURS[runtime],
      dashed: label !== "",
      marked: true,
      points: samples.map((sample) => [sample.phones, of(sample)]),
    }));
  const chart = (unit: string, drawn: readonly ChartLine[]): Drawing =>
    chartDrawing({ lines: drawn, xUnit: "", xTitle: "phones", yUnit: unit });
  const panels = [
    {
      title: "CPU time per request",
      drawing: chart(
        "ms",
        lines((sample) => sample.cpuMillisecondsPerRequest),
      ),
    },
    {
      title: "Memory of idle phones (PSS), hibernated and awake",
      drawing: chart("bytes", [...lines(({ pssIdle }) => pssIdle), ...lines(({ pssAwake }) => pssAwake, ", awake")]),
    },
    {
      title: "Memory under traffic (PSS)",
      drawing: chart(
        "bytes",
        lines(({ pssTraffic }) => pssTraffic),
      ),
    },
    {
      title: "Time of a small request, median and 95 %",
      drawing: chart("ms", [
        ...lines(({ latencyMedian }) => latencyMedian),
        ...lines(({ latency95 }) => latency95, ", 95 %"),
      ]),
    },
  ];
  const description = panels.map((panel) => `${panel.title}: ${panel.drawing.description}`).join(". ");
  return pictureSvg("What an edge process costs", "Each number of phones on a fresh process", [
    arrange(panels, 2, description),
  ]);
}
