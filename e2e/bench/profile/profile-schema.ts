/** The form of `*-profile.json`, checked when a profile is written. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { count, duration, faultOf, list, listFaults, name, number, record, text, whole } from "../json-schema.ts";
import type { ProfileResult } from "./model.ts";

const perhaps = { type: ["number", "null"] };
const threads = list(whole({ thread: name, time: duration }));
const code = list(whole({ thread: name, source: text, functionName: { type: ["string", "null"] }, time: duration }));

const phoneTime = whole({ all: duration, compiling: duration });

const cell = whole(
  {
    id: name,
    loads: { ...list(duration), minItems: 1 },
    directLoads: { ...list(duration), minItems: 1 },
    phases: list(whole({ name, at: number })),
    link: whole({
      idleDown: duration,
      idleUp: duration,
      idle: duration,
      bytesDown: count,
      bytesUp: count,
      firstDown: perhaps,
      lastDown: perhaps,
    }),
    messages: whole({ up: count, down: count, bytesUp: count, bytesDown: count }),
    phoneThreads: threads,
    edgeThreads: threads,
    profiledLoad: duration,
    phoneSources: code,
    phoneFunctions: code,
    edgeSources: code,
    edgeFunctions: code,
  },
  { phoneTimes: whole({ ropeway: phoneTime, direct: phoneTime }) },
);

const schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Where the time of some visits went",
  ...whole({
    schema: { const: 1 },
    startedAt: { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?Z$" },
    rounds: count,
    machine: record(text),
    versions: record(text),
    cells: { ...list(cell), minItems: 1 },
  }),
};

const matchesSchema = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile<ProfileResult>(schema);

/** @returns what of the schema the value breaks, as text; null where nothing. */
export function profileFault(value: unknown): string | null {
  if (matchesSchema(value)) return null;
  return listFaults((matchesSchema.errors ?? []).flatMap((error) => faultOf(error, "the profile")));
}
