import { parseArgs } from "node:util";
import { PROFILES } from "../lab/profiles.ts";
import type { GrowthSettings } from "./growth-run.ts";
import type { IdleSettings } from "./idle-run.ts";
import type { Behaviour } from "./phones/task.ts";
import type { PhonesSettings } from "./phones-run.ts";
import { type Experiment, FIELDS, type Runtime } from "./result.ts";

export interface ScaleOptions {
  readonly experiment: Experiment;
  readonly runtime: Runtime;
  readonly quick: boolean;
  readonly seed: number;
  /** Of the phones' traffic. */
  readonly minutes: number;
  /** Directory for the result; the place in the checkout when absent, nowhere with `quick`. */
  readonly output: string | null;
}

export type ScaleCommand =
  | { readonly kind: "run"; readonly options: ScaleOptions }
  /** Counts what the pages of a day cost. */
  | { readonly kind: "day" }
  /** Draws docs/scale/growth.svg from the results in the checkout. */
  | { readonly kind: "draw" }
  | { readonly kind: "help" };

export const USAGE = `npm run scale -- idle|phones|growth|day|draw [options]

  idle     a phone idles for ten minutes on an emulated link of 600 ms round trip (root, workerd): 13 minutes
  phones   500 phones with traffic against one edge process for ten minutes: 13 minutes
  growth   10, 100, 500 and 1,000 phones, as many as an edge lists, each against a fresh edge process: 6 minutes
  day      eight pages of the demo, and what Cloudflare would count of them: a minute
  draw     draws docs/scale/growth.svg from the results in e2e/scale/results

  --runtime workerd|deno   what the edge runs on (workerd)
  --quick                  seconds instead of minutes; keeps no result unless told where
  --minutes N              of traffic, with phones (10)
  --seed N                 of what the phones do (1)
  --output DIRECTORY       for the result (e2e/scale/results)
`;

const LONGEST_MINUTES = 120;

/** A person on a page of 5 to 20 objects. */
const READER: Behaviour = { think: 60_000, cuts: 0.05, downloads: 0.02, downloadBytes: 5_000_000, forms: 0.1 };
const QUICK_READER: Behaviour = { ...READER, think: 500, downloadBytes: 500_000 };

export function phonesSettings({ quick, minutes, seed }: ScaleOptions): PhonesSettings {
  return quick
    ? { phones: 12, seconds: 2, lingerSeconds: 0, hibernationTimeout: 500, behaviour: QUICK_READER, seed }
    : { phones: 500, seconds: 60 * minutes, lingerSeconds: 130, hibernationTimeout: 30_000, behaviour: READER, seed };
}

export function growthSettings({ quick, seed }: ScaleOptions): GrowthSettings {
  return quick
    ? {
        sizes: [2, 6],
        channels: 1,
        warmUpSeconds: 0.2,
        seconds: 1,
        hibernationTimeout: 500,
        behaviour: QUICK_READER,
        seed,
      }
    : {
        sizes: [10, 100, 500, 1_000],
        channels: 1,
        warmUpSeconds: 15,
        seconds: 30,
        hibernationTimeout: 30_000,
        behaviour: READER,
        seed,
      };
}

export function idleSettings({ quick, seed }: ScaleOptions): IdleSettings {
  const behaviour = { ...READER, cuts: 0, downloads: 0, forms: 0 };
  const { sat } = PROFILES;
  return quick
    ? {
        idleSeconds: 2,
        emptySeconds: 0.5,
        laterIdles: 1,
        laterIdleSeconds: 0.5,
        hibernationTimeout: 500,
        link: { ...sat, delay: 20 },
        behaviour,
        seed,
      }
    : {
        idleSeconds: 600,
        emptySeconds: 60,
        laterIdles: 5,
        laterIdleSeconds: 20,
        hibernationTimeout: 30_000,
        link: sat,
        behaviour,
        seed,
      };
}

/** @throws Error "Cannot measure scale: …" on arguments that make no sense. */
export function parseScaleArguments(args: readonly string[]): ScaleCommand {
  const { values, positionals } = parse(args);
  if (values.help) return { kind: "help" };
  const [name, ...more] = positionals;
  if (name === "draw" || name === "day") return { kind: name };
  const experiment = (Object.keys(FIELDS) as Experiment[]).find((known) => known === name);
  if (experiment === undefined || more.length > 0) {
    throw refusal(`it takes one of idle, phones, growth, day and draw, not "${positionals.join(" ")}"`);
  }
  const runtime = values.runtime ?? "workerd";
  if (runtime !== "workerd" && runtime !== "deno") throw refusal(`there is no runtime "${runtime}"`);
  if (experiment === "idle" && runtime === "deno") throw refusal("Deno does not hibernate");
  const seed = Number(values.seed ?? 1);
  if (!Number.isSafeInteger(seed) || seed < 0) throw refusal(`--seed takes a whole number, not "${values.seed}"`);
  const minutes = Number(values.minutes ?? 10);
  if (!(minutes >= 1 && minutes <= LONGEST_MINUTES)) {
    throw refusal(`--minutes takes 1 to ${LONGEST_MINUTES}, not "${values.minutes}"`);
  }
  if (values.minutes !== undefined && experiment !== "phones") throw refusal("--minutes is for phones only");
  const quick = values.quick ?? false;
  return { kind: "run", options: { experiment, runtime, quick, seed, minutes, output: values.output ?? null } };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        runtime: { type: "string" },
        quick: { type: "boolean" },
        minutes: { type: "string" },
        seed: { type: "string" },
        output: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw refusal(error instanceof Error ? error.message : String(error));
  }
}

function refusal(reason: string): Error {
  return new Error(`Cannot measure scale: ${reason}`);
}
