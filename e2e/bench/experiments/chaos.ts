/** Chaos: phones whose link is cut and whose edge dies at random, as the contract test of that does it. Its own count. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { root } from "../../../scripts/build/paths.ts";
import type { Outcome, PlannedExperiment } from "../execute.ts";
import { ContestantError } from "../failure.ts";

const TEST = "worker/contract/edge-chaos.contract.test.ts";
/** A line of what the test prints. */
const COUNTS = /^chaos on \w+: (\{.*\})$/gm;

interface Counts {
  readonly cuts: number;
  readonly restarts: number;
  readonly done: Readonly<Record<string, number>>;
  readonly excused: Readonly<Record<string, number>>;
}

export function chaosExperiment(cuts: number): PlannedExperiment {
  return {
    id: "chaos",
    title: "Links that are cut and edges that die, at random",
    metrics: [
      { name: "requests", label: "requests that ended well", unit: "", better: "higher" },
      { name: "told", label: "requests that failed, and said so", unit: "", better: "lower" },
      { name: "cuts", label: "cuts of the link", unit: "", better: "higher" },
      { name: "deaths", label: "deaths of the edge", unit: "", better: "higher" },
    ],
    headline: "requests",
    cells: [
      {
        id: `cuts=${cuts}`,
        at: { cuts },
        floor: {},
        needsQuiet: true,
        prepare: async () => {},
        series: [{ contestant: "phones and edges", estimate: 20 + cuts / 20, run: () => suffer(cuts) }],
      },
    ],
  };
}

/** @throws ContestantError where a byte was wrong, a request was made twice, or something hung: the test says which. */
async function suffer(cuts: number): Promise<Outcome> {
  const vitest = join(root, "node_modules", ".bin", "vitest");
  const child = spawn(vitest, ["run", TEST, "--project", "edges and links", "--disable-console-intercept"], {
    cwd: root,
    env: { ...process.env, ROPEWAY_CHAOS_CUTS: String(cuts) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (said += String(part)));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (code !== 0) throw new ContestantError(`Cannot keep all promises: ${reasonIn(stripVTControlCharacters(said))}`);
  const counts = [...said.matchAll(COUNTS)].map(([, json = ""]) => JSON.parse(json) as Counts);
  const sum = (of: (one: Counts) => number): number => counts.reduce((total, one) => total + of(one), 0);
  const all = (kinds: Readonly<Record<string, number>>): number =>
    Object.values(kinds).reduce((total, count) => total + count, 0);
  return {
    values: {
      cuts: sum((one) => one.cuts),
      deaths: sum(({ restarts }) => restarts),
      requests: sum(({ done }) => all(done)),
      told: sum(({ excused }) => all(excused)),
    },
  };
}

/** @param said by vitest, which ends with lines of the test's source. */
function reasonIn(said: string): string {
  const reasons = [...said.matchAll(/^\w*Error: .*$/gm)].map(([line]) => line.slice(0, 400));
  return reasons.length === 0 ? said.slice(-400) : reasons.join("; ");
}
