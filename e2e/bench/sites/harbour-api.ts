import { product, story } from "./text/news-text.ts";

const RESOURCES = [
  "berths",
  "vessels",
  "arrivals",
  "departures",
  "pilots",
  "tides",
  "cranes",
  "permits",
  "invoices",
  "alerts",
];

/** An OpenAPI 3 description with five operations for each of ten resources; an edit renames fields and adds a resource. */
export function harbourApi(server: string, version: number): unknown {
  const resources = [...RESOURCES, ...["buoys", "locks", "warehouses"].slice(0, version)];
  return {
    openapi: "3.0.3",
    info: {
      title: "Harbour authority",
      version: `3.${4 + version}.0`,
      description: story(`harbour api ${version}`, 1).paragraphs.join("\n\n"),
    },
    servers: [{ url: server }],
    paths: Object.fromEntries(resources.flatMap((resource) => pathsOf(resource))),
    components: { schemas: Object.fromEntries(resources.map((resource) => [resource, schemaOf(resource)])) },
  };
}

function pathsOf(resource: string): readonly (readonly [string, unknown])[] {
  const content = { "application/json": { schema: { $ref: `#/components/schemas/${resource}` } } };
  const operation = (verb: string, summary: string): unknown => ({
    tags: [resource],
    operationId: `${verb}-${resource}`,
    summary,
    description: story(`${verb} ${resource}`, 0).summary,
    responses: {
      200: { description: "Done", content },
      403: { description: "The key may not do this" },
      429: { description: "Too many requests, see Retry-After" },
    },
  });
  const parameters = [
    { name: "id", in: "path", required: true, schema: { type: "string", format: "uuid" } },
    { name: "quay", in: "query", schema: { type: "string", enum: ["north", "east", "fish", "customs"] } },
  ];
  return [
    [`/${resource}`, { get: operation("list", `All ${resource}`), post: operation("add", `Register in ${resource}`) }],
    [
      `/${resource}/{id}`,
      {
        parameters,
        get: operation("get", `One of ${resource}`),
        put: operation("replace", `Replace one of ${resource}`),
        delete: operation("remove", `Remove one of ${resource}`),
      },
    ],
  ];
}

function schemaOf(resource: string): unknown {
  return {
    type: "object",
    required: ["id", "name"],
    properties: {
      id: { type: "string", format: "uuid" },
      name: { type: "string", example: product(resource).name },
      since: { type: "string", format: "date-time", description: product(`${resource} since`).description },
      draughtMetres: { type: "number", minimum: 0, maximum: 14 },
      state: { type: "string", enum: ["expected", "moored", "under way", "held"] },
    },
  };
}
