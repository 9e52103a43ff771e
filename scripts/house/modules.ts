/**
 * The modules of the product. A module has few doors: the files that others import. All else in it can be rewritten with
 * nobody outside noticing. `npm run check` holds every import against this table.
 */
import { posix } from "node:path";
import { isTesting } from "./import-direction.ts";
import type { SourceShape } from "./source-shape.ts";

export interface Module {
  readonly name: string;
  readonly purpose: string;
  /** Folders, with a slash at the end, and files. The longest place that fits has a file. */
  readonly places: readonly string[];
  /** Files that other modules import: one, or one for each runtime or part that loads late. */
  readonly doors: readonly string[];
  /** Modules that this one may import. */
  readonly uses: readonly string[];
}

export const MODULES: readonly Module[] = [
  {
    name: "base",
    purpose: "errors, limits, clocks and encodings that all others use",
    places: ["shared/"],
    doors: [
      "shared/errors.ts",
      "shared/limits.ts",
      "shared/clock.ts",
      "shared/base-encodings.ts",
      "shared/bounded-map.ts",
      "shared/access-key.ts",
      "shared/devices.ts",
      "shared/fair-shares.ts",
      "shared/version.ts",
    ],
    uses: [],
  },
  {
    name: "link",
    purpose: "sessions of streams over channels, with credit; their frames as bytes; the sockets' names and roads",
    places: [
      "shared/mux/",
      "shared/wire/",
      "shared/fetch-road/",
      "shared/transport.ts",
      "shared/phone-socket.ts",
      "shared/subprotocol.ts",
    ],
    doors: [
      "shared/mux/session/session.ts",
      "shared/mux/stream/stream.ts",
      "shared/wire/frame.ts",
      "shared/transport.ts",
      "shared/phone-socket.ts",
      "shared/subprotocol.ts",
      "shared/fetch-road/record.ts",
      "shared/mux/pipe/channel.ts",
      "shared/mux/session/channel-set.ts",
    ],
    uses: ["base"],
  },
  {
    name: "http",
    purpose: "requests and responses as streams of a session",
    places: ["shared/http/"],
    doors: [
      "shared/http/heads.ts",
      "shared/http/head-fields.ts",
      "shared/http/phone-fields.ts",
      "shared/http/phone-traits.ts",
      "shared/http/exchange.ts",
      "shared/http/socket-records.ts",
    ],
    uses: ["base", "coding", "link"],
  },
  {
    name: "coding",
    purpose: "codings of bodies on the link",
    places: ["shared/coding/"],
    doors: ["shared/coding/link-coding.ts"],
    uses: ["base"],
  },
  {
    name: "cache-rules",
    purpose: "rules of HTTP caches (RFC 9111)",
    places: ["shared/http-cache/"],
    doors: ["shared/http-cache/cache-rules.ts"],
    uses: ["base", "http", "web-rules"],
  },
  {
    name: "web-rules",
    purpose: "rules of the web that both ends apply: cookies, policies, origins",
    places: ["shared/web/"],
    doors: [
      "shared/web/origin.ts",
      "shared/web/cookie.ts",
      "shared/web/policies.ts",
      "shared/web/html-tokens.ts",
      "shared/web/read-marks.ts",
      "shared/web/documents.ts",
      "shared/web/image-facts.ts",
    ],
    uses: ["base", "http"],
  },
  {
    name: "origin",
    purpose: "one exchange with an origin, as a browser would have it",
    places: ["worker/upstream/"],
    doors: [
      "worker/upstream/upstream.ts",
      "worker/upstream/cookie-jar.ts",
      "worker/upstream/origin-socket.ts",
      "worker/upstream/send.ts",
      "worker/upstream/response-body.ts",
      "worker/upstream/lenient-http.ts",
      "worker/upstream/destination.ts",
      "worker/upstream/fields.ts",
      "worker/upstream/site.ts",
    ],
    uses: ["base", "cache-rules", "coding", "http", "link", "web-rules"],
  },
  {
    name: "shared-cache",
    purpose: "responses that phones share, and pages that links lead to",
    places: ["worker/shared-cache/"],
    doors: [
      "worker/shared-cache/shared-responses.ts",
      "worker/shared-cache/page-warmer.ts",
      "worker/shared-cache/site-entries.ts",
    ],
    uses: ["base", "cache-rules", "http", "link", "origin", "web-rules"],
  },
  {
    name: "delivery",
    purpose: "a response on its way to the phone: references, pictures, dictionaries, codings",
    places: ["worker/delivery/"],
    doors: [
      "worker/delivery/session-delivery.ts",
      "worker/delivery/edge-handler.ts",
      "worker/delivery/shared-parts.ts",
      "worker/delivery/dictionaries.ts",
      "worker/delivery/images/picture-codecs.ts",
    ],
    uses: ["base", "blocking", "cache-rules", "coding", "http", "link", "origin", "push", "shared-cache", "web-rules"],
  },
  {
    name: "push",
    purpose: "resources that a document will ask for, learned and sent ahead",
    places: ["worker/push/"],
    doors: ["worker/push/document-push.ts", "worker/push/push-order.ts"],
    uses: ["base", "http", "link", "web-rules"],
  },
  {
    name: "session",
    purpose: "a phone's sessions and their sockets",
    places: ["worker/session/"],
    doors: ["worker/session/tunnel-server.ts", "worker/session/fetch-road.ts"],
    uses: ["base", "delivery", "http", "link"],
  },
  {
    name: "devices",
    purpose: "paired devices, their tokens and terms",
    places: ["worker/devices/"],
    doors: ["worker/devices/phone-door.ts", "worker/devices/device-directory.ts", "worker/devices/record-store.ts"],
    uses: ["base", "link"],
  },
  {
    name: "blocking",
    purpose: "block lists, and the requests that they stop",
    places: ["worker/blocking/"],
    doors: ["worker/blocking/tracker-blocker.ts"],
    uses: ["base", "devices", "http", "link"],
  },
  {
    name: "front",
    purpose: "hosts, routes and settings of the edge",
    places: ["worker/front/"],
    doors: ["worker/front/router.ts", "worker/front/edge-settings.ts", "worker/front/hosts.ts"],
    uses: ["base", "devices", "link", "origin"],
  },
  {
    name: "workerd",
    purpose: "the entry on workerd, and parts that only workerd has",
    places: ["worker/workerd/"],
    doors: [],
    uses: [
      "base",
      "blocking",
      "delivery",
      "devices",
      "front",
      "http",
      "link",
      "origin",
      "session",
      "shared-cache",
      "web-rules",
    ],
  },
  {
    name: "deno",
    purpose: "the entry on Deno, and parts that only Deno has",
    places: ["worker/deno/"],
    doors: [],
    uses: ["base", "blocking", "delivery", "devices", "front", "link", "origin", "session", "shared-cache"],
  },
  {
    name: "messages",
    purpose: "messages between windows and workers",
    places: ["pwa/messages/"],
    doors: [
      "pwa/messages/tunnel-messages.ts",
      "pwa/messages/page-messages.ts",
      "pwa/messages/worker-messages.ts",
      "pwa/messages/port-messages.ts",
      "pwa/messages/lite-messages.ts",
      "pwa/messages/find-messages.ts",
      "pwa/messages/socket-messages.ts",
    ],
    uses: ["base", "http", "link", "web-rules"],
  },
  {
    name: "platform",
    purpose: "databases and late scripts, asked for again where the browser has not given them",
    places: ["pwa/platform/"],
    doors: ["pwa/platform/platform.ts"],
    uses: [],
  },
  {
    name: "exchange",
    purpose: "a request of the phone and its answer, between the sources that may give it",
    places: ["pwa/tunnel/exchange/"],
    doors: ["pwa/tunnel/exchange/exchange.ts"],
    uses: ["base", "http", "link"],
  },
  {
    name: "decoders",
    purpose: "codings that the phone undoes with scripts that load late: brotli, and bodies coded against stored ones",
    places: ["pwa/tunnel/coding/"],
    doors: ["pwa/tunnel/coding/late-decoder.ts", "pwa/tunnel/coding/brotli-chunk.ts", "pwa/tunnel/coding/dcz-chunk.ts"],
    uses: ["base", "coding", "link"],
  },
  {
    name: "store",
    purpose: "responses that the phone keeps: asked, kept, forgotten, questions about them",
    places: ["pwa/tunnel/store/"],
    doors: ["pwa/tunnel/store/store.ts", "pwa/tunnel/store/store-chunk.ts"],
    uses: [
      "base",
      "cache-rules",
      "coding",
      "decoders",
      "exchange",
      "http",
      "link",
      "messages",
      "web-rules",
      "platform",
    ],
  },
  {
    name: "asking",
    purpose: "the tunnel worker: requests of slots on their way to the edge, and the sockets there",
    places: ["pwa/tunnel/"],
    doors: [],
    uses: ["base", "coding", "decoders", "exchange", "http", "link", "messages", "store", "web-rules", "platform"],
  },
  {
    name: "slot",
    purpose: "scripts in a page's documents, and changes that the worker makes to them",
    places: ["pwa/slot/"],
    doors: [
      "pwa/slot/slot-url.ts",
      "pwa/slot/policy.ts",
      "pwa/slot/page-workers.ts",
      "pwa/slot/page/find-text.ts",
      "pwa/slot/page/reader.ts",
      "pwa/slot/documents/page-config.ts",
      "pwa/slot/rewrite/html-rewriter.ts",
      "pwa/slot/rewrite/response-headers.ts",
      "pwa/slot/shortcuts.ts",
      "pwa/slot/words.ts",
    ],
    uses: ["base", "http", "messages", "web-rules"],
  },
  {
    name: "workers",
    purpose: "service workers of the app and of slots",
    places: ["pwa/sw/"],
    doors: [],
    uses: ["base", "http", "link", "messages", "slot", "web-rules"],
  },
  {
    name: "shell",
    purpose: "the app without its looks: tab, frames, sites, settings",
    places: ["pwa/shell/"],
    doors: [
      "pwa/shell/app/start.ts",
      "pwa/shell/app/state.ts",
      "pwa/shell/app/settings.ts",
      "pwa/shell/app/language.ts",
      "pwa/shell/app/language-choice.ts",
      "pwa/shell/app/site-answers.ts",
      "pwa/shell/app/phone.ts",
      "pwa/shell/link/pairing.ts",
      "pwa/shell/frames/places.ts",
      "pwa/shell/tab/address-input.ts",
      "pwa/shell/tab/openings.ts",
    ],
    uses: ["base", "http", "link", "messages", "slot", "platform", "web-rules"],
  },
  {
    name: "library",
    purpose: "pages that the person has visited or marked",
    places: ["pwa/shell/library/"],
    doors: ["pwa/shell/library/library.ts"],
    uses: ["shell", "platform"],
  },
  {
    name: "lite",
    purpose: "pages without scripts, on the base host",
    places: ["pwa/shell/lite/"],
    doors: [],
    uses: ["base", "link", "messages", "shell"],
  },
  {
    name: "views",
    purpose: "the app as a person sees it",
    places: ["pwa/shell/views/"],
    doors: [
      "pwa/shell/views/mount.tsx",
      "pwa/shell/views/sheets/sheets-chunk.tsx",
      "pwa/shell/views/library/library-chunk.tsx",
    ],
    uses: ["base", "library", "messages", "shell", "slot", "web-rules", "platform"],
  },
  {
    name: "main",
    purpose: "the entry of the app's page: the shell, and its looks",
    places: ["pwa/shell/main/"],
    doors: [],
    uses: ["shell", "views", "platform"],
  },
];

const byPlace = MODULES.flatMap((module) => module.places.map((place) => ({ place, module }))).sort(
  (a, b) => b.place.length - a.place.length,
);

/** The module that a file of the product belongs to. Tests, and helpers of tests, belong to none. */
export function moduleOf(path: string): Module | undefined {
  if (isTesting(path)) return undefined;
  return byPlace.find(({ place }) => path === place || (place.endsWith("/") && path.startsWith(place)))?.module;
}

/** An import of one module's file by another. */
interface Crossing {
  readonly importer: string;
  readonly from: Module;
  readonly imported: string;
  readonly to: Module;
  readonly names: readonly string[];
}

/** @param shapes all source files of the project, by path. */
export function moduleFaults(shapes: ReadonlyMap<string, SourceShape>): string[] {
  const crossings = crossingsOf(shapes);
  return [
    ...crossings.flatMap(crossingFaults),
    ...MODULES.flatMap((module) => unusedFaults(module, crossings)),
    ...MODULES.flatMap((module) => missingFaults(module, shapes)),
    ...[...shapes].flatMap(([path, shape]) => exportFaults(path, shape)),
    ...circleFaults(MODULES),
  ];
}

/** Names that cross the border of each module, a line each, and their sum. */
export function borderTable(shapes: ReadonlyMap<string, SourceShape>): string {
  const crossings = crossingsOf(shapes);
  const rows = MODULES.map(({ name, doors }) => {
    const inward = crossings.filter(({ to }) => to.name === name);
    const names = new Set(inward.flatMap(({ imported, names }) => names.map((each) => `${imported} ${each}`)));
    return { name, doors: doors.length, names: names.size };
  });
  const sum = rows.reduce((total, { names }) => total + names, 0);
  return [
    "| module | doors | names that others use |",
    "| --- | ---: | ---: |",
    ...rows.map(({ name, doors, names }) => `| ${name} | ${doors} | ${names} |`),
    `| all | | ${sum} |`,
  ].join("\n");
}

/** The map of CONTRIBUTING.md: a module a line. All may use `base`. */
export function moduleMap(): string {
  const rows = MODULES.map(({ name, purpose, places, doors, uses }) => {
    const [place = ""] = places;
    const inPlace = (door: string): string => `\`${door.startsWith(place) ? door.slice(place.length) : door}\``;
    return `| **${name}** \`${place}\` | ${purpose} | ${doors.map(inPlace).join(", ")} | ${uses.filter((other) => other !== "base").join(", ")} |`;
  });
  return ["| module | purpose | doors | may use |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

/** @param contributing text of CONTRIBUTING.md. */
export function mapFaults(contributing: string): string[] {
  if (contributing.includes(`\n${moduleMap()}\n`)) return [];
  return ["CONTRIBUTING.md: the map of modules is another: node scripts/house/check-house.ts --map writes it"];
}

/** @returns CONTRIBUTING.md with the map of today in place of its own. */
export function withMap(contributing: string): string {
  return contributing.replace(/^\| module \| purpose .*\n(\|.*\n)*/m, () => `${moduleMap()}\n`);
}

function crossingsOf(shapes: ReadonlyMap<string, SourceShape>): Crossing[] {
  return [...shapes].flatMap(([importer, { imports }]) => {
    const from = moduleOf(importer);
    if (from === undefined) return [];
    return imports
      .filter(({ specifier }) => specifier.startsWith("."))
      .flatMap(({ specifier, names }) => {
        const imported = posix.join(posix.dirname(importer), specifier);
        const to = moduleOf(imported);
        return to === undefined || to === from ? [] : [{ importer, from, imported, to, names }];
      });
  });
}

function crossingFaults({ importer, from, imported, to }: Crossing): string[] {
  const faults: string[] = [];
  if (!from.uses.includes(to.name)) faults.push(`${importer}: ${from.name} may not use ${to.name} (${imported})`);
  if (!to.doors.includes(imported))
    faults.push(`${importer}: may not import ${imported} past the doors of ${to.name}: ${to.doors.join(", ")}`);
  return faults;
}

function unusedFaults({ name, doors, uses }: Module, crossings: readonly Crossing[]): string[] {
  const entered = new Set(crossings.map(({ imported }) => imported));
  const used = new Set(crossings.filter(({ from }) => from.name === name).map(({ to }) => to.name));
  return [
    ...doors
      .filter((file) => !entered.has(file))
      .map((file) => `${file}: nobody outside ${name} imports it; it is no door`),
    ...uses.filter((other) => !used.has(other)).map((other) => `${name}: does not use ${other} any more`),
  ];
}

function missingFaults({ name, doors }: Module, shapes: ReadonlyMap<string, SourceShape>): string[] {
  return doors.filter((file) => !shapes.has(file)).map((file) => `${file}: a door of ${name}, and not there`);
}

/** All that a file of a module exports has its name there. */
function exportFaults(path: string, { exportsAll }: SourceShape): string[] {
  return exportsAll && moduleOf(path) !== undefined ? [`${path}: "export *": name what it exports`] : [];
}

/** Two modules that use each other, straight or through others, are one. */
export function circleFaults(modules: readonly Pick<Module, "name" | "uses">[]): string[] {
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const next of modules.find(({ name }) => name === from)?.uses ?? [])
      if (!seen.has(next)) reach(next, seen.add(next));
    return seen;
  };
  return modules.filter(({ name }) => reach(name).has(name)).map(({ name }) => `${name}: uses itself, through others`);
}
