import { parseArgs } from "node:util";
import { ALL_CONTESTANTS, type Contestant, PICTURE_SETTINGS, type PictureSetting } from "./model.ts";
import type { ProfileOptions } from "./profile/profile.ts";

export type BenchMode = "quick" | "full" | "smoke";

export interface BenchOptions {
  /** As on the command line, to repeat it; but not where the result goes. */
  readonly given: readonly string[];
  readonly mode: BenchMode;
  readonly rounds: number;
  /** Where medians have to be precise. */
  readonly mostRounds: number;
  /** Part of a median by which it may be wrong, where cells have more rounds for that. */
  readonly precision: number;
  readonly warmUpRounds: number;
  /** Each contestant twice in each round, which are two runs. */
  readonly isTwice: boolean;
  readonly seed: number;
  /** Ids of experiments; all when empty. */
  readonly only: readonly string[];
  /** Texts that a cell's id has one of; all cells when empty. */
  readonly cells: readonly string[];
  readonly contestants: readonly Contestant[];
  /** C: the applications as long as they are, or with a few of each behaviour and little time to think. */
  readonly replays: "full" | "short";
  /** C: files of recorded traffic that it replays in place of the applications; none for those. */
  readonly recorded: readonly string[];
  /** Links, each with servers and browsers of its own, on which cells that need no quiet are measured side by side. */
  readonly laboratories: number;
  /** Cells that need quiet, too, are measured side by side: sooner, but processors that are busy take part in it. */
  readonly isUnquiet: boolean;
  /** The edge shares public responses, and round after round they are there; else each visit finds it cold. */
  readonly isHot: boolean;
  /** The app names nothing of what it has learned that pages ask for, so that none of it is pushed. */
  readonly isUnlearned: boolean;
  /** What the person has chosen in the app's settings. */
  readonly pictures: PictureSetting;
  /** Directory for results and report; the place in the checkout when absent. */
  readonly output: string | null;
}

export type BenchCommand =
  | { readonly kind: "run"; readonly options: BenchOptions }
  /** Tells where the time of visits goes. */
  | { readonly kind: "profile"; readonly options: ProfileOptions & { readonly output: string | null } }
  /** Compares what is in front of the edge. */
  | { readonly kind: "fronts"; readonly rounds: number }
  /** Measures the link itself. */
  | { readonly kind: "check-link" }
  /** Draws reports, and pictures and tables of BENCHMARKS.md, from earlier results. */
  | { readonly kind: "report" | "publish" | "compare"; readonly files: readonly string[] }
  | { readonly kind: "help" };

export const USAGE = `npm run bench -- [options]

  --quick               a corner of each experiment, once each, in under five minutes
  --only A,B,R          these experiments only (A, A-3g, B, C, D, D-hour, F, L, O, R, R-scripts)
  --cells TEXT,…        the cells of these names, such as delay=300, or all whose names have one of these texts
  --contestants NAME,…  ${ALL_CONTESTANTS.join(", ")}
  --rounds N            rounds that count (5, or 1 with --quick)
  --most-rounds N       in A, as many for contestants whose median is not known precisely before (15, or as --rounds)
  --precision N         within so many percent, at 95 % confidence (3)
  --twice               two runs at once, in turns: two results, and how far they agree
  --warm-up N           rounds before them that are thrown away (1, or 0 with --quick)
  --seed N              of the link's losses and of the order of contestants (1)
  --short               in C, replays of seconds in place of half a minute (as with --quick)
  --replay FILE,…       in C, recorded traffic in place of the applications: HARs, or behaviours made of them (.tsv)
  --laboratories N      links on which cells that wait for the link are measured side by side (3, or 1 with --quick)
  --unquiet             all cells side by side, also those whose times are as much the processor's as the link's
  --hot                 with the edge's shared cache, which warm-up rounds fill; without, all comes from origins
  --unlearned           nothing is pushed that only visits before have taught the phone
  --pictures SETTING    ${PICTURE_SETTINGS.join(", ")}: as the app's setting (off)
  --output DIRECTORY    for the result and its report (e2e/bench/results)

  --profile                 tells where the time of visits goes (with --cells, --rounds, --output)
  --fronts                  the app's start, and D with the app closed, with Caddy in front of the edge (with --rounds)
  --check-link              compares delay, rate and loss of the link with what was asked, over 30 settings
  --report RESULT.json…     draws one report of earlier results
  --publish [RESULT.json…]  writes BENCHMARKS.md's two tables and docs/bench's pictures from earlier results
  --compare A.json B.json   says how far two runs agree
`;

/** Names of result files that they need; what is published is known without. */
const LEAST_FILES = { report: 1, publish: 0, compare: 2 };

/** @throws Error "Cannot run the bench: …" on arguments that make no sense. */
export function parseBenchArguments(args: readonly string[]): BenchCommand {
  const { values, positionals } = parse(args);
  if (values.help) return { kind: "help" };
  if (values.fronts) return { kind: "fronts", rounds: count("rounds", values.rounds, 5, 1) };
  if (values["check-link"]) return { kind: "check-link" };
  for (const kind of ["report", "publish", "compare"] as const) {
    if (!values[kind]) continue;
    if (positionals.length < LEAST_FILES[kind]) throw refusal(`--${kind} needs the names of result files`);
    return { kind, files: positionals };
  }
  if (values.profile) {
    const [rounds, seed] = [count("rounds", values.rounds, 3, 1), count("seed", values.seed, 1, 0)];
    return { kind: "profile", options: { rounds, seed, cells: list(values.cells), output: values.output ?? null } };
  }
  if (positionals.length > 0) throw refusal(`${positionals[0]} is no option; see --help`);
  const mode = values.smoke ? "smoke" : values.quick ? "quick" : "full";
  const rounds = count("rounds", values.rounds, mode === "full" ? 5 : 1, 1);
  return {
    kind: "run",
    options: {
      given: withoutOutput(args),
      mode,
      rounds,
      mostRounds: count("most-rounds", values["most-rounds"], mode === "full" ? Math.max(rounds, 15) : rounds, rounds),
      precision: count("precision", values.precision, 3, 1) / 100,
      warmUpRounds: count("warm-up", values["warm-up"], mode === "full" || values.hot ? 1 : 0, 0),
      isTwice: values.twice === true,
      seed: count("seed", values.seed, 1, 0),
      only: list(values.only),
      cells: list(values.cells),
      contestants: list(values.contestants).length === 0 ? ALL_CONTESTANTS : list(values.contestants).map(contestant),
      replays: mode !== "full" || values.short ? "short" : "full",
      recorded: list(values.replay),
      laboratories: count("laboratories", values.laboratories, mode === "full" ? 3 : 1, 1),
      isUnquiet: values.unquiet === true,
      isHot: values.hot === true,
      isUnlearned: values.unlearned === true,
      pictures: pictureSetting(values.pictures ?? "off"),
      output: values.output ?? null,
    },
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        quick: { type: "boolean" },
        smoke: { type: "boolean" },
        only: { type: "string" },
        cells: { type: "string" },
        contestants: { type: "string" },
        rounds: { type: "string" },
        "most-rounds": { type: "string" },
        precision: { type: "string" },
        twice: { type: "boolean" },
        "warm-up": { type: "string" },
        seed: { type: "string" },
        short: { type: "boolean" },
        replay: { type: "string" },
        laboratories: { type: "string" },
        unquiet: { type: "boolean" },
        hot: { type: "boolean" },
        unlearned: { type: "boolean" },
        pictures: { type: "string" },
        output: { type: "string" },
        profile: { type: "boolean" },
        fronts: { type: "boolean" },
        "check-link": { type: "boolean" },
        report: { type: "boolean" },
        publish: { type: "boolean" },
        compare: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw refusal(error instanceof Error ? error.message : String(error));
  }
}

function count(name: string, text: string | undefined, fallback: number, least: number): number {
  if (text === undefined) return fallback;
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < least || number > 1e6) {
    throw refusal(`--${name} takes a whole number from ${least}, not "${text}"`);
  }
  return number;
}

function withoutOutput(args: readonly string[]): string[] {
  return args.filter((arg, index) => !arg.startsWith("--output") && args[index - 1] !== "--output");
}

function list(text: string | undefined): string[] {
  return (text ?? "").split(",").flatMap((part) => (part.trim() === "" ? [] : [part.trim()]));
}

function contestant(name: string): Contestant {
  const found = ALL_CONTESTANTS.find((known) => known === name);
  if (found === undefined) throw refusal(`there is no contestant "${name}"; there are ${ALL_CONTESTANTS.join(", ")}`);
  return found;
}

function pictureSetting(name: string): PictureSetting {
  const found = PICTURE_SETTINGS.find((known) => known === name);
  if (found === undefined) throw refusal(`--pictures takes one of ${PICTURE_SETTINGS.join(", ")}, not "${name}"`);
  return found;
}

function refusal(reason: string): Error {
  return new Error(`Cannot run the bench: ${reason}`);
}
