/**
 * Fetches a page that a link leads to before anybody follows it: as for a stranger, and only what is the same for all
 * (PROTOCOL.md section 5.4).
 */

import { BoundedMap } from "../../shared/bounded-map.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import type { RequestHead } from "../../shared/http/heads.ts";
import { type CookieJar, partitionOf } from "../upstream/cookie-jar.ts";
import type { UpstreamRequest, UpstreamResponse } from "../upstream/upstream.ts";

/** Bytes, as its origin codes it: a guess may cost that much. */
export const WARMED_PAGE_BYTES = 200_000;

interface PageWarmerDeps {
  readonly ask: (request: UpstreamRequest) => Promise<UpstreamResponse>;
  readonly jar: Pick<CookieJar, "hasFor">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export class PageWarmer {
  readonly #deps: PageWarmerDeps;
  readonly #robots: RobotsKeeper;

  constructor(deps: PageWarmerDeps) {
    this.#deps = deps;
    this.#robots = new RobotsKeeper(deps.ask, deps.now);
  }

  /**
   * @param request on whose behalf.
   * @param url of the page's own origin, without a query.
   * @returns null where it may not be fetched so, or may not be kept for whoever comes.
   */
  async warm(request: UpstreamRequest, url: URL): Promise<UpstreamResponse | null> {
    const isKnownHere = () => this.#deps.jar.hasFor(partitionOf(url.origin), url);
    if (await isKnownHere()) return null;
    if (!(await this.#robots.allows(url, request))) return null;
    try {
      const response = await this.#deps.ask({
        ...request,
        head: strangersHead(url),
        checkResponse: (each) => {
          if (!isForAll(each)) throw unfit();
        },
      });
      if (await isKnownHere()) {
        response.coded?.drop();
        await response.body?.cancel();
        return null;
      }
      // The rest of a body is for who has asked for it.
      const { resumption: _, ...head } = response.head;
      return { ...response, head };
    } catch (error) {
      if (error instanceof RopewayError) return null;
      throw error;
    }
  }
}

function strangersHead(url: URL): RequestHead {
  return {
    method: "GET",
    url: url.href,
    headers: [],
    destination: "document",
    mode: "navigate",
    credentials: "omit",
    redirect: "error",
    referrer: "",
    origin: url.origin,
    topLevelOrigin: url.origin,
  };
}

/** An HTML page that is nobody's in particular, and not too long. */
export function isForAll({ status, headers }: Pick<Response, "status" | "headers">): boolean {
  const says = (name: string, words: RegExp): boolean => words.test(headers.get(name) ?? "");
  return (
    status === 200 &&
    says("content-type", /^\s*text\/html\s*(?:;|$)/i) &&
    !says("content-disposition", /^\s*attachment/i) &&
    !says("cache-control", /(?:^|[\s,])(?:private|no-store)(?:$|[\s,=])/i) &&
    !says("vary", /(?:^|[\s,])(?:cookie|authorization|\*)(?:$|[\s,])/i) &&
    !headers.has("set-cookie") &&
    !headers.has("clear-site-data") &&
    !(Number(headers.get("content-length") ?? 0) > WARMED_PAGE_BYTES)
  );
}

function unfit(): RopewayError {
  return new RopewayError(ErrorCode.CANCEL, "stream", "library", "Cannot keep the page: it is not the same for all");
}

/** Our product token. What holds for all robots has to let a page be fetched, too. */
const AGENTS = ["ropeway", "*"];
/** Origins whose robots.txt is kept for one phone. */
const ORIGINS_KEPT = 32;
/** Milliseconds: RFC 9309 section 2.4 has no file used for longer; one that could not be had is asked for again sooner. */
const LIFETIME = 24 * 3_600_000;
const FAILED_LIFETIME = 10 * 60_000;
/** Section 2.5: that much is read at least. */
const MOST_BYTES = 500 * 1024;

interface KeptRules {
  readonly rules: RobotsRules;
  readonly until: number;
}

/** Files robots.txt of origins, asked for when they are first of use, and kept for a while. */
class RobotsKeeper {
  readonly #ask: (request: UpstreamRequest) => Promise<UpstreamResponse>;
  readonly #now: () => number;
  readonly #kept = new BoundedMap<string, KeptRules>(ORIGINS_KEPT);

  constructor(ask: (request: UpstreamRequest) => Promise<UpstreamResponse>, now: () => number) {
    this.#ask = ask;
    this.#now = now;
  }

  /** @param request on whose behalf it is asked for. */
  async allows(url: URL, request: UpstreamRequest): Promise<boolean> {
    let kept = this.#kept.get(url.origin);
    if (kept === undefined || kept.until <= this.#now()) {
      const rules = await this.#fetch(url.origin, request);
      kept = { rules: rules ?? NOTHING, until: this.#now() + (rules === null ? FAILED_LIFETIME : LIFETIME) };
      if (!request.signal.aborted) this.#kept.set(url.origin, kept);
    }
    const { rules } = kept;
    return AGENTS.every((agent) => rules.allows(agent, url));
  }

  /** @returns null where nobody can tell: then nothing is allowed (section 2.3.1.4). */
  async #fetch(origin: string, { userAgent, acceptLanguage, signal }: UpstreamRequest): Promise<RobotsRules | null> {
    try {
      const head = robotsHead(origin);
      const { head: response, body, coded } = await this.#ask({ head, body: null, signal, userAgent, acceptLanguage });
      coded?.drop();
      if (response.status === 200 && body !== null) return new RobotsRules(await textOf(body), AGENTS);
      await body?.cancel();
      return response.status < 500 ? ALL : null;
    } catch {
      return null;
    }
  }
}

function robotsHead(origin: string): RequestHead {
  return {
    method: "GET",
    url: `${origin}/robots.txt`,
    headers: [],
    destination: "",
    mode: "same-origin",
    credentials: "omit",
    redirect: "follow",
    referrer: "",
    origin,
    topLevelOrigin: origin,
  };
}

async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let size = 0; size < MOST_BYTES; ) {
    const { value, done } = await reader.read();
    if (done) return text;
    size += value.length;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}

interface Rule {
  readonly isAllowed: boolean;
  /** Path and query, normalized, with `*`, and maybe `$` at its end. */
  readonly pattern: string;
  /** As it was written: the longest decides. */
  readonly length: number;
}

/** Count: an origin that has more for us lets nothing be fetched. */
const RULES = 2_000;
/** Characters of a pattern; a longer one forbids all that begins like it. */
const PATTERN = 250;
/** Characters of a path and query; a longer one is not to be fetched. */
const PATH = 2_000;

/** Paths that a robots.txt lets a crawler fetch (RFC 9309). */
export class RobotsRules {
  /** By product token, lower case, or `*`. */
  readonly #groups = new Map<string, Rule[]>();
  #count = 0;

  /** @param agents whose rules may be asked for: product tokens in lower case, or `*`. */
  constructor(text: string, agents: readonly string[]) {
    let named: Rule[][] = [];
    let isInRules = false;
    for (const line of text.split(/[\r\n]+/)) {
      const [name, value] = fieldOf(line);
      if (name === "user-agent") {
        // A group's names come before its rules.
        if (isInRules) named = [];
        isInRules = false;
        const agent = /^(?:\*|[\w-]*)/.exec(value)?.[0].toLowerCase() ?? "";
        const rules = agents.includes(agent) ? this.#groupOf(agent) : null;
        if (rules !== null && !named.includes(rules)) named.push(rules);
      } else if (name === "allow" || name === "disallow") {
        isInRules = true;
        const rule = ruleOf(name === "allow", value);
        if (rule !== null) for (const rules of named) this.#add(rules, rule);
      }
    }
  }

  /** The group `*` holds for an agent without its own. */
  allows(agent: string, { pathname, search }: URL): boolean {
    const path = normalized(pathname + search);
    if (this.#count > RULES || path.length > PATH) return false;
    let longest = { isAllowed: true, length: 0 };
    for (const rule of this.#groups.get(agent) ?? this.#groups.get("*") ?? []) {
      if (!matches(rule.pattern, path)) continue;
      const isLonger = rule.length > longest.length;
      if (isLonger || (rule.isAllowed && rule.length === longest.length)) longest = rule;
    }
    return longest.isAllowed;
  }

  #groupOf(agent: string): Rule[] {
    const rules = this.#groups.get(agent) ?? [];
    this.#groups.set(agent, rules);
    return rules;
  }

  #add(rules: Rule[], rule: Rule): void {
    this.#count += 1;
    if (this.#count <= RULES) rules.push(rule);
  }
}

/** Null for what says nothing. */
function ruleOf(isAllowed: boolean, pattern: string): Rule | null {
  const isLong = pattern.length > PATTERN;
  if (pattern === "" || (isLong && isAllowed)) return null;
  return { isAllowed, pattern: normalized(isLong ? pattern.slice(0, PATTERN) : pattern), length: pattern.length };
}

function fieldOf(line: string): readonly [name: string, value: string] {
  const text = line.split("#", 1)[0] ?? "";
  const colon = text.indexOf(":");
  return [text.slice(0, Math.max(colon, 0)).trim().toLowerCase(), text.slice(colon + 1).trim()];
}

/** Section 2.2.2: octets that need no escape have none, all others have one, in capitals. */
function normalized(path: string): string {
  return path
    .replace(/[^\x21-\x7e]+/gu, (text) => encodeURIComponent(text.toWellFormed()))
    .replace(/%[0-9a-f]{2}/gi, (octet) => {
      const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
      return /[\w.~-]/.test(character) ? character : octet.toUpperCase();
    });
}

/** In linear time: what stands between two `*` is found as early as it can be. */
function matches(pattern: string, path: string): boolean {
  const isWhole = pattern.endsWith("$");
  const [first = "", ...rest] = (isWhole ? pattern.slice(0, -1) : pattern).split("*");
  if (!path.startsWith(first)) return false;
  const last = isWhole ? rest.pop() : undefined;
  let at = first.length;
  for (const part of rest) {
    const found = path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  if (!isWhole) return true;
  return last === undefined ? at === path.length : path.length - last.length >= at && path.endsWith(last);
}

const ALL = new RobotsRules("", AGENTS);
const NOTHING = new RobotsRules("User-agent: *\nDisallow: /", AGENTS);
