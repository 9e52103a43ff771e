/**
 * Turns recorded traffic (HAR 1.2, as browsers' tools and Playwright's `recordHar` write it) into behaviours. As a
 * program: `node har-to-behaviour.ts IN.har OUT.tsv [HABIT]`.
 *
 * - A new behaviour begins where nothing was under way for a second: there a person was thinking.
 * - A request depends on the redirect that led to it; else, where the HAR has `_initiator`, on the documents and scripts
 *   it names. Else on what its Referer names, and on each text resource that ended at most 50 ms before it started and
 *   after that: a script, style or list that may have asked for it. A guess, which may tie together what only happened
 *   to follow; pictures and sounds never ask.
 * - Request times are those of a network that takes no time: the sum of think times along the longest chain. Where
 *   something began while its dependency was still arriving (a parser at work), its think time is 0.
 * - Lengths are those of HTTP/1.1: of the HAR where it has them, else counted from the fields. Bodies as transferred.
 * - Every answer is replayed as a 200. Left out, and named: what had no answer, came from a cache, is no http(s), is a
 *   WebSocket or a CORS preflight, and methods that replay does not know.
 */
import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { type Behaviour, type BehaviourRequest, behaviourFault, type Workload } from "../behaviour.ts";
import { writeWorkload } from "../behaviour-file.ts";
import { type HarEntry, readHar } from "./har.ts";
import { exchangeOf, type HarExchange, omission } from "./har-exchange.ts";

/** Milliseconds without traffic that part two behaviours. */
const IDLE = 1000;
/** Milliseconds between the end of a resource and a request that it may have caused. */
const RELEASE_WINDOW = 50;

export interface ConvertedHar {
  readonly workload: Workload;
  /** What was left out: how many entries, by reason. */
  readonly omitted: ReadonlyMap<string, number>;
}

/** @param options.habit of all behaviours. @throws when nothing is left to replay. */
export function harToWorkload(entries: readonly HarEntry[], options: { name: string; habit: string }): ConvertedHar {
  const omitted = new Map<string, number>();
  const exchanges: HarExchange[] = [];
  for (const entry of entries) {
    const reason = omission(entry);
    if (reason === null) exchanges.push(exchangeOf(entry));
    else omitted.set(reason, (omitted.get(reason) ?? 0) + 1);
  }
  exchanges.sort((one, other) => one.start - other.start);
  if (exchanges.length === 0) throw new Error(`Cannot convert ${options.name}: it has no request that can be replayed`);
  const behaviours: Behaviour[] = [];
  let end = exchanges[0]?.start ?? 0;
  for (const group of busyPeriods(exchanges)) {
    const start = group[0]?.start ?? end;
    behaviours.push({ habit: options.habit, pause: Math.max(0, Math.round(start - end)), requests: requestsOf(group) });
    end = Math.max(...group.map((exchange) => exchange.end));
  }
  for (const behaviour of behaviours) {
    const fault = behaviourFault(behaviour);
    if (fault !== null) throw new Error(`Cannot convert ${options.name}: ${fault}`);
  }
  return { workload: { name: options.name, behaviours }, omitted };
}

/** Parts exchanges, in order of their start, where the link was idle. */
function busyPeriods(exchanges: readonly HarExchange[]): HarExchange[][] {
  const periods: HarExchange[][] = [];
  let busyUntil = Number.NEGATIVE_INFINITY;
  for (const exchange of exchanges) {
    if (exchange.start >= busyUntil + IDLE) periods.push([]);
    periods.at(-1)?.push(exchange);
    busyUntil = Math.max(busyUntil, exchange.end);
  }
  return periods;
}

function requestsOf(exchanges: readonly HarExchange[]): BehaviourRequest[] {
  const requests: BehaviourRequest[] = [];
  const begin = exchanges[0]?.start ?? 0;
  for (const [index, exchange] of exchanges.entries()) {
    const dependencies = dependenciesOf(exchange, exchanges.slice(0, index));
    const recordedReady = Math.max(begin, ...dependencies.map((dependency) => exchanges[dependency]?.end ?? begin));
    const ready = Math.max(0, ...dependencies.map((dependency) => requests[dependency]?.time ?? 0));
    requests.push({
      index,
      time: ready + Math.max(0, Math.round(exchange.start - recordedReady)),
      dependencies,
      method: exchange.method,
      url: exchange.url,
      requestHead: exchange.requestHead,
      requestBody: exchange.requestBody,
      responseHead: exchange.responseHead,
      responseBody: exchange.responseBody,
    });
  }
  return requests;
}

/** @returns places in `earlier`, ascending. */
function dependenciesOf(exchange: HarExchange, earlier: readonly HarExchange[]): number[] {
  const redirect = earlier.findLastIndex(({ redirectsTo }) => redirectsTo === exchange.url);
  if (redirect >= 0) return [redirect];
  const placeOf = (url: string): number => earlier.findLastIndex((each) => each.url === url);
  if (exchange.initiators !== null) {
    return [...new Set(exchange.initiators.map(placeOf))]
      .filter((place) => place >= 0)
      .sort((one, other) => one - other);
  }
  const referrer = exchange.referrer === null ? -1 : placeOf(exchange.referrer);
  const asked = earlier.flatMap(({ end, releases }, place) => {
    const justEnded = releases && end <= exchange.start && end >= exchange.start - RELEASE_WINDOW;
    return place === referrer || (justEnded && end >= (earlier[referrer]?.end ?? 0)) ? [place] : [];
  });
  return asked;
}

if (import.meta.main) {
  const [input, output, habit = "visit"] = process.argv.slice(2);
  if (input === undefined || output === undefined) {
    console.error("Usage: node har-to-behaviour.ts IN.har OUT.tsv [HABIT]");
    process.exit(2);
  }
  try {
    const entries = readHar(await readFile(input, "utf8"), input);
    const { workload, omitted } = harToWorkload(entries, { name: basename(output).replace(/\.tsv$/, ""), habit });
    const left = [...omitted].map(([reason, count]) => `Left out: ${count} (${reason})`);
    await writeFile(output, writeWorkload(workload, [`Converted from ${basename(input)}`, ...left]));
    const requests = workload.behaviours.reduce((sum, each) => sum + each.requests.length, 0);
    console.log([`${requests} requests in ${workload.behaviours.length} behaviours`, ...left].join("\n"));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
