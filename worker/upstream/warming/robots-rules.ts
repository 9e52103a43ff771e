/** What a robots.txt lets a crawler fetch (RFC 9309). */

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
