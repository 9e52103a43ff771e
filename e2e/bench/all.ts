/** All that is published, in pieces: each is a run of its own, whose result is there once it is done. */
import { join } from "node:path";
import { findChromium } from "../fixtures/chromium.ts";
import { runBench } from "./bench.ts";
import { duration } from "./execute.ts";
import { describeVersions } from "./machine.ts";
import { parseBenchArguments } from "./options.ts";
import { readResult, writeResult } from "./results.ts";

export interface Piece {
  /** Of the result's file. */
  readonly name: string;
  /** On two cores, as it turned out before. */
  readonly minutes: number;
  /** As on the command line. */
  readonly options: readonly string[];
}

/** Of R's pages the median page, and one each of photographs, long chains, large scripts, and next to nothing. */
const REAL_PAGES = ["median-mobile", "portfolios", "katex-page", "swagger-ui", "impress-deck"];

const BESIDE_BROWSERS = "http/1.1,http/2,http/3,ropeway cold,ropeway open";

/** Decision 0043 says why these. Three rounds each, with no round before them that would not count: browsers begin anew anyway. */
export const PIECES: readonly Piece[] = [
  // First the two that the most is said about; C last, for it takes the longest.
  piece("chaos", 7, "chaos", { laboratories: 1 }),
  realPages("3g", "first", 6, 3),
  realPages("3g", "next day", 8, 3),
  realPages("lte", "first", 6, 1),
  realPages("lte", "next day", 14, 1),
  realPages("sat", "first", 9, 2),
  realPages("sat", "next day", 12, 2),
  piece("o", 7, "O", {
    cells: "page=static-ii profile=gprs outage=15,page=median-mobile profile=3g outage=15",
    laboratories: 5,
  }),
  // Alone: what 150 requests cost the processor decides here, too, on each link.
  piece("a", 17, "A,A-3g", { cells: "delay=0,delay=25,delay=100,delay=300,3g", laboratories: 1 }),
  piece("b", 1, "B", { laboratories: 1 }),
  piece("d", 26, "D,D-cache,D-day", {
    cells: "page=static-i visit,page=news-wire visit,page=static-i cache,page=news-wire cache,hours=",
    laboratories: 5,
  }),
  piece("d-more", 6, "D", {
    cells: "page=static-ii visit=first,page=news-herald visit=first,page=shop visit=first",
    contestants: "http/1.1,ropeway open",
    laboratories: 5,
  }),
  piece("d-hot", 3, "D-cache", {
    cells: "page=static-i cache,page=news-wire cache",
    others: ["--hot", "--warm-up", "1"],
    laboratories: 2,
  }),
  piece("c", 26, "C,C-heads", {
    cells: "delay=0 loss=0 cc=bbr,delay=100 loss=0 cc=bbr,delay=300 loss=2 cc=cubic,page=",
    laboratories: 4,
  }),
];

function realPages(profile: string, visit: string, minutes: number, laboratories: number): Piece {
  return piece(`r-${profile}-${visit.replace(" ", "-")}`, minutes, "R", {
    cells: REAL_PAGES.map((page) => `page=${page} profile=${profile} * visit=${visit}`).join(),
    contestants: BESIDE_BROWSERS,
    laboratories,
    // As an edge is mostly deployed. A satellite's rate is high, but its pages wait for round trips.
    others: ["--front", "http/3", ...(profile === "sat" ? ["--unquiet"] : [])],
  });
}

function piece(
  name: string,
  minutes: number,
  only: string,
  parts: { cells?: string; contestants?: string; laboratories?: number; others?: readonly string[] } = {},
): Piece {
  const { cells, contestants, laboratories = 3, others = [] } = parts;
  return {
    name,
    minutes,
    options: [
      ...["--only", only, "--rounds", "3", "--warm-up", "0", "--laboratories", String(laboratories)],
      ...(cells === undefined ? [] : ["--cells", cells]),
      ...(contestants === undefined ? [] : ["--contestants", contestants]),
      ...others,
    ],
  };
}

export function resultFile(directory: string, { name }: Pick<Piece, "name">): string {
  return join(directory, `${name}.json.gz`);
}

export function planText(): string {
  const lines = PIECES.map(
    ({ name, minutes, options }) => `${name.padEnd(16)} ${String(minutes).padStart(3)} min  ${options.join(" ")}`,
  );
  return [...lines, `${"".padEnd(16)} ${totalMinutes(PIECES)} min in all`].join("\n");
}

/** What this version of Ropeway has not measured yet, in order. A piece of which runs failed by the bench's own fault is whole, too. */
export async function measureAll(directory: string, tell: (line: string) => void): Promise<void> {
  const { ropeway = "" } = await describeVersions(findChromium() ?? "chromium");
  const rest: Piece[] = [];
  for (const each of PIECES) {
    const known = await readResult(resultFile(directory, each)).catch(() => null);
    const isKnown = known?.versions.ropeway === ropeway && known.options.join(" ") === each.options.join(" ");
    if (isKnown) tell(`${each.name} is measured already, at ${ropeway}`);
    else rest.push(each);
  }
  let [spent, planned] = [0, 0];
  for (const [index, each] of rest.entries()) {
    const left = totalMinutes(rest.slice(index)) * 60 * (planned === 0 ? 1 : spent / planned);
    tell(`\n${each.name}, ${index + 1} of ${rest.length}; ${duration(left)} left in all`);
    const command = parseBenchArguments(each.options);
    if (command.kind !== "run") throw new Error(`Cannot measure ${each.name}: its options are those of no run`);
    const start = performance.now();
    const result = await runBench(command.options, { tell, keep: async () => {} });
    spent += (performance.now() - start) / 1000;
    planned += each.minutes * 60;
    await writeResult(resultFile(directory, each), result);
  }
}

function totalMinutes(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { minutes }) => sum + minutes, 0);
}
