/** Results for tests of the report: in shape and size like real ones, made from a rough model and a seed. */
import { seededRandom } from "../../demo/random.ts";
import {
  type BenchResult,
  type Cell,
  CONTESTANTS,
  type ExperimentResult,
  type FilmstripFrame,
  type Metric,
  type Run,
} from "../model.ts";
import { SYNTHETIC_FRAMES } from "./synthetic-frames.ts";

interface SyntheticLink {
  /** Milliseconds one way. */
  readonly delay: number;
  /** kbit/s. */
  readonly down: number;
}

const LINKS: Readonly<Record<string, SyntheticLink>> = {
  gprs: { delay: 400, down: 40 },
  "3g": { delay: 150, down: 1600 },
  lte: { delay: 35, down: 12_000 },
  sat: { delay: 300, down: 20_000 },
};

const METRICS: readonly Metric[] = [
  { name: "load", label: "load", unit: "ms", better: "lower" },
  { name: "firstContentfulPaint", label: "first contentful paint", unit: "ms", better: "lower" },
  { name: "speedIndex", label: "Speed Index", unit: "ms", better: "lower" },
  { name: "bytesDown", label: "bytes down", unit: "B", better: "lower" },
  { name: "bytesUp", label: "bytes up", unit: "B", better: "lower" },
  { name: "connections", label: "connections", unit: "", better: "lower" },
  { name: "browserCpu", label: "CPU of the browser", unit: "s", better: "lower" },
  { name: "edgeCpu", label: "CPU of the edge", unit: "s", better: "lower" },
];
const THROUGHPUT: Metric = { name: "throughput", label: "throughput", unit: "kbit/s", better: "higher" };

/** Round trips before the last object is there, and share of the origin's bytes that cross the link. */
const MODEL: Readonly<Record<string, { readonly roundTrips: (objects: number) => number; readonly bytes: number }>> = {
  "http/1.1": { roundTrips: (objects) => 4 + objects / 6, bytes: 1.12 },
  "http/2": { roundTrips: () => 7, bytes: 1.07 },
  "http/3": { roundTrips: () => 6.4, bytes: 1.09 },
  "ropeway cold": { roundTrips: () => 6.8, bytes: 0.93 },
  "ropeway open": { roundTrips: () => 3.6, bytes: 0.9 },
  "ropeway warm": { roundTrips: () => 1.5, bytes: 0.84 },
};

/** A name that would break a page that does not escape. */
export const HOSTILE_PAGE = `<script>alert("&news")</script>`;

const PAGES = [
  { page: "median-mobile", objects: 66, bytes: 2_300_000 },
  { page: "swagger", objects: 9, bytes: 620_000 },
  { page: "reveal", objects: 21, bytes: 410_000 },
  { page: HOSTILE_PAGE, objects: 74, bytes: 880_000 },
] as const;

export interface SyntheticOptions {
  readonly seed?: number;
  readonly rounds?: number;
  /** Relative scatter of every value, 0.08 by default. */
  readonly scatter?: number;
}

export function syntheticResult({ seed = 1, rounds = 5, scatter = 0.08 }: SyntheticOptions = {}): BenchResult {
  const random = seededRandom(seed);
  const cellOf = (id: string, at: Cell["at"], link: SyntheticLink, objects: number, bytes: number, film: boolean) =>
    syntheticCell({ id, at, link, objects, bytes, film }, { random, rounds, scatter });
  const experiments: ExperimentResult[] = [
    {
      id: "A",
      title: "150 pictures of 1,517 bytes, against delay",
      paper: "At 300 ms one way: 60 kbit/s over 6 HTTP/1.1 connections, 162 kbit/s over one WebSocket (2.7 times).",
      metrics: [...METRICS, THROUGHPUT],
      headline: "load",
      cells: [5, 25, 50, 100, 150, 200, 300].map((delay) =>
        cellOf(`delay=${delay}`, { delay }, { delay, down: 20_000 }, 151, 230_000, delay === 300),
      ),
    },
    {
      id: "A-3g",
      title: "150 pictures of 1,517 bytes, on 3G",
      paper: "On a real 3G network: 242 kbit/s over HTTP/1.1, 1,358 kbit/s over one WebSocket (5.6 times).",
      metrics: [...METRICS, THROUGHPUT],
      headline: "load",
      cells: [cellOf("3g", { profile: "3g" }, linkNamed("3g"), 151, 230_000, false)],
    },
    syntheticSocketCost(random, rounds, scatter),
    syntheticApplications((at, link) => cellOf(JSON.stringify(at), at, link, 40, 500_000, false)),
    {
      id: "R",
      title: "Real pages",
      paper: "No paper: the pages of today on the links of today.",
      metrics: METRICS,
      headline: "load",
      cells: Object.entries(LINKS).flatMap(([profile, link]) =>
        PAGES.flatMap(({ page, objects, bytes }) =>
          ["first", "next day"].map((visit) =>
            cellOf(
              `page=${page} profile=${profile} visit=${visit}`,
              { page, profile, visit },
              link,
              visit === "first" ? objects : objects / 3,
              visit === "first" ? bytes : bytes / 4,
              profile === "3g" && visit === "first",
            ),
          ),
        ),
      ),
    },
  ];
  return {
    schema: 1,
    startedAt: "2026-11-21T04:00:00.000Z",
    seconds: 8123,
    mode: "full",
    seed,
    rounds,
    warmUpRounds: 1,
    machine: { processor: "Synthetic processor", cores: "2", memory: "8 GB" },
    versions: { Chromium: "156.0.0.0", Caddy: "2.6.2", workerd: "1.20260815.1", kernel: "6.12.0", Ropeway: "09b101c" },
    links: Object.fromEntries(
      Object.entries(LINKS).map(([name, { delay, down }]) => [name, { delay, down, up: down / 3 }]),
    ),
    experiments,
  };
}

interface Draw {
  readonly random: () => number;
  readonly rounds: number;
  readonly scatter: number;
}

interface CellPlan {
  readonly id: string;
  readonly at: Cell["at"];
  readonly link: SyntheticLink;
  readonly objects: number;
  readonly bytes: number;
  readonly film: boolean;
}

function syntheticCell({ id, at, link, objects, bytes, film }: CellPlan, draw: Draw): Cell {
  const transfer = (bytes * 8) / link.down;
  return {
    id,
    at,
    floor: {
      load: 2 * link.delay + transfer,
      bytesDown: bytes,
      ...("delay" in at ? { throughput: (bytes * 8) / (2 * link.delay + transfer) } : {}),
    },
    series: CONTESTANTS.map((contestant) => ({
      contestant,
      runs: Array.from({ length: draw.rounds }, (_, index): Run => {
        if (draw.random() < 0.012) return failedRun(index + 1, draw.random());
        const { roundTrips, bytes: share } = MODEL[contestant] ?? { roundTrips: () => 1, bytes: 1 };
        const noise = () => 1 + draw.scatter * (2 * draw.random() - 1) * draw.random();
        const load = (roundTrips(objects) * 2 * link.delay + transfer * share * 1.15 + 60 + objects * 2) * noise();
        const first = (load * 0.45 + 2 * link.delay) * noise();
        return {
          round: index + 1,
          values: {
            load,
            firstContentfulPaint: first,
            speedIndex: (first + load) / 2,
            bytesDown: Math.round(bytes * share * 1.06 * noise()),
            bytesUp: Math.round(objects * (contestant === "http/1.1" ? 620 : 95) * noise() + 3000),
            connections: contestant === "http/1.1" ? 6 : 1,
            browserCpu: (0.5 + objects / 200) * noise(),
            ...(contestant.startsWith("ropeway") ? { edgeCpu: 0.12 * noise() } : {}),
            throughput: (bytes * 8) / load,
          },
          failure: null,
          ...(film ? { filmstrip: syntheticFilmstrip(first, load) } : {}),
        };
      }),
    })),
  };
}

function failedRun(round: number, draw: number): Run {
  const failure =
    draw < 0.5
      ? ({ blame: "harness", message: "Cannot start Chromium: no DevTools port after 30 s" } as const)
      : ({ blame: "contestant", message: "Only 58 of 66 objects arrived within 600 s & then <nothing>" } as const);
  return { round, values: {}, failure };
}

/** Experiment B's shape: its own contestants, an axis from 1 byte to a megabyte, and cells that have another one. */
function syntheticSocketCost(random: () => number, rounds: number, scatter: number): ExperimentResult {
  const carriers = { "raw TCP": 0, "raw WebSocket": 6, "ropeway stream": 9 };
  const handshakes = { TCP: 1, "TCP and TLS 1.3": 2, "WebSocket over TLS 1.3": 3 };
  const repeat = (values: () => Record<string, number>) =>
    Array.from({ length: rounds }, (_, index): Run => ({ round: index + 1, values: values(), failure: null }));
  const noise = () => 1 + scatter * (random() - 0.5);
  return {
    id: "B",
    title: "What a WebSocket costs",
    paper: "Relative overhead under 1 % above 1 kB; an echo takes 1.6 to 3.5 times as long as over TCP.",
    metrics: [
      { name: "echoTime", label: "echo", unit: "ms", better: "lower" },
      { name: "throughput", label: "throughput", unit: "Mbit/s", better: "higher" },
      { name: "overheadDown", label: "framing, from the server", unit: "B", better: "lower" },
      { name: "handshake", label: "opening", unit: "ms", better: "lower" },
    ],
    headline: "echoTime",
    cells: [
      ...[1, 10, 125, 1000, 10_000, 65_535, 1_000_000].map((payload) => ({
        id: `payload=${payload}`,
        at: { payload },
        floor: { overheadDown: 0 },
        series: Object.entries(carriers).map(([contestant, overheadDown]) => ({
          contestant,
          runs: repeat(() => {
            const echoTime = (0.05 + overheadDown / 200 + payload / 400_000) * noise();
            return { overheadDown, echoTime, throughput: (payload * 8) / echoTime / 1000 };
          }),
        })),
      })),
      ...[0, 5, 50, 300].map((delay) => ({
        id: `opening at delay=${delay}`,
        at: { delay },
        floor: { handshake: 2 * delay },
        series: Object.entries(handshakes).map(([contestant, roundTrips]) => ({
          contestant,
          runs: repeat(() => ({ handshake: (2 * delay * roundTrips + 0.4 * roundTrips) * noise() })),
        })),
      })),
    ],
  };
}

/** Experiment C's shape: four coordinates, one of them an axis of three points. */
function syntheticApplications(cellOf: (at: Cell["at"], link: SyntheticLink) => Cell): ExperimentResult {
  return {
    id: "C",
    title: "Application classes, replayed",
    paper: "Latency of applications 41.67 % less on average than over short connections.",
    metrics: METRICS,
    headline: "load",
    cells: ["browser", "newspaper"].flatMap((name) =>
      [0, 100, 300].flatMap((delay) =>
        [0, 2].map((loss) => cellOf({ class: name, delay, loss }, { delay, down: 20_000 / (1 + loss) })),
      ),
    ),
  };
}

function linkNamed(name: string): SyntheticLink {
  return LINKS[name] ?? { delay: 0, down: 1000 };
}

function syntheticFilmstrip(first: number, load: number): FilmstripFrame[] {
  return [
    { at: 0, picture: SYNTHETIC_FRAMES.blank },
    { at: first, picture: SYNTHETIC_FRAMES.begun },
    { at: (first + load) / 2, picture: SYNTHETIC_FRAMES.half },
    { at: load, picture: SYNTHETIC_FRAMES.whole },
  ];
}
