/** The form of `e2e/scale/results/*.json`, checked when results are written and when they are read. */
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";

/** What each experiment tells of a run, and of each moment or size of it. Bytes, seconds, milliseconds as named. */
export const FIELDS = {
  idle: {
    figures: [
      "warmMilliseconds",
      "wakeMilliseconds",
      "laterWakeMilliseconds",
      "secondsToHibernate",
      "objectsWhileIdle",
      "keepAlives",
      "otherAppBytes",
      "linkBytesUp",
      "linkBytesDown",
      "linkPacketsUp",
      "linkPacketsDown",
      "idleWakeupsPerMinute",
      "emptyWakeupsPerMinute",
      "idleCpuMillisecondsPerMinute",
      "emptyCpuMillisecondsPerMinute",
    ],
    samples: ["second", "objects", "linkBytes", "linkPackets", "keepAlives", "wakeups", "cpuSeconds", "pssBytes"],
  },
  phones: {
    figures: [
      "requests",
      "failed",
      "downloads",
      "bytes",
      "cuts",
      "resumes",
      "sessionsLost",
      "latencyMedian",
      "latency95",
      "latency99",
      "cpuMillisecondsPerRequest",
      "pssEmpty",
      "pssSecondMinute",
      "pssLastMinute",
      "pssPeak",
      "pssBytesPerMinute",
      "pssRested",
      "pssLeft",
      "objectsLeft",
    ],
    samples: [
      "second",
      "pssBytes",
      "objects",
      "requests",
      "failed",
      "latencyMedian",
      "latency95",
      "edgeCpu",
      "phonesCpu",
      "load",
    ],
  },
  growth: {
    figures: ["bytesPerIdleSession", "bytesPerAwakeSession", "failed"],
    samples: [
      "phones",
      "pssEmpty",
      "pssIdle",
      "pssAwake",
      "pssTraffic",
      "objectsIdle",
      "objectsAwake",
      "requests",
      "failed",
      "requestsPerSecond",
      "cpuMillisecondsPerRequest",
      "edgeCpu",
      "phonesCpu",
      "latencyMedian",
      "latency95",
      "load",
    ],
  },
} as const;

export type Experiment = keyof typeof FIELDS;
export type Runtime = "workerd" | "deno";
export type Figures<Name extends Experiment> = Readonly<Record<(typeof FIELDS)[Name]["figures"][number], number>>;
export type Sample<Name extends Experiment> = Readonly<Record<(typeof FIELDS)[Name]["samples"][number], number>>;

export interface Outcome<Name extends Experiment> {
  /** What was asked for. */
  readonly settings: Readonly<Record<string, number | string>>;
  readonly figures: Figures<Name>;
  readonly samples: readonly Sample<Name>[];
  /** Why requests failed, each reason once. */
  readonly failures: readonly string[];
}

interface Run<Name extends Experiment> extends Outcome<Name> {
  readonly schema: 1;
  readonly experiment: Name;
  readonly runtime: Runtime;
  readonly startedAt: string;
  readonly seconds: number;
  readonly quick: boolean;
  readonly machine: Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, string>>;
  /** Mean number of runnable processes in the minute before the run, and in its last. */
  readonly load: { readonly before: number; readonly after: number };
}

export type ScaleResult = { [Name in Experiment]: Run<Name> }[Experiment];

const text = { type: "string", minLength: 1 } as const;
const number = { type: "number" } as const;
const texts = { type: "object", additionalProperties: text } as const;

function exactly(names: readonly string[]): object {
  const properties = Object.fromEntries(names.map((name) => [name, number]));
  return { type: "object", properties, required: names, additionalProperties: false };
}

function schemaOf(experiment: Experiment): object {
  const properties = {
    schema: { const: 1 },
    experiment: { const: experiment },
    runtime: { enum: ["workerd", "deno"] },
    startedAt: { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}T[\\d:.]+Z$" },
    seconds: { type: "number", minimum: 0 },
    quick: { type: "boolean" },
    machine: texts,
    versions: texts,
    load: exactly(["before", "after"]),
    settings: { type: "object", additionalProperties: { type: ["number", "string"] } },
    figures: exactly(FIELDS[experiment].figures),
    samples: { type: "array", minItems: 1, items: exactly(FIELDS[experiment].samples) },
    failures: { type: "array", items: text },
  };
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
const schemas = {
  idle: ajv.compile(schemaOf("idle")),
  phones: ajv.compile(schemaOf("phones")),
  growth: ajv.compile(schemaOf("growth")),
};

/**
 * @param json the text of a result file.
 * @throws Error "Cannot read the result: …", with the JSON pointer of each fault.
 */
export function readScaleResult(json: string): ScaleResult {
  let value: { readonly experiment?: string };
  try {
    value = JSON.parse(json) as typeof value;
  } catch (error) {
    throw new Error(`Cannot read the result: it is no JSON, ${error instanceof Error ? error.message : error}`);
  }
  const experiment = (Object.keys(FIELDS) as Experiment[]).find((name) => name === value?.experiment);
  if (experiment === undefined)
    throw new Error(`Cannot read the result: /experiment "${value?.experiment}" is unknown`);
  const matches = schemas[experiment];
  if (matches(value)) return value as ScaleResult;
  const faults = (matches.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath || "the result"} ${message}`,
  );
  throw new Error(`Cannot read the result: ${faults.slice(0, 5).join("; ")}`);
}

/** Writes the result as a whole or not at all, a sample a line. */
export async function writeScaleResult(path: string, result: ScaleResult): Promise<void> {
  const lines = Object.entries(result).map(([name, value]) => {
    const body =
      name === "samples"
        ? `[\n  ${(value as object[]).map((sample) => JSON.stringify(sample)).join(",\n  ")}\n ]`
        : JSON.stringify(value);
    return ` ${JSON.stringify(name)}: ${body}`;
  });
  const json = `{\n${lines.join(",\n")}\n}\n`;
  readScaleResult(json);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.partial`, json);
  await rename(`${path}.partial`, path);
}
