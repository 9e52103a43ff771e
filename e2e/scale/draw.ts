/** The pictures in docs/scale. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { arrange, type Drawing, pictureSvg } from "../bench/report/drawing.ts";
import { type ChartLine, chartDrawing } from "./chart.ts";
import type { ScaleResult } from "./result.ts";

type Of<Name extends ScaleResult["experiment"]> = Extract<ScaleResult, { experiment: Name }>;

const COLOURS = { workerd: "var(--ours-1)", deno: "var(--ours-2)" } as const;
const NAMES = { workerd: "workerd", deno: "Deno" } as const;

/** @returns paths of the files. */
export async function drawResults(results: readonly ScaleResult[], directory: string): Promise<string[]> {
  await mkdir(directory, { recursive: true });
  const ofKind = <Name extends ScaleResult["experiment"]>(name: Name): Of<Name>[] =>
    results.filter((result): result is Of<Name> => result.experiment === name);
  const pictures = [
    { name: "phones", svg: phonesPicture(ofKind("phones")) },
    { name: "growth", svg: growthPicture(ofKind("growth")) },
    { name: "idle", svg: idlePicture(ofKind("idle")) },
  ].filter(({ svg }) => svg !== null);
  const files = pictures.map(({ name }) => join(directory, `${name}.svg`));
  for (const [index, { svg }] of pictures.entries()) await writeFile(files[index] ?? "", svg ?? "");
  return files;
}

function phonesPicture(results: readonly Of<"phones">[]): string | null {
  const [first] = results;
  if (first === undefined) return null;
  const lines = (of: (sample: Of<"phones">["samples"][number]) => number, label = ""): ChartLine[] =>
    results.map(({ runtime, samples }) => ({
      label: `${NAMES[runtime]}${label}`,
      colour: COLOURS[runtime],
      dashed: label !== "",
      points: samples.map((sample) => [sample.second, of(sample)]),
    }));
  const chart = (unit: string, drawn: readonly ChartLine[]): Drawing =>
    chartDrawing({ lines: drawn, xUnit: "s", xTitle: "seconds of traffic", yUnit: unit });
  const panels = [
    {
      title: "Memory of the edge process (PSS)",
      drawing: chart(
        "bytes",
        lines(({ pssBytes }) => pssBytes),
      ),
    },
    {
      title: "Time of a small request, median",
      drawing: chart(
        "ms",
        lines(({ latencyMedian }) => latencyMedian),
      ),
    },
    {
      title: "Time of a small request, 95th percentile",
      drawing: chart(
        "ms",
        lines(({ latency95 }) => latency95),
      ),
    },
    {
      title: "Processors in use by the edge",
      drawing: chart(
        "",
        lines(({ edgeCpu }) => edgeCpu),
      ),
    },
  ];
  const { phones, seconds } = first.settings;
  return picture(`${phones} phones on one edge process`, `${seconds} s of traffic, then rest`, panels);
}

function growthPicture(results: readonly Of<"growth">[]): string | null {
  if (results.length === 0) return null;
  const lines = (of: (sample: Of<"growth">["samples"][number]) => number, label = ""): ChartLine[] =>
    results.map(({ runtime, samples }) => ({
      label: `${NAMES[runtime]}${label}`,
      colour: COLOURS[runtime],
      dashed: label !== "",
      marked: true,
      points: samples.map((sample) => [sample.phones, of(sample)]),
    }));
  const chart = (unit: string, drawn: readonly ChartLine[]): Drawing =>
    chartDrawing({ lines: drawn, xUnit: "", xTitle: "phones", yUnit: unit });
  return picture("What an edge process costs", "Each number of phones on a fresh process", [
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
  ]);
}

function idlePicture([result]: readonly Of<"idle">[]): string | null {
  if (result === undefined) return null;
  const line = (label: string, of: (sample: Of<"idle">["samples"][number]) => number): ChartLine => ({
    label,
    colour: COLOURS.workerd,
    points: result.samples.map((sample) => [sample.second, of(sample)]),
  });
  const chart = (unit: string, drawn: ChartLine): Drawing =>
    chartDrawing({ lines: [drawn], xUnit: "s", xTitle: "seconds of idling", yUnit: unit });
  return picture("A phone that idles", "On workerd, after its object hibernated", [
    {
      title: "Bytes on the link, both ways",
      drawing: chart(
        "bytes",
        line("", ({ linkBytes }) => linkBytes),
      ),
    },
    {
      title: "Wake-ups of workerd's threads",
      drawing: chart(
        "",
        line("", ({ wakeups }) => wakeups),
      ),
    },
  ]);
}

function picture(
  title: string,
  subtitle: string,
  panels: readonly { readonly title: string; readonly drawing: Drawing }[],
): string {
  const description = panels.map((panel) => `${panel.title}: ${panel.drawing.description}`).join(". ");
  return pictureSvg(title, subtitle, [arrange(panels, 2, description)]);
}
