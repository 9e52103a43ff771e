/** What all plots have in common. The library draws them, into a document that no browser shows. */
import { type Markish, type PlotOptions, plot, type ScaleOptions } from "@observablehq/plot";
import { DOMParser } from "linkedom";
import type { ContestantLook } from "../contestant-look.ts";
import { trusted } from "../markup.ts";
import { formatTick, scaleFor } from "../quantity.ts";
import type { Drawing } from "./drawing.ts";

const document = new DOMParser().parseFromString(
  '<svg xmlns="http://www.w3.org/2000/svg"/>',
  "image/svg+xml",
) as unknown as Document;

/** Where several sizes of number have to be seen at once, equal steps are equal factors. */
const FACTOR_FOR_LOGARITHM = 20;

/** @param description what it shows, for those who do not see it. */
export function plotDrawing(
  options: PlotOptions & { readonly width: number; readonly height: number },
  description: string,
): Drawing {
  const { width, height } = options;
  const svg = plot({ ...options, document });
  svg.querySelector("style")?.remove();
  // The library writes sixteen digits, and escapes the text of a result.
  const content = svg.innerHTML.replaceAll(/(?<=="[^"]*)(\d+\.\d\d)\d+(?=[^"]*")/g, "$1");
  return { width, height, description, content: trusted(`<g text-anchor="middle">${content}</g>`) };
}

/**
 * An axis for all of `values`, with labels in their unit.
 *
 * @param factor an axis starts at zero up to here, between the largest and the smallest value.
 */
export function axisOver(values: readonly number[], unit: string, factor = FACTOR_FOR_LOGARITHM): ScaleOptions {
  const largest = Math.max(...values, Number.MIN_VALUE);
  const smallest = Math.min(...values, largest);
  if (smallest > 0 && largest / smallest > factor) {
    const ticks = roundNumbers(smallest, largest);
    const domain = [Math.min(smallest, ticks[0] ?? smallest), Math.max(largest, ticks.at(-1) ?? largest)];
    return { type: "log", domain, ticks, tickFormat: (tick: number) => formatTick(tick, unit) };
  }
  const scale = scaleFor(unit, largest);
  return {
    type: "linear",
    domain: [0, largest],
    nice: 5,
    ticks: 5,
    tickFormat: (tick: number) => (tick === 0 ? "0" : formatTick(tick, unit, scale)),
  };
}

/** Line and marker of a contestant; ours above the others. */
export function inOrder<Item extends { readonly look: ContestantLook }>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => Number(a.look.ours) - Number(b.look.ours));
}

export function strokeOf({ colour, ours, dash }: ContestantLook): {
  stroke: string;
  strokeWidth: number;
  strokeDasharray: string;
} {
  return { stroke: colour, strokeWidth: ours ? 2.5 : 1.75, strokeDasharray: dash === "" ? "none" : dash };
}

export function markerOf({ colour, ours, marker }: ContestantLook): {
  symbol: ContestantLook["marker"];
  fill: string;
  stroke: string;
  strokeWidth: number;
  r: number;
} {
  const [fill, stroke] = ours ? [colour, "var(--surface)"] : ["var(--surface)", colour];
  return { symbol: marker, fill, stroke, strokeWidth: ours ? 1 : 1.75, r: 4.5 };
}

export type Marks = Markish[];

export * as Plot from "@observablehq/plot";

/** 1, 2 and 5 of each power of ten that is reached; of many only the powers. */
function roundNumbers(smallest: number, largest: number): number[] {
  const first = Math.floor(Math.log10(smallest));
  const powers = Array.from({ length: Math.floor(Math.log10(largest)) + 2 - first }, (_, index) => first + index);
  const mantissas = powers.length > 3 ? [1] : [1, 2, 5];
  const candidates = powers.flatMap((power) => mantissas.map((mantissa) => Number(`${mantissa}e${power}`)));
  const from = candidates.findLastIndex((tick) => tick <= smallest);
  const to = candidates.findIndex((tick) => tick >= largest);
  return candidates.slice(Math.max(0, from), to + 1);
}
