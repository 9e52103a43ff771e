/** What a robots.txt lets a crawler fetch (RFC 9309). */

interface Rule {
  readonly isAllowed: boolean;
  /** Path and query, with `*`, and maybe `$` at its end. */
  readonly pattern: string;
}

export class RobotsRules {
  /** By product token, lower case, or `*`. */
  readonly #groups = new Map<string, Rule[]>();

  constructor(text: string) {
    let agents: string[] = [];
    let isInRules = false;
    for (const line of text.split(/[\r\n]+/)) {
      const [name, value] = fieldOf(line);
      if (name === "user-agent") {
        // A group's names come before its rules.
        if (isInRules) agents = [];
        isInRules = false;
        agents.push(/^(?:\*|[\w-]*)/.exec(value)?.[0].toLowerCase() ?? "");
      } else if (name === "allow" || name === "disallow") {
        isInRules = true;
        if (value !== "") for (const agent of agents) this.#add(agent, { isAllowed: name === "allow", pattern: value });
      }
      for (const agent of agents) if (!this.#groups.has(agent)) this.#groups.set(agent, []);
    }
  }

  /** @param agent a product token, lower case; the group `*` holds for one without its own. */
  allows(agent: string, { pathname, search }: URL): boolean {
    const path = normalized(pathname + search);
    let longest: Rule = { isAllowed: true, pattern: "" };
    for (const rule of this.#groups.get(agent) ?? this.#groups.get("*") ?? []) {
      if (!matches(normalized(rule.pattern), path)) continue;
      const isLonger = rule.pattern.length > longest.pattern.length;
      if (isLonger || (rule.isAllowed && rule.pattern.length === longest.pattern.length)) longest = rule;
    }
    return longest.isAllowed;
  }

  #add(agent: string, rule: Rule): void {
    this.#groups.set(agent, [...(this.#groups.get(agent) ?? []), rule]);
  }
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
