/**
 * The public HTTP cache tests (https://cache-tests.fyi) against the rules alone: the suite's own client and server, a store
 * that is a map, no network, and time that passes by itself. What a whole app makes of them: e2e/specs/http-cache.spec.ts.
 */
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import type { CacheMode, HeaderField, HeaderList } from "../http/heads.ts";
import { cacheRequest } from "../testing/http/cache-rig.ts";
import { RULE_REASONS } from "../testing/http/cache-test-reasons.ts";
import {
  type Answer,
  answerRange,
  type CacheRequest,
  decide,
  freshenByHead,
  headersWithAge,
  invalidatedUrls,
  isSameVariant,
  judgeValidation,
  mayAnswerStale,
  type StoredResponse,
  selectVariant,
  toStored,
} from "./cache-rules.ts";

interface SuiteTest {
  readonly id: string;
  readonly kind?: "required" | "optimal" | "check";
  readonly browser_skip?: boolean;
}
type Suites = readonly { readonly tests: readonly SuiteTest[] }[];
/** By id: true, or why it failed. */
type Outcomes = Readonly<Record<string, true | readonly [name: string, message: string]>>;
type Handler = (segments: readonly string[], request: object, response: object) => void;
interface Init {
  readonly method?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string;
  readonly cache?: CacheMode;
}
/** Null where it breaks the connection off. */
type Origin = (request: CacheRequest, body: string | undefined) => Whole | null;
interface Whole extends Answer {
  readonly body: string;
}

const PACKAGE = fileURLToPath(new URL("../../node_modules/http-cache-tests/", import.meta.url));
const BASE = "https://origin.example";

/** What fails of the rules alone; in a slot the edge takes these fields out. */
const FAILS_ALONE = "headers-omit-headers-listed-in-Connection";

it("passes the public tests but for those that are named here", async () => {
  const { default: suites } = (await import(`${PACKAGE}tests/index.mjs`)) as { default: Suites };
  const { determineTestResult } = (await import(`${PACKAGE}lib/display.mjs`)) as {
    determineTestResult(suites: Suites, id: string, outcomes: Outcomes): readonly string[];
  };
  const outcomes = await run(suites);
  const judged = suites.flatMap(({ tests }) => tests).filter(({ id, kind }) => id in outcomes && kind !== "check");
  const failed = judged
    .filter(({ id }) => determineTestResult(suites, id, outcomes).at(-1) !== "✅")
    .map(({ id }) => id);
  expect(failed.sort()).toEqual([FAILS_ALONE, ...Object.keys(RULE_REASONS)].sort());
  expect(judged).toHaveLength(215);
});

async function run(suites: Suites): Promise<Outcomes> {
  vi.useFakeTimers({ now: Date.parse("2026-05-01T12:00:00Z") });
  // The suite's server tells of each refusal.
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  const { runTests, getResults } = (await import(`${PACKAGE}client/runner.mjs`)) as {
    runTests(suites: Suites, fetch: unknown, isBrowser: boolean, base: string): Promise<void>;
    getResults(): Outcomes;
  };
  const cache = new MapCache(await suiteOrigin());
  let isDone = false;
  const running = runTests(suites, (url: string, init: Init) => cache.fetch(url, init), true, BASE).finally(() => {
    isDone = true;
  });
  while (!isDone) await vi.advanceTimersByTimeAsync(1000);
  await running;
  log.mockRestore();
  vi.useRealTimers();
  return getResults();
}

/** All that a store has to add to the rules, in its simplest form. */
class MapCache {
  readonly #stored = new Map<string, (StoredResponse & { readonly body: string })[]>();
  readonly #origin: Origin;

  constructor(origin: Origin) {
    this.#origin = origin;
  }

  async fetch(url: string, { method = "GET", headers = [], body, cache = "default" }: Init = {}): Promise<object> {
    const lines = headers.map(([name, value]): HeaderField => [name.toLowerCase(), value.trim()]);
    const request = cacheRequest({ method, url, headers: lines, cacheMode: cache });
    const answer = this.#answer(request, body);
    if (answer === null) throw new TypeError("Failed to fetch");
    const fields = new Headers(answer.headers.map(([name, value]): [string, string] => [name, value]));
    return { status: answer.status, headers: fields, text: async () => answer.body };
  }

  #answer(request: CacheRequest, body: string | undefined): Whole | null {
    const now = Date.now();
    const decision = decide(request, this.#stored.get(request.url) ?? [], now);
    if (decision.kind === "unavailable") return null;
    if (decision.kind === "answer" || decision.kind === "answer-and-validate") {
      const { stored } = decision;
      return ranged(request, { ...stored, headers: headersWithAge(stored, now) });
    }
    const answer = this.#origin({ ...request, headers: [...request.headers, ...decision.fields] }, body);
    const times = { requestTime: now, responseTime: now };
    if (decision.kind === "validate") {
      const { stored } = decision;
      if (answer === null) return mayAnswerStale(stored) ? ranged(request, stored) : null;
      const validation = judgeValidation(stored, request, answer, times);
      if (validation.kind === "stale-if-error") return ranged(request, stored);
      if (validation.kind === "not-modified") {
        this.#keep(request.url, { ...validation.stored, body: stored.body });
        return ranged(request, { ...validation.stored, body: stored.body });
      }
    }
    if (answer === null) return null;
    const known = request.method === "HEAD" ? selectVariant(request, this.#stored.get(request.url) ?? []) : null;
    const freshened = known === null ? null : freshenByHead(known, request, answer, times);
    if (known !== null && freshened !== null && freshened !== "outdated") {
      this.#keep(request.url, { ...freshened, body: known.body });
    }
    for (const url of invalidatedUrls(request, answer)) this.#stored.delete(url);
    const stored = toStored(request, answer, times);
    if (stored !== null) this.#keep(request.url, { ...stored, body: answer.body });
    return answer;
  }

  #keep(url: string, stored: StoredResponse & { readonly body: string }): void {
    const others = (this.#stored.get(url) ?? []).filter((each) => !isSameVariant(each, stored));
    this.#stored.set(url, [...others, stored]);
  }
}

function ranged(request: CacheRequest, whole: Whole): Whole {
  const answer = answerRange(request, whole, whole.body.length);
  if (answer.kind === "whole") return whole;
  if (answer.kind === "unsatisfiable") return { status: 416, headers: answer.headers, body: "" };
  return { status: 206, headers: answer.headers, body: whole.body.slice(answer.first, answer.last + 1) };
}

/** The suite's server, without sockets. */
async function suiteOrigin(): Promise<Origin> {
  const handlers: Record<string, Handler> = {};
  for (const name of ["config", "test", "state"]) {
    handlers[name] = ((await import(`${PACKAGE}server/handle-${name}.mjs`)) as { default: Handler }).default;
  }
  return ({ method, url, headers }, body) => {
    const { pathname } = new URL(url);
    const [, kind = "", ...segments] = pathname.split("/");
    const response = new SuiteResponse();
    const incoming = {
      method,
      url: pathname,
      headers: Object.fromEntries(headers),
      on: (event: string, listener: (data?: string) => void) => listener(event === "data" ? (body ?? "") : undefined),
    };
    handlers[kind]?.(segments, incoming, response);
    return response.result();
  };
}

/** As much of Node's as the suite's server uses. */
class SuiteResponse {
  statusCode = 200;
  readonly socket = {
    destroy: () => {
      this.#isBroken = true;
    },
  };
  #isBroken = false;
  #fields = new Map<string, string | string[]>();
  #body = "";

  setHeader(name: string, value: string | string[]): void {
    this.#fields.set(name.toLowerCase(), Array.isArray(value) ? value.map(String) : String(value));
  }
  getHeader(name: string) {
    return this.#fields.get(name.toLowerCase());
  }
  hasHeader(name: string): boolean {
    return this.#fields.has(name.toLowerCase());
  }
  getHeaders() {
    return Object.fromEntries(this.#fields);
  }
  writeHead(status: number): void {
    this.statusCode = status;
  }
  write(text: string): void {
    this.#body += text;
  }
  end(text = ""): void {
    this.#body += text;
  }
  result(): Whole | null {
    const headers: HeaderList = [...this.#fields].flatMap(([name, value]) =>
      [value].flat().map((line): HeaderField => [name, line]),
    );
    return this.#isBroken ? null : { status: this.statusCode, headers, body: this.#body };
  }
}
