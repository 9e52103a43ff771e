/**
 * What heads cost in three codings, the paper's question: as HTTP/1.1 writes them, each compressed by gzip, and in HPACK by
 * the product's own coder. The heads are those of a page's requests as Chromium sends them, and of answers as Caddy gives them.
 */
import { gunzipSync, gzipSync } from "node:zlib";
import * as limits from "../../../shared/limits.ts";
import { HpackDecoder } from "../../../shared/wire/hpack/header-decoder.ts";
import { HpackEncoder } from "../../../shared/wire/hpack/header-encoder.ts";
import type { PlannedCell, PlannedExperiment } from "../execute.ts";
import type { Site } from "../model.ts";
import { filesOf } from "../sites/write-site.ts";

type Fields = readonly (readonly [name: string, value: string])[];

/** Codes heads of one direction of one connection, in order. */
interface Coder {
  encode(fields: Fields): Uint8Array;
  decode(bytes: Uint8Array): unknown;
}

const CODERS: Readonly<Record<string, () => Coder>> = {
  none: () => ({ encode: linesOf, decode: (bytes) => new TextDecoder().decode(bytes).split("\r\n") }),
  "gzip of each head": () => ({
    encode: (fields) => gzipSync(linesOf(fields)),
    decode: (bytes) => String(gunzipSync(bytes)).split("\r\n"),
  }),
  HPACK: () => {
    const encoder = new HpackEncoder({ maxTableBytes: limits.hpackTableBytes });
    const decoder = new HpackDecoder({
      maxTableBytes: limits.hpackTableBytes,
      maxListBytes: limits.headBytes,
      maxFields: 100,
    });
    return { encode: (fields) => encoder.encode(fields), decode: (bytes) => decoder.decode(bytes) };
  },
};

/** A browser's and a server's programs are compiled by then. */
const WARM_UP = 20;

export function headCodingExperiment(sites: readonly Site[]): PlannedExperiment {
  return {
    id: "C-heads",
    title: "What heads cost",
    metrics: [
      { name: "request", label: "a request's head", unit: "B", better: "lower" },
      { name: "response", label: "an answer's head", unit: "B", better: "lower" },
      { name: "time", label: "coding and decoding a head", unit: "ms", better: "lower" },
    ],
    headline: "request",
    cells: sites.map(
      (site): PlannedCell => ({
        id: `page=${site.name}`,
        at: { page: site.name },
        floor: {},
        needsQuiet: true,
        prepare: async () => {},
        series: Object.entries(CODERS).map(([contestant, coder]) => ({
          contestant,
          estimate: 1,
          run: async () => ({ values: measure(coder, await headsOf(site)) }),
        })),
      }),
    ),
  };
}

interface Heads {
  readonly requests: readonly Fields[];
  readonly responses: readonly Fields[];
}

/** Means of all heads of a page. */
function measure(coder: () => Coder, { requests, responses }: Heads): Record<string, number> {
  for (let count = 0; count < WARM_UP; count++) code(coder(), requests);
  const start = performance.now();
  const [request, response] = [code(coder(), requests), code(coder(), responses)];
  const time = (performance.now() - start) / (requests.length + responses.length);
  return { request: request / requests.length, response: response / responses.length, time };
}

/** @returns bytes of all. */
function code(coder: Coder, heads: readonly Fields[]): number {
  return heads.reduce((sum, fields) => {
    const bytes = coder.encode(fields);
    coder.decode(bytes);
    return sum + bytes.length;
  }, 0);
}

function linesOf(fields: Fields): Uint8Array {
  return Buffer.from(`${fields.map(([name, value]) => `${name}: ${value}`).join("\r\n")}\r\n\r\n`);
}

const KINDS: readonly (readonly [ending: RegExp, destination: string, accept: string, type: string])[] = [
  [
    /\/$/,
    "document",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
    "text/html; charset=utf-8",
  ],
  [/\.css$/, "style", "text/css,*/*;q=0.1", "text/css; charset=utf-8"],
  [/\.m?js$/, "script", "*/*", "text/javascript; charset=utf-8"],
  [/\.woff2$/, "font", "*/*", "font/woff2"],
  [/\.json$/, "empty", "*/*", "application/json"],
  [/./, "image", "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", "image/jpeg"],
];

async function headsOf(site: Site): Promise<Heads> {
  const heads: { request: Fields; response: Fields }[] = [];
  for (const address of (await filesOf(site)).keys()) {
    const { host, pathname } = new URL(address);
    const [, destination = "", accept = "", type = ""] = KINDS.find(([ending]) => ending.test(pathname)) ?? [];
    const isDocument = destination === "document";
    heads.push({
      request: [
        ...([
          [":method", "GET"],
          [":scheme", "https"],
          [":authority", host],
          [":path", pathname],
        ] as const),
        ["sec-ch-ua-platform", '"Android"'],
        [
          "user-agent",
          "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
        ],
        ["sec-ch-ua", '"Chromium";v="140", "Not=A?Brand";v="24"'],
        ["sec-ch-ua-mobile", "?1"],
        ["accept", accept],
        ["sec-fetch-site", isDocument ? "none" : host === new URL(site.url).host ? "same-origin" : "cross-site"],
        ["sec-fetch-mode", isDocument ? "navigate" : "no-cors"],
        ["sec-fetch-dest", destination],
        ...(isDocument ? [] : ([["referer", site.url]] as const)),
        ["accept-encoding", "gzip, deflate, br, zstd"],
        ["accept-language", "en-US,en;q=0.9"],
      ],
      response: [
        [":status", "200"],
        ["accept-ranges", "bytes"],
        ["access-control-allow-origin", "*"],
        ["cache-control", "max-age=600"],
        ["content-length", String(pathname.length * 977)],
        ["content-type", type],
        ["date", "Mon, 06 Jan 2025 07:00:00 GMT"],
        ["etag", `"d8f${pathname.length.toString(36)}${(pathname.length * 7919).toString(36)}"`],
        ["last-modified", "Mon, 06 Jan 2025 06:00:00 GMT"],
        ["server", "Caddy"],
        ["vary", "Accept-Encoding"],
      ],
    });
  }
  return { requests: heads.map(({ request }) => request), responses: heads.map(({ response }) => response) };
}
