/** The form of `e2e/bench/results/*.json`, checked when results are written and when they are read. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { gunzipSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import { count, duration, faultOf, list, listFaults, name, number, record, text, whole } from "./json-schema.ts";
import type { BenchResult } from "./model.ts";

const frame = whole({
  at: number,
  picture: { type: "string", pattern: "^data:image/(jpeg|png|webp);base64,[A-Za-z0-9+/]+=*$" },
});

const timeline = whole({
  points: list({ type: "array", prefixItems: [duration, duration], minItems: 2, maxItems: 2 }),
  outage: whole({ from: duration, to: duration }),
  load: duration,
  reload: { ...whole({ at: duration, reason: text }), type: ["object", "null"] },
});

const failure = { ...whole({ blame: { enum: ["harness", "contestant"] }, message: text }), type: ["object", "null"] };

const run = {
  ...whole(
    { round: count, values: record(number), failure },
    { processorsBusy: { type: "number", minimum: 0, maximum: 1 }, filmstrip: list(frame), timeline },
  ),
  if: { properties: { failure: { type: "object" } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { values: { type: "object", maxProperties: 0 } } },
};

const cell = whole(
  {
    id: name,
    at: record({ type: ["string", "number"] }),
    floor: record(number),
    series: list(whole({ contestant: name, runs: list(run) })),
  },
  { congestion: { enum: ["bbr", "cubic"] }, ropeway: name },
);

const metric = whole({ name, label: name, unit: text, better: { enum: ["lower", "higher"] } });

const experiment = whole({
  id: { type: "string", pattern: "^[A-Za-z][A-Za-z0-9-]*$" },
  title: name,
  paper: text,
  metrics: { ...list(metric), minItems: 1 },
  headline: name,
  cells: list(cell),
});

/** JSON Schema (draft 2020-12) of `BenchResult`. */
export const RESULT_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Result of one run of Ropeway's bench",
  ...whole(
    {
      schema: { const: 1 },
      startedAt: {
        type: "string",
        pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?(Z|[+-]\\d{2}:\\d{2})$",
      },
      seconds: duration,
      mode: { enum: ["quick", "full", "smoke"] },
      seed: { type: "integer" },
      rounds: count,
      warmUpRounds: count,
      machine: record(text),
      versions: record(text),
      links: record(record({ type: ["string", "number"] })),
      experiments: list(experiment),
    },
    { mostRounds: count, laboratories: { type: "integer", minimum: 1 }, options: list(text) },
  ),
};

const matchesSchema = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile<BenchResult>(RESULT_SCHEMA);

/**
 * @param json the text of a result file.
 * @throws Error "Cannot read the bench result: …", with the JSON pointer of each fault.
 */
export function readResult(json: string): BenchResult {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new Error(`Cannot read the bench result: it is no JSON, ${error instanceof Error ? error.message : error}`);
  }
  const { result, faults } = check(value);
  if (result === null) throw new Error(`Cannot read the bench result: ${listFaults(faults)}`);
  return result;
}

/**
 * @param path of a result; one that ends on `.gz` is compressed.
 * @throws Error as `readResult` does.
 */
export async function readResultFile(path: string): Promise<BenchResult> {
  const content = await readFile(path);
  return readResult((path.endsWith(".gz") ? gunzipSync(content) : content).toString("utf8"));
}

/**
 * Writes the result as a whole or not at all, and makes its directory. A result that breaks the schema goes to
 * `PATH.refused` instead, so that hours of measuring are not lost with it.
 *
 * @throws Error "Cannot write the bench result to PATH: …", with the JSON pointer of each fault.
 */
export async function writeResult(path: string, result: BenchResult): Promise<void> {
  const { faults } = check(result);
  await mkdir(dirname(path), { recursive: true });
  if (faults.length > 0) {
    await writeFile(`${path}.refused`, `${serialize(result)}\n`);
    throw new Error(`Cannot write the bench result to ${path}: ${listFaults(faults)}; it is kept as ${path}.refused`);
  }
  await writeFile(`${path}.partial`, `${serialize(result)}\n`);
  await rename(`${path}.partial`, path);
}

/** Characters of a value that stays on one line: a run does, without its filmstrip. */
const LINE = 480;

/** JSON in which a change of one run is a change of one line. */
function serialize(value: unknown, indent = ""): string {
  const flat = JSON.stringify(value);
  if (flat.length <= LINE || typeof value !== "object" || value === null) return flat;
  const deeper = `${indent} `;
  const lines = Array.isArray(value)
    ? value.map((item) => deeper + serialize(item, deeper))
    : Object.entries(value).map(([key, item]) => `${deeper}${JSON.stringify(key)}: ${serialize(item, deeper)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

function check(value: unknown): { result: BenchResult | null; faults: string[] } {
  if (!matchesSchema(value))
    return { result: null, faults: (matchesSchema.errors ?? []).flatMap((error) => faultOf(error, "the result")) };
  const faults = inconsistencies(value);
  return { result: faults.length > 0 ? null : value, faults };
}

/** What a schema cannot say. */
function inconsistencies({ experiments }: BenchResult): string[] {
  return [
    ...repeated("/experiments", experiments, ({ id }) => `experiment "${id}"`),
    ...experiments.flatMap(({ headline, metrics, cells }, index) => {
      const path = `/experiments/${index}`;
      return [
        ...(metrics.some((each) => each.name === headline)
          ? []
          : [`${path}/headline "${headline}" is not among the metrics`]),
        ...repeated(`${path}/metrics`, metrics, (each) => `metric "${each.name}"`),
        ...repeated(`${path}/cells`, cells, ({ id }) => `cell "${id}"`),
        ...cells.flatMap(({ series }, number) =>
          repeated(`${path}/cells/${number}/series`, series, ({ contestant }) => `contestant "${contestant}"`),
        ),
      ];
    }),
  ];
}

function repeated<T>(path: string, items: readonly T[], label: (item: T) => string): string[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const again = seen.has(label(item));
    seen.add(label(item));
    return again ? [`${path}/${index} has ${label(item)} a second time`] : [];
  });
}
