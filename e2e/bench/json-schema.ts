/** What schemas of the bench's files are made of (JSON Schema, draft 2020-12), and what their faults say. */
import type { ErrorObject } from "ajv/dist/2020.js";

export const text = { type: "string" } as const;
export const name = { type: "string", minLength: 1 } as const;
export const number = { type: "number" } as const;
export const count = { type: "integer", minimum: 0 } as const;
export const duration = { type: "number", minimum: 0 } as const;

/** Of any keys. */
export function record(values: object): object {
  return { type: "object", additionalProperties: values };
}

export function list(items: object): object {
  return { type: "array", items };
}

/** Of these keys and no others. */
export function whole(
  properties: Readonly<Record<string, object>>,
  optional: Readonly<Record<string, object>> = {},
): object {
  return {
    type: "object",
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** Faults that are named in one message; a hundred cells can have the same one. */
const FAULTS_NAMED = 5;

/**
 * @param subject what the value is called.
 * @returns nothing for the condition around an error that says what is wrong.
 */
export function faultOf({ instancePath, keyword, message, params }: ErrorObject, subject: string): string[] {
  if (keyword === "if") return [];
  const path = instancePath === "" ? subject : instancePath;
  if (keyword === "additionalProperties") return [`${path} must not have "${params.additionalProperty}"`];
  if (keyword === "const") return [`${path} must be ${JSON.stringify(params.allowedValue)}`];
  if (keyword === "enum") return [`${path} must be one of ${JSON.stringify(params.allowedValues)}`];
  if (keyword === "maxProperties") return [`${path} must be empty: the run failed`];
  return [`${path} ${message ?? keyword}`];
}

export function listFaults(faults: readonly string[]): string {
  const more = faults.length - FAULTS_NAMED;
  return faults.slice(0, FAULTS_NAMED).join("; ") + (more > 0 ? `; and ${more} more` : "");
}
