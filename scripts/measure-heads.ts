/**
 * What heads cost on the link, as the product codes them: bytes of blocks for each byte of names and values in the stories,
 * and of lines of HTTP/1.1 in the logs.
 *
 *   node scripts/measure-heads.ts STORIES LOGS
 *
 * STORIES is the folder `raw-data` of github.com/http2jp/hpack-test-case: each file is a connection. LOGS is a folder of what
 * Chromium logged of pages, as `test/perflogs` of github.com/sitespeedio/chrome-har: each file is a page, of whose requests
 * and responses the phone and the edge say what origins and pages have to know. Cookies are left out of both sides there.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { requestToFields, responseToFields } from "../shared/http/head-fields.ts";
import type { Destination, HeaderList, RequestHead } from "../shared/http/heads.ts";
import * as limits from "../shared/limits.ts";
import type { EncodableField } from "../shared/wire/frame.ts";
import { HpackEncoder } from "../shared/wire/hpack/header-encoder.ts";
import { endToEndFields, pageFields } from "../worker/upstream/fields.ts";

type Fields = Readonly<Record<string, string>>;

interface Story {
  readonly cases: readonly { readonly headers: readonly Fields[] }[];
}

/** Of the DevTools protocol: `Network.requestWillBeSent`, `Network.responseReceived`. */
interface LogEvent {
  readonly method: string;
  readonly params: {
    readonly type?: string;
    readonly documentURL?: string;
    readonly requestId?: string;
    readonly request?: { readonly url: string; readonly method: string };
    readonly response?: {
      readonly url: string;
      readonly status: number;
      readonly headers: Fields;
      readonly requestHeaders?: Fields;
    };
  };
}

/** Bytes of `: ` and the end of a line. */
const LINE = 4;

const DESTINATIONS: Readonly<Record<string, Destination>> = {
  Document: "document",
  Font: "font",
  Image: "image",
  Media: "video",
  Script: "script",
  Stylesheet: "style",
};

/** Of one direction of a connection. */
class Coded {
  readonly #encoder = new HpackEncoder({ maxTableBytes: limits.hpackTableBytes });
  coded = 0;
  plain = 0;

  /** @param perLine bytes that a line has beside its name and value. */
  add(fields: readonly EncodableField[], plain: HeaderList, perLine: number): void {
    this.coded += this.#encoder.encode(fields).length;
    for (const [name, value] of plain) this.plain += Buffer.byteLength(name) + Buffer.byteLength(value) + perLine;
  }
}

function tell(what: string, all: readonly Coded[]): void {
  const sum = (key: "coded" | "plain"): number => all.reduce((total, each) => total + each[key], 0);
  console.log(
    `${what}: ${(sum("coded") / sum("plain")).toFixed(4)} of ${sum("plain")} bytes, ${all.length} connections`,
  );
}

const filesOf = (folder: string): unknown[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as unknown);

function story({ cases }: Story): Coded {
  const coded = new Coded();
  for (const { headers } of cases) {
    const fields = headers.flatMap((each) => Object.entries(each));
    coded.add(fields, fields, 0);
  }
  return coded;
}

const withoutCookies = (fields: Fields): HeaderList =>
  Object.entries(fields).filter(([name]) => !/^(?::.*|(?:set-)?cookie2?)$/i.test(name));

function page(events: readonly LogEvent[]): { readonly requests: Coded; readonly responses: Coded } {
  const [requests, responses] = [new Coded(), new Coded()];
  const asked = new Map(events.flatMap(({ params }) => (params.request ? [[params.requestId, params]] : [])));
  const topLevelOrigin = new URL([...asked.values()][0]?.documentURL ?? "about:blank").origin;
  for (const { method, params } of events) {
    const { response, requestId, type = "" } = params;
    const { request, documentURL = "" } = asked.get(requestId) ?? {};
    if (method !== "Network.responseReceived" || response?.requestHeaders === undefined || !request) continue;
    const { url } = response;
    if (!/^https?:/.test(url)) continue;
    const said = withoutCookies(response.requestHeaders);
    const asking = { said, url, method: request.method, origin: new URL(documentURL).origin, topLevelOrigin };
    const { pathname, search, host } = new URL(url);
    requests.add(
      requestToFields(headOf(DESTINATIONS[type] ?? "", asking)),
      [[request.method, pathname + search], ["host", host], ...said.filter(([name]) => name !== "Host")],
      LINE,
    );
    const fields = withoutCookies(response.headers);
    const headers = endToEndFields(new Headers(fields.map(([name, value]) => [name, value.replaceAll("\n", ", ")])));
    const status = { status: response.status, url, redirected: false, coding: "br", scriptCookies: [] } as const;
    responses.add(responseToFields({ ...status, headers }), [["", String(response.status)], ...fields], LINE);
  }
  return { requests, responses };
}

interface Asking {
  readonly said: HeaderList;
  readonly url: string;
  readonly method: string;
  readonly origin: string;
  readonly topLevelOrigin: string;
}

function headOf(destination: Destination, { said, url, method, origin, topLevelOrigin }: Asking): RequestHead {
  const isPage = destination === "document";
  const isCors = destination === "" || destination === "font";
  return {
    method,
    url,
    headers: pageFields(said).filter(([name]) => name !== "accept-language"),
    destination,
    mode: isPage ? "navigate" : isCors ? "cors" : "no-cors",
    credentials: isCors ? "same-origin" : "include",
    redirect: isPage ? "manual" : "follow",
    referrer: said.find(([name]) => name.toLowerCase() === "referer")?.[1] ?? "",
    origin: isPage ? null : origin,
    topLevelOrigin,
  };
}

const [stories, logs] = process.argv.slice(2);
if (stories === undefined || logs === undefined)
  throw new Error("Cannot measure: name the folders of stories and of logs");
tell("stories", (filesOf(stories) as Story[]).map(story));
const pages = (filesOf(logs) as LogEvent[][]).map(page).filter(({ requests }) => requests.plain > 0);
tell(
  "requests of pages",
  pages.map(({ requests }) => requests),
);
tell(
  "responses of pages",
  pages.map(({ responses }) => responses),
);
