import { parseArgs } from "node:util";
import { CONTESTANTS, type Contestant, EXPERIMENTS } from "./model.ts";
import { FRONTS, type Front } from "./servers/front.ts";

/** "smoke" is a test of the bench: a corner of each experiment. */
export type BenchMode = "full" | "smoke";

export interface BenchOptions {
  /** As on the command line, to repeat it; but not where the result goes. */
  readonly given: readonly string[];
  readonly mode: BenchMode;
  readonly rounds: number;
  readonly warmUpRounds: number;
  readonly seed: number;
  /** Ids of experiments; all when empty. */
  readonly only: readonly string[];
  /** Texts that a cell's id has one of; all cells when empty. */
  readonly cells: readonly string[];
  /** Empty for those of each experiment. */
  readonly contestants: readonly Contestant[];
  /** Links, each with servers and browsers of its own, on which cells that need no quiet are measured side by side. */
  readonly laboratories: number;
  /** Cells that need quiet, too, are measured side by side: sooner, but processors that are busy take part in it. */
  readonly isUnquiet: boolean;
  /** The edge shares public responses, and round after round they are there; else each visit finds it cold. */
  readonly isHot: boolean;
  /** Between the phone and the edge. */
  readonly front: Front;
  /** Directory for results; the place in the checkout when null. */
  readonly output: string | null;
}

export type BenchCommand =
  | { readonly kind: "run"; readonly options: BenchOptions }
  /** All that is published, piece by piece. */
  | { readonly kind: "all" | "plan" | "publish" }
  /** Measures the link itself. */
  | { readonly kind: "check-link" }
  | { readonly kind: "help" };

export const USAGE = `npm run bench -- [options]

  --all                 all that is published, piece by piece, and then --publish; begun again, it goes on where it was
  --plan                the pieces, and how long each takes
  --publish             writes tables and pictures of BENCHMARKS.md, README.md and docs/papers.md from what --all has measured

  --only A,B,R          these experiments only (${EXPERIMENTS.join(", ")})
  --cells TEXT,…        the cells of these names, such as delay=300, or all whose names have one of these texts
                        ("profile=3g cc=bbr visit=first"), with * for any characters ("page=agency * visit=first")
  --contestants NAME,…  ${CONTESTANTS.join(", ").replaceAll(/(.{70,90}), /g, "$1,\n                        ")}
  --rounds N            rounds that count (5)
  --warm-up N           rounds before them that are thrown away (1)
  --seed N              of the link's losses and of the order of contestants (1)
  --laboratories N      links on which cells that wait for the link are measured side by side (3)
  --unquiet             all cells side by side, also those whose times are as much the processor's as the link's
  --hot                 with the edge's shared cache, which warm-up rounds fill; without, all comes from origins
  --front FRONT         ${FRONTS.join(", ")}: what is between the phone and the edge (none)
  --output DIRECTORY    for the result (e2e/bench/results)

  --check-link          compares delay, rate and loss of the link with what was asked, over 30 settings
`;

/** @throws Error "Cannot run the bench: …" on arguments that make no sense. */
export function parseBenchArguments(args: readonly string[]): BenchCommand {
  const values = parse(args);
  if (values.help) return { kind: "help" };
  for (const kind of ["all", "plan", "publish", "check-link"] as const) if (values[kind]) return { kind };
  const mode = values.smoke ? "smoke" : "full";
  return {
    kind: "run",
    options: {
      given: args.filter((arg, index) => !arg.startsWith("--output") && args[index - 1] !== "--output"),
      mode,
      rounds: count("rounds", values.rounds, mode === "full" ? 5 : 1, 1),
      warmUpRounds: count("warm-up", values["warm-up"], mode === "full" || values.hot ? 1 : 0, 0),
      seed: count("seed", values.seed, 1, 0),
      only: list(values.only),
      cells: list(values.cells),
      contestants: list(values.contestants).map((name) => oneOf(CONTESTANTS, "contestant", name)),
      laboratories: count("laboratories", values.laboratories, 3, 1),
      isUnquiet: values.unquiet === true,
      isHot: values.hot === true,
      front: oneOf(FRONTS, "front", values.front ?? "none"),
      output: values.output ?? null,
    },
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        all: { type: "boolean" },
        plan: { type: "boolean" },
        publish: { type: "boolean" },
        smoke: { type: "boolean" },
        only: { type: "string" },
        cells: { type: "string" },
        contestants: { type: "string" },
        rounds: { type: "string" },
        "warm-up": { type: "string" },
        seed: { type: "string" },
        laboratories: { type: "string" },
        unquiet: { type: "boolean" },
        hot: { type: "boolean" },
        front: { type: "string" },
        output: { type: "string" },
        "check-link": { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
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

function list(text: string | undefined): string[] {
  return (text ?? "").split(",").flatMap((part) => (part.trim() === "" ? [] : [part.trim()]));
}

function oneOf<Name extends string>(names: readonly Name[], kind: string, name: string): Name {
  const found = names.find((known) => known === name);
  if (found === undefined) throw refusal(`there is no ${kind} "${name}"; there are ${names.join(", ")}`);
  return found;
}

function refusal(reason: string): Error {
  return new Error(`Cannot run the bench: ${reason}`);
}
