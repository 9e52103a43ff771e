/** What an experiment's cells have in common and what tells them apart. */
import type { Cell } from "../model.ts";
import { formatTick } from "./quantity.ts";

export interface Grid {
  /** Coordinates that have more than one value, in the cells' order. */
  readonly varying: readonly string[];
  /** The coordinate that lines are drawn over: numbers, three or more of them. */
  readonly axis: string | null;
}

export interface CellGroup {
  /** What the cells share and other groups do not, in words; empty for the only group. */
  readonly label: string;
  readonly cells: readonly Cell[];
}

/** Fewer points than this make no line. */
const FEWEST_POINTS = 3;

const UNITS: Readonly<Record<string, string>> = { delay: "ms", loss: "%", payload: "B", rtt: "ms", outage: "s" };

const AXIS_TITLES: Readonly<Record<string, string>> = {
  delay: "delay, one way",
  payload: "payload",
  loss: "loss",
  outage: "length of the outage",
};

const NAMES: Readonly<Record<string, string>> = {
  gprs: "GPRS",
  "3g": "3G",
  lte: "LTE",
  sat: "satellite",
  "gprs-trace": "GPRS trace",
  "3g-trace": "3G trace",
  "lte-trace": "LTE trace",
  bbr: "BBR",
  cubic: "CUBIC",
};

export function gridOf(cells: readonly Cell[]): Grid {
  const values = new Map<string, Set<string | number>>();
  for (const { at } of cells) {
    for (const [key, value] of Object.entries(at)) values.set(key, (values.get(key) ?? new Set()).add(value));
  }
  const varying = [...values].filter(([, distinct]) => distinct.size > 1);
  const axes = varying
    .filter(
      ([, distinct]) => distinct.size >= FEWEST_POINTS && [...distinct].every((value) => typeof value === "number"),
    )
    .sort(([, a], [, b]) => b.size - a.size);
  return { varying: varying.map(([key]) => key), axis: axes[0]?.[0] ?? null };
}

/** "300 ms, 2 % loss": the coordinates that tell the cell apart, or all of them where it is the only one. */
export function cellLabel(cell: Cell, { varying }: Grid): string {
  const keys = Object.keys(cell.at).filter((key) => varying.length === 0 || varying.includes(key));
  return labelOf(cell, keys) || cell.id;
}

/** Cells that differ in one coordinate only. */
export function groupCells(cells: readonly Cell[], along: string | null, { varying }: Grid): CellGroup[] {
  const keys = varying.filter((key) => key !== along);
  const groups = new Map<string, Cell[]>();
  for (const cell of cells) {
    const label = labelOf(cell, keys);
    groups.set(label, [...(groups.get(label) ?? []), cell]);
  }
  return [...groups].map(([label, members]) => ({ label, cells: members }));
}

export function coordinateLabel(key: string, value: string | number): string {
  if (typeof value === "number") {
    const unit = UNITS[key];
    if (unit === undefined) return `${key} ${value}`;
    // 65,535 and 65,536 bytes are framed differently.
    if (key === "payload" && Number(value.toPrecision(3)) !== value) return `${value.toLocaleString("en-US")}\u00a0B`;
    return key === "loss" || key === "outage" ? `${formatTick(value, unit)} ${key}` : formatTick(value, unit);
  }
  if (key === "visit") return `${value} visit`;
  return NAMES[value] ?? value;
}

/** Versions of Ropeway that the cells were measured at, each once. */
export function versionsOf(cells: readonly Cell[]): string {
  return [...new Set(cells.flatMap(({ ropeway }) => ropeway ?? []))].join(", ") || "–";
}

export function axisTitle(key: string): string {
  return AXIS_TITLES[key] ?? key;
}

export function axisUnit(key: string): string {
  return UNITS[key] ?? "";
}

function labelOf(cell: Cell, keys: readonly string[]): string {
  return keys
    .flatMap((key) => {
      const value = cell.at[key];
      return value === undefined ? [] : [coordinateLabel(key, value)];
    })
    .join(", ");
}
