/** What robots.txt of origins says, asked for when it is first of use, and kept for a while. */
import { BoundedMap } from "../../../shared/bounded-map.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import type { UpstreamRequest } from "../upstream-request.ts";
import type { UpstreamResponse } from "../upstream-response.ts";
import { RobotsRules } from "./robots-rules.ts";

/** Our product token. What holds for all robots has to let a page be fetched, too. */
const AGENTS = ["ropeway", "*"];
/** Origins whose robots.txt is kept for one phone. */
const ORIGINS_KEPT = 32;
/** Milliseconds: RFC 9309 section 2.4 has no file used for longer; one that could not be had is asked for again sooner. */
const LIFETIME = 24 * 3_600_000;
const FAILED_LIFETIME = 10 * 60_000;
/** Section 2.5: that much is read at least. */
const MOST_BYTES = 500 * 1024;

const ALL = new RobotsRules("", AGENTS);
const NOTHING = new RobotsRules("User-agent: *\nDisallow: /", AGENTS);

interface KeptRules {
  readonly rules: RobotsRules;
  readonly until: number;
}

export class RobotsKeeper {
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
