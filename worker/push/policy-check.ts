/**
 * Whether a document's Content Security Policies let it load a resource. Where they do not, markup that somebody smuggled
 * into the document must not make the edge ask for it either: the address alone could carry a secret away.
 */
import {
  type HostSource,
  type Policy,
  parseHostSource,
  parsePolicies,
  portMatches,
  schemeMatches,
} from "../../shared/web/policies.ts";
import type { NamedResource, Steps } from "./document-scanner.ts";

/** CSP Level 3 section 6.8.1, the first that is there decides. */
const DIRECTIVES: Readonly<Record<string, readonly string[]>> = {
  "": ["connect-src", "default-src"],
  font: ["font-src", "default-src"],
  image: ["img-src", "default-src"],
  script: ["script-src-elem", "script-src", "default-src"],
  style: ["style-src-elem", "style-src", "default-src"],
};

/** Sources that make a browser pass over 'unsafe-inline'. */
const EXACT = /^'(?:nonce|sha256|sha384|sha512)-/;

/** The policies of one document, each source read once. */
export class PagePolicies {
  readonly #origin: string;
  readonly #scheme: string;
  readonly #steps: Steps;
  readonly #policies: { readonly policy: Policy; readonly lists: Map<string, SourceList> }[] = [];
  #isOpaque = false;
  #upgrades = false;

  /**
   * @param origin of the document.
   * @param steps that it may still cost.
   */
  constructor(origin: string, steps: Steps) {
    this.#origin = origin;
    this.#scheme = origin.slice(0, origin.indexOf(":"));
    this.#steps = steps;
  }

  /** Whether the document is shown with an origin of its own, so that its requests go where ours would. */
  get isOpaque(): boolean {
    return this.#isOpaque;
  }

  /** Whether one asks for `https:` in place of `http:`. */
  get upgrades(): boolean {
    return this.#upgrades;
  }

  /** @param value of a field or a `<meta>`. */
  add(value: string): void {
    for (const policy of parsePolicies(value)) {
      for (const sources of policy.values()) this.#steps.take(1 + sources.length);
      this.#policies.push({ policy, lists: new Map() });
      const sandbox = policy.get("sandbox")?.map((token) => token.toLowerCase());
      this.#isOpaque ||= sandbox !== undefined && !sandbox.includes("allow-same-origin");
      this.#upgrades ||= policy.has("upgrade-insecure-requests");
    }
  }

  allows({ destination, nonce }: Pick<NamedResource, "destination" | "nonce">, url: URL): boolean {
    const takesNonces = destination === "script" || destination === "style";
    return this.#every(DIRECTIVES[destination] ?? [], (list) => {
      if (takesNonces && list.hasNonce(nonce)) return true;
      return !(destination === "script" && list.isStrict) && list.covers(url);
    });
  }

  /** Whether what `style` attributes say holds (CSP Level 3 sections 6.8.1 and 6.7.3.2). Hashes of them are not looked up. */
  allowsStyleAttributes(): boolean {
    return this.#every(["style-src-attr", "style-src", "default-src"], (list) => list.allowsInline);
  }

  /** Whether a `<style>` holds. Hashes of it are not looked up. */
  allowsStyle(nonce: string): boolean {
    return this.#every(DIRECTIVES.style ?? [], (list) => list.hasNonce(nonce) || list.allowsInline);
  }

  /** Whether relative addresses may be resolved against `base` (CSP Level 3 section 6.3.1). */
  allowsBase(base: URL): boolean {
    return this.#every(["base-uri"], (list) => list.covers(base));
  }

  #every(directives: readonly string[], test: (list: SourceList) => boolean): boolean {
    return this.#policies.every(({ policy, lists }) => {
      const name = directives.find((directive) => policy.has(directive));
      if (name === undefined) return this.#steps.take(1);
      let list = lists.get(name);
      if (list === undefined) {
        list = new SourceList(policy.get(name) ?? [], this.#origin, this.#scheme, this.#steps);
        lists.set(name, list);
      }
      return this.#steps.take(1) && test(list);
    });
  }
}

/** Sources of one directive, so that few are looked at for an address. */
class SourceList {
  readonly isStrict: boolean;
  /** Text in the document. */
  readonly allowsInline: boolean;
  readonly #origin: string;
  readonly #scheme: string;
  readonly #steps: Steps;
  /** Sources that are a word: keywords as written, `*`, schemes. */
  readonly #words = new Set<string>();
  readonly #schemes: string[] = [];
  /** By host; for `*.a.example` by `.a.example`. */
  readonly #hosts = new Map<string, HostSource[]>();

  constructor(sources: readonly string[], origin: string, scheme: string, steps: Steps) {
    this.#origin = origin;
    this.#scheme = scheme;
    this.#steps = steps;
    const keywords = new Set<string>();
    let isExact = false;
    for (const source of sources) {
      this.#words.add(source);
      const lower = source.toLowerCase();
      if (source.startsWith("'")) {
        keywords.add(lower);
        isExact ||= EXACT.test(lower);
      } else if (/^[a-z][a-z0-9+.-]*:$/.test(lower)) this.#addScheme(lower.slice(0, -1));
      else this.#addHost(parseHostSource(source));
    }
    this.isStrict = keywords.has("'strict-dynamic'");
    this.allowsInline = keywords.has("'unsafe-inline'") && !isExact;
    if (keywords.has("'self'")) this.#words.add("'self'");
  }

  hasNonce(nonce: string): boolean {
    return nonce !== "" && this.#words.has(`'nonce-${nonce}'`);
  }

  covers(url: URL): boolean {
    const scheme = url.protocol.slice(0, -1);
    if (this.#words.has("'self'") && url.origin === this.#origin) return true;
    if (this.#words.has("*") && (schemeMatches("http", scheme) || scheme === this.#scheme)) return true;
    if (this.#schemes.some((allowed) => schemeMatches(allowed, scheme))) return true;
    if (this.#isOfHost(url.hostname, url)) return true;
    for (let dot = url.hostname.indexOf("."); dot !== -1; dot = url.hostname.indexOf(".", dot + 1))
      if (this.#isOfHost(url.hostname.slice(dot), url)) return true;
    return this.#isOfHost("*", url);
  }

  #addScheme(scheme: string): void {
    // No other can be that of a page's resource.
    if (/^(?:https?|wss?)$/.test(scheme) && !this.#schemes.includes(scheme)) this.#schemes.push(scheme);
  }

  #addHost(source: HostSource | null): void {
    if (source === null) return;
    const key = source.host.startsWith("*.") ? source.host.slice(1) : source.host;
    const others = this.#hosts.get(key);
    if (others === undefined) this.#hosts.set(key, [source]);
    else others.push(source);
  }

  #isOfHost(key: string, url: URL): boolean {
    const sources = this.#hosts.get(key) ?? [];
    return sources.some(
      (source) =>
        this.#steps.take(1) && portMatches(source, url, this.#scheme) && pathMatches(source.path ?? "/", url.pathname),
    );
  }
}

/** CSP Level 3 section 6.7.2.11. */
function pathMatches(path: string, pathname: string): boolean {
  return path === "/" || (path.endsWith("/") ? pathname.startsWith(path) : pathname === path);
}
