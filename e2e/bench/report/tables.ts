/** What stands between the documents' markers: tables, sentences and single figures, made of results. */
import type { BenchResult, Cell } from "../model.ts";
import type { MergedResults } from "../results.ts";
import { geometricMean } from "../statistics.ts";
import {
  cellsOf,
  change,
  factor,
  HTTP,
  LINKS,
  meanText,
  medianRatios,
  originOf,
  ratiosOf,
  standing,
  standingsText,
  summaryOf,
  told,
} from "./figures.ts";
import { pictureOf } from "./pictures.ts";
import { formatQuantity } from "./quantity.ts";

interface Table {
  readonly of: readonly string[];
  /** The table uses only cells with these values; all cells if left out. */
  readonly at?: Cell["at"];
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Where a piece has not been measured yet. */
const UNMEASURED = "Not measured yet: `npm run bench -- --all` writes this.";

const VISITS = { first: "first visit", "next day": "the day after" } as const;

const BLOCKS: Readonly<Record<string, (results: MergedResults) => Table | string>> = {
  "real-pages": realPages,
  a: throughputs,
  b: socketCosts,
  c: applications,
  "c-channels": channels,
  "c-heads": heads,
  d: gprsPages,
  "d-cache": sharedCache,
  "d-day": hourly,
  o: outages,
  phone: phoneCosts,
  edge: edgeCosts,
  chaos,
  "readme-page": (results) => {
    const [cell] = cellsOf(results, "A", { delay: 300 });
    if (cell === undefined) return "";
    const times = (contestant: string, other: string): string => factor(cell, contestant, other, "throughput");
    return `With 300 ms each way they come at ${times("ropeway open", "http/1.1")} the rate of HTTP/1.1 and ${times("ropeway open", "http/3")} that of HTTP/3 if the app is open, ${times("ropeway warm", "http/1.1")} and ${times("ropeway warm", "http/3")} on the way from another site. ${originOf(results, ["A"])}`;
  },
  "readme-day": (results) => {
    const text = Object.entries(LINKS).flatMap(([profile, name]) => {
      const [open, closed] = ["ropeway open", "ropeway cold"].map((contestant) =>
        ratiosOf(cellsOf(results, "R", { profile, visit: "next day" }), contestant),
      );
      return open === undefined || open.length === 0
        ? []
        : [`on ${name} ${meanText(open)} with the app open, ${meanText(closed ?? [])} with the app closed`];
    });
    return text.length === 0 ? "" : `${text.join("; ")}.`;
  },
  "picture-page": (results) =>
    picture("a-throughput-against-delay.svg", "Throughput against delay, a page of 150 pictures", results),
  "picture-day": (results) =>
    picture("r-day-after.svg", "The day after: Ropeway's time by the best browser's, a dot for each page", results),
  "figure-a-open": (results) => told(cellsOf(results, "A", { delay: 300 })[0], "ropeway open", "throughput", "kbit/s"),
  "figure-a-one": (results) =>
    told(cellsOf(results, "A", { delay: 300 })[0], "ropeway open 1 channel", "throughput", "kbit/s"),
  "figure-a-http": (results) => told(cellsOf(results, "A", { delay: 300 })[0], "http/1.1", "throughput", "kbit/s"),
  "figure-day-open": (results) => dayAfter(results, "3g", "ropeway open"),
  "figure-lte-open": (results) => dayAfter(results, "lte", "ropeway open"),
  "figure-lte-closed": (results) => dayAfter(results, "lte", "ropeway cold"),
  "figure-hot": (results) => cacheGain(cellsOf(results, "D-cache"), "news-wire"),
  "figure-push": (results) =>
    change(pageCell(results, "news-wire"), "ropeway open", "ropeway open without push", "load"),
};

function dayAfter(results: MergedResults, profile: string, contestant: string): string {
  return meanText(ratiosOf(cellsOf(results, "R", { profile, visit: "next day" }), contestant));
}

/** All between two markers, for each name that documents use. @throws Error for a name that stands for nothing. */
export function blockText(name: string, results: MergedResults): string {
  const block = BLOCKS[name]?.(results);
  if (block === undefined) throw new Error(`Cannot fill bench:${name}: there is no such block`);
  // A sentence and a cell go on with this; a picture is not missed.
  if (block === "–" || block === "") return name.startsWith("picture") ? "" : "not measured yet";
  if (typeof block === "string") return block;
  if (block.rows.length === 0) return `\n${UNMEASURED}\n`;
  return `\n${markdownTable(block.head, block.rows)}\n\n${originOf(results, block.of, block.at)}\n`;
}

/** What one run has measured, for the terminal: medians and quartiles of each experiment's headline. */
export function resultTable({ experiments }: BenchResult): string {
  return experiments
    .map(({ id, headline, metrics, cells }) => {
      const unit = metrics.find(({ name }) => name === headline)?.unit ?? "";
      const contestants = [...new Set(cells.flatMap(({ series }) => series.map(({ contestant }) => contestant)))];
      const rows = cells.map((cell) => [cell.id, ...contestants.map((name) => told(cell, name, headline, unit))]);
      return `\n${markdownTable([`${id}: ${headline}`, ...contestants], rows)}`;
    })
    .join("\n");
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map((_, column) => (column === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}

function picture(file: string, text: string, results: MergedResults): string {
  return pictureOf(file, results) === null ? "" : `\n![${text}](docs/bench/${file})\n`;
}

function pageCell(results: MergedResults, page: string, visit = "first"): Cell | undefined {
  return cellsOf(results, "D", { page, visit })[0];
}

function realPages(results: MergedResults): Table {
  const rows = Object.entries(VISITS).flatMap(([visit, label]) =>
    Object.entries(LINKS).flatMap(([profile, link]) => {
      const cells = cellsOf(results, "R", { profile, visit });
      if (cells.length === 0) return [];
      const of = (contestant: string): string =>
        standingsText(cells.flatMap((cell) => standing(cell, contestant) ?? []));
      return [[`${link}, ${label}`, String(cells.length), of("ropeway cold"), of("ropeway open")]];
    }),
  );
  return { of: ["R"], head: ["link and visit", "pages", "app closed", "app open"], rows };
}

function throughputs(results: MergedResults): Table {
  const contestants = [
    "http/1.1",
    "http/2",
    "http/3",
    "ropeway open 1 channel without push",
    "ropeway open 1 channel",
    "ropeway open",
    "ropeway warm",
  ];
  const paper: Readonly<Record<string, string>> = {
    "delay=0": "the encapsulation is the limit",
    "delay=300": "60 → 162: 2.7 times",
    "3g": "242 → 1,358: 5.6 times",
  };
  const rows = [...cellsOf(results, "A"), ...cellsOf(results, "A-3g")].map((cell) => [
    cell.at.delay === undefined ? "3G" : `${cell.at.delay} ms`,
    paper[cell.id] ?? "–",
    ...contestants.map((contestant) => told(cell, contestant, "throughput", "kbit/s")),
    factor(cell, "ropeway open 1 channel", "http/1.1", "throughput"),
  ]);
  const names = ["one WebSocket, no push", "one WebSocket", "app open", "from another site"];
  return {
    of: ["A", "A-3g"],
    head: ["delay", "the paper, kbit/s", "HTTP/1.1", "HTTP/2", "HTTP/3", ...names, "one WebSocket by HTTP/1.1"],
    rows,
  };
}

function socketCosts(results: MergedResults): Table {
  const cells = cellsOf(results, "B");
  const carriers = ["raw TCP", "raw WebSocket", "ropeway stream"];
  const payloads = cells.filter(({ at }) => at.payload !== undefined);
  const name = (bytes: string | number | undefined): string => formatQuantity(Number(bytes), "B");
  const row = (label: string, paper: string, cell: Cell, metric: string, unit: string): string[] => [
    label,
    paper,
    ...carriers.map((carrier) => told(cell, carrier, metric, unit)),
  ];
  const openings = cells.filter(({ at }) => at.delay !== undefined);
  const kinds = ["TCP", "WebSocket", "WebSocket over TLS 1.3"];
  const opening = (cell: Cell, label: string, paper: string, metric: string, unit: string): string[] => [
    label,
    paper,
    ...kinds.map((kind) => told(cell, kind, metric, unit)),
  ];
  return {
    of: ["B"],
    head: ["", "the paper", "TCP", "WebSocket", "Ropeway's stream (opening: WebSocket over TLS)"],
    rows: [
      ...payloads.map((cell) => {
        const small = Number(cell.at.payload) <= 1000;
        return row(
          `echo of ${name(cell.at.payload)}`,
          small ? "+150 to +250 %" : "+60 to +70 %",
          cell,
          "echoTime",
          "ms",
        );
      }),
      ...payloads.flatMap((cell) => [
        row(`framing of ${name(cell.at.payload)} from the server`, "2, 4 or 10 B", cell, "overheadDown", "B"),
        row(`framing of ${name(cell.at.payload)} from the client`, "4 B more", cell, "overheadUp", "B"),
      ]),
      ...payloads
        .filter(({ at }) => Number(at.payload) >= 10_000)
        .flatMap((cell) => [
          row(`throughput in pieces of ${name(cell.at.payload)} from the server`, "–", cell, "down", "Mbit/s"),
          row(`throughput in pieces of ${name(cell.at.payload)} from the client`, "–", cell, "up", "Mbit/s"),
        ]),
      ...openings.map((cell) => opening(cell, cell.id, "3.7 times TCP", "handshake", "ms")),
      ...openings
        .filter(({ at }) => at.delay === 0)
        .flatMap((cell) => [
          opening(cell, "bytes of an opening from the client", "–", "handshakeUp", "B"),
          opening(cell, "bytes of an opening from the server", "–", "handshakeDown", "B"),
        ]),
    ],
  };
}

const linkText = ({ at }: Cell): string => `${at.delay} ms, ${at.loss} % loss`;

function applications(results: MergedResults): Table {
  const base = "http/1.0";
  const rows = cellsOf(results, "C").map((cell) => {
    const latency = (contestant: string): string => change(cell, contestant, base, "applicationLatency");
    const beside = (metric: string, unit: string): string =>
      `${told(cell, base, metric, unit)} → ${told(cell, "ropeway open", metric, unit)}`;
    return [
      `${cell.at.class}, ${linkText(cell)}`,
      told(cell, base, "applicationLatency", "ms"),
      ...[...HTTP, "ropeway open"].map(latency),
      beside("applicationThroughput", "kbit/s"),
      change(cell, "ropeway open", base, "linkBytes"),
      beside("connections", ""),
    ];
  });
  const columns = ["HTTP/1.0: L_app", "HTTP/1.1", "HTTP/2", "HTTP/3", "Ropeway", "TP_app", "bytes", "connections"];
  return { of: ["C"], head: ["application and link", ...columns], rows };
}

/** Two means that are closer are not told apart by three rounds. */
const SCATTER = 0.05;

function channels(results: MergedResults): Table {
  const numbers = ["ropeway open 1 channel", "ropeway open 3 channels", "ropeway open 5 channels", "ropeway open"];
  const byClass = Map.groupBy(cellsOf(results, "C"), ({ at }) => String(at.class));
  const rows = [...byClass].map(([name, cells]) => {
    const all = numbers.map((name) => medianRatios(cells, name, numbers[0] ?? "", "applicationLatency"));
    if (all.some(({ length }) => length === 0)) return [name, ...all.map(meanText), "–"];
    const means = all.map(geometricMean);
    const fixed = means.slice(0, 3);
    const best = [1, 3, 5].filter((_, index) => (fixed[index] ?? 0) < Math.min(...fixed) + SCATTER);
    return [name, ...means.map((mean) => mean.toFixed(2)), best.length === 3 ? "level" : `${best.join(" or ")} best`];
  });
  return { of: ["C"], head: ["application", "1 channel", "3", "5", "the app's choice", "verdict"], rows };
}

/** Kilobits per second on GPRSWeb's way up. */
const GPRS_UP = 11;

function heads(results: MergedResults): Table {
  const rows = cellsOf(results, "C-heads").flatMap((cell) =>
    cell.series.map(({ contestant }) => {
      const request = summaryOf(cell, contestant, "request")?.median ?? Number.NaN;
      return [
        `${cell.at.page}, ${contestant}`,
        formatQuantity(request, "B"),
        told(cell, contestant, "response", "B"),
        told(cell, contestant, "time", "ms"),
        formatQuantity((request * 8) / GPRS_UP, "ms"),
      ];
    }),
  );
  const head = [
    "page and coding",
    "a request's head",
    "an answer's head",
    "coding and decoding one",
    "a request on GPRS, 11 kbit/s",
  ];
  return { of: ["C-heads"], head, rows };
}

function gprsPages(results: MergedResults): Table {
  const paper: Readonly<Record<string, string>> = {
    "static-i": "−40 to −45 %, hot −55 to −60 %",
    "static-ii": "−26 to −29 %, hot −35 to −40 %",
    "news-herald": "−26 to −29 %",
    "news-wire": "−45 to −55 %",
    shop: "−45 to −55 %",
  };
  const contestants = [
    ...["http/1.1", "http/2", "http/3", "ropeway cold", "ropeway open without push", "ropeway open"],
    "ropeway open smaller pictures",
  ];
  const rows = cellsOf(results, "D", { visit: "first" }).map((cell) => {
    const page = String(cell.at.page);
    // The other pages were not measured over HTTP/1.0.
    const base = summaryOf(cell, "http/1.0", "load") === null ? "http/1.1" : "http/1.0";
    const stored = pageCell(results, page, "stored");
    return [
      page,
      paper[page] ?? "–",
      told(cell, "http/1.0", "load", "ms"),
      told(cell, "http/1.1", "load", "ms"),
      ...contestants.slice(1).map((contestant) => change(cell, contestant, base, "load")),
      `${told(stored, "http/1.1", "load", "ms")} → ${told(stored, "ropeway open", "load", "ms")}`,
    ];
  });
  const head = ["page", "the paper", "HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/3", "app closed", "no push", "app open"];
  return { of: ["D"], head: [...head, "smaller pictures", "all on the phone: HTTP/1.1 → Ropeway"], rows };
}

function sharedCache(results: MergedResults): Table {
  const pages = [...new Set(cellsOf(results, "D-cache").map(({ at }) => String(at.page)))];
  const at = (page: string, cache: string): Cell | undefined => cellsOf(results, "D-cache", { page, cache })[0];
  const rows = pages.map((page) => [
    page,
    ...["cold", "hot"].map((cache) => told(at(page, cache), "ropeway open", "load", "ms")),
    cacheGain(cellsOf(results, "D-cache"), page),
  ]);
  return { of: ["D-cache"], head: ["page", "cache cold", "hot", "hot by cold"], rows };
}

/** Of hot by cold, as `change`. */
function cacheGain(cells: readonly Cell[], page: string): string {
  const series = ["cold", "hot"].flatMap((cache) => {
    const cell = cells.find(({ at }) => at.page === page && at.cache === cache);
    return (cell?.series ?? []).map((each) => ({ ...each, contestant: cache }));
  });
  return change({ id: page, at: {}, floor: {}, series }, "hot", "cold", "load");
}

function hourly(results: MergedResults): Table {
  const rows = cellsOf(results, "D-day").flatMap((cell) =>
    cell.series.map(({ contestant }) => [
      `${cell.at.page}, ${contestant}`,
      told(cell, contestant, "load", "ms"),
      contestant === "http/1.1" ? "–" : change(cell, contestant, "http/1.1", "load"),
      told(cell, contestant, "bytesDown", "B"),
    ]),
  );
  return { of: ["D-day"], head: ["page and contestant", "a visit in the mean", "by HTTP/1.1", "bytes down"], rows };
}

function outages(results: MergedResults): Table {
  const contestants = [...HTTP, "ropeway open"];
  const rows = cellsOf(results, "O").map((cell) => [
    `${cell.at.page}, ${LINKS[String(cell.at.profile)]}, ${cell.at.outage} s`,
    ...contestants.map((name) => told(cell, name, "sinceReturn", "ms")),
    ...["http/1.1", "ropeway open"].map((name) => told(cell, name, "reloaded", "")),
  ]);
  const names = ["HTTP/1.1", "HTTP/2", "HTTP/3", "Ropeway", "reloads: HTTP/1.1", "Ropeway"];
  return { of: ["O"], head: ["page, link and outage", ...names], rows };
}

function phoneCosts(results: MergedResults): Table {
  const browser = "http/2";
  const rows = Object.entries(VISITS).flatMap(([visit, label]) =>
    Object.entries(LINKS).flatMap(([profile, link]) => {
      const cells = cellsOf(results, "R", { profile, visit });
      if (cells.length === 0) return [];
      const mean = (contestant: string, metric: string): string =>
        meanText(medianRatios(cells, contestant, browser, metric));
      const heavy = cells.find(({ at }) => at.page === "median-mobile");
      return [
        [
          `${link}, ${label}`,
          mean("ropeway cold", "browserCpu"),
          mean("ropeway open", "browserCpu"),
          mean("ropeway open", "browserMemory"),
          ...[browser, "ropeway open"].map((name) => told(heavy, name, "browserCpu", "s")),
          ...[browser, "ropeway open"].map((name) => told(heavy, name, "browserMemory", "B")),
        ],
      ];
    }),
  );
  const head = ["link and visit", "processor, app closed", "app open", "memory, app open"];
  const heavy = ["median page: browser", "Ropeway", "its memory: browser", "Ropeway"];
  return { of: ["R"], head: [...head, ...heavy], rows };
}

function edgeCosts(results: MergedResults): Table {
  const rows = cellsOf(results, "R", { profile: "lte", visit: "first" }).map((cell) => {
    const again = cellsOf(results, "R", { profile: "lte", visit: "next day", page: cell.at.page ?? "" })[0];
    const ours = "ropeway open";
    return [
      String(cell.at.page),
      told(cell, ours, "edgeCpu", "s"),
      told(again, ours, "edgeCpu", "s"),
      told(cell, ours, "edgeMemory", "B"),
      told(cell, ours, "bytesDown", "B"),
      change(cell, ours, "http/2", "bytesDown"),
    ];
  });
  const head = [
    "page",
    "processor time, first visit",
    "the day after",
    "memory of workerd",
    "bytes to the phone",
    "by HTTP/2",
  ];
  return { of: ["R"], at: { profile: "lte" }, head, rows };
}

function chaos(results: MergedResults): Table {
  const cells = cellsOf(results, "chaos");
  const total = (metric: string): number =>
    cells.reduce((sum, { series }) => {
      const runs = series.flatMap((each) => each.runs);
      return sum + runs.reduce((all, { values }) => all + (values[metric] ?? 0), 0);
    }, 0);
  const failed = cells.flatMap(({ series }) =>
    series.flatMap(({ runs }) => runs.flatMap(({ failure }) => failure ?? [])),
  );
  const columns = ["cuts", "deaths", "requests", "told"].map((metric) => total(metric).toLocaleString("en-US"));
  return {
    of: ["chaos"],
    head: [
      "cuts of the link",
      "deaths of the edge",
      "requests that ended well",
      "that failed and said so",
      "runs with a wrong byte, a request twice, or one that hangs",
    ],
    rows: cells.length === 0 ? [] : [[...columns, String(failed.length)]],
  };
}
