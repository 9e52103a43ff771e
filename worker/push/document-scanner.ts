/**
 * Finds in a document, as it streams by, what a browser's preload scanner would ask for: scripts, style sheets, images,
 * preloads. What depends on the screen (`srcset`, `media`) only where the phone has told of that; not what may never be wanted
 * (`loading=lazy`, templates, `<noscript>`). Besides, the first backgrounds of `style` attributes, which browsers find only
 * once all style sheets are there: they tend to be the largest picture at the top.
 */
import type { CredentialsMode, Destination, ReferrerPolicy, RequestMode } from "../../shared/http/heads.ts";
import type { Viewport } from "../../shared/http/phone-fields.ts";
import type { MarkupValues } from "../../shared/web/documents.ts";
import {
  type Attribute,
  decodeReferences,
  HtmlTokens,
  type MarkupLanguage,
  type Tag,
  tagEnd,
} from "../../shared/web/html-tokens.ts";
import { parseMetaReferrer, parseReferrerPolicy } from "../../shared/web/policies.ts";

/** A resource as its element says how to ask for it. */
export interface NamedResource {
  /** As written. */
  readonly url: string;
  readonly destination: Destination;
  readonly mode: RequestMode;
  readonly credentials: CredentialsMode;
  /** Referrer policy of its element; "" where it has none. */
  readonly referrerPolicy: ReferrerPolicy | "";
  /** Nonce of its element, or "". */
  readonly nonce: string;
  /** `fetchpriority` of its element. */
  readonly priority: "high" | "low" | "auto";
  /** A classic script that nothing waits for: `async` or `defer`. */
  readonly isDeferred: boolean;
  /** Named by a `style` attribute. */
  readonly isOfStyle: boolean;
  /** A script that is a module. */
  readonly isModule: boolean;
  /** URL of the style sheet or module that imports it. */
  readonly importer?: string;
  /** Of what no element names, and the phone is known to lack: as in `LearnedRequest`. */
  readonly accept?: string;
}

/** An element without attributes. */
export const UNNAMED = {
  referrerPolicy: "",
  nonce: "",
  priority: "auto",
  isDeferred: false,
  isOfStyle: false,
  isModule: false,
} as const;

export interface ScanHandler {
  onResource(resource: NamedResource): void;
  /** `<base href>`, as written; only the first. */
  onBase(href: string): void;
  onReferrerPolicy(policy: ReferrerPolicy): void;
  /** `content` of a `<meta>` that sets a Content Security Policy. */
  onContentSecurityPolicy(content: string): void;
  /** Text of a `<style>`. */
  onStyle(text: string, nonce: string): void;
}

type Attributes = Readonly<Record<string, string>>;

/** "open": the next source may be it, or the `<img>`. Undefined: only the phone knows which. */
type PictureChoice = { readonly kind: "open" } | { readonly kind: "chosen"; readonly url: string | undefined };

/** Types of pictures that all browsers show which the app runs in. */
const KNOWN_IMAGES = /^image\/(?:avif|gif|jpe?g|png|svg\+xml|webp)$/i;

/** Elements that may stand in a head. The first other element begins the body. */
const OF_HEAD: ReadonlySet<string> = new Set(
  "base head html link meta noscript script style template title".split(" "),
);

/** Elements of which something is looked at; of all others, the `style`. */
const READ: ReadonlySet<string> = new Set("base image img input link meta script source style video".split(" "));

/** Count: browsers nest no deeper either. */
const NESTING = 512;

/** Elements that nest nothing, or whose end authors leave out. */
const NOT_NESTED: ReadonlySet<string> = new Set(
  (
    "area base body br col colgroup dd dt embed head hr html img input li link meta optgroup option p param rp rt " +
    "source tbody td tfoot th thead tr track wbr"
  ).split(" "),
);

const SCRIPT_TYPES =
  /^(?:(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/(?:javascript1\.[0-5]|jscript|livescript)|module)?$/i;

/** Characters of a `srcset` that are gone through in the time of a step: a short candidate. */
const CANDIDATE_LENGTH = 8;

/** Backgrounds further down may be of what is not shown. */
const BACKGROUNDS = 2;

/** Characters: of a `<style>`; what it imports stands at its beginning. */
const INLINE_LENGTH = 8 * 1024;

/** Where CSS gives a background; up to the next of these it has no text in quotes. */
const BACKGROUND = /(?:^|[;\s])background(?:-image)?\s*:/gi;
const VALUE_END = /[;"']|$/g;
/** An address, in quotes or not. Without escapes. */
const ADDRESS = /\burl\(\s*/gi;
const QUOTED = /(?:"([^"\\]*)"|'([^'\\]*)'|([^\s"'()\\]*))\s*\)/y;

/** `as` values that are asked for as by an element of their kind. */
const PRELOADED: ReadonlySet<string> = new Set(["font", "image", "script", "style"]);

export class DocumentScanner {
  readonly #tokens: HtmlTokens;
  readonly #steps: Steps;
  /** Of `<template>`, whose content is not shown before a script puts it somewhere. */
  #inertDepth = 0;
  #depth = 0;
  /** The `<picture>` that is open: what its sources say so far. */
  #picture: PictureChoice | null = null;
  #hasBase = false;
  #backgrounds = 0;
  #isPastPolicies = false;
  /** The `<style>` that is open, if it is for the screen. */
  #style: { text: string; readonly nonce: string } | null = null;
  #handler: ScanHandler;
  #viewport: Viewport | undefined;
  readonly #values: MarkupValues | undefined;

  /**
   * @param steps that the document may still cost.
   * @param viewport of the phone, where it has told.
   * @param values where the markup is no text of characters.
   */
  constructor(
    handler: ScanHandler,
    steps: Steps,
    viewport?: Viewport,
    language: MarkupLanguage = "html",
    values?: MarkupValues,
  ) {
    this.#values = values;
    this.#handler = handler;
    this.#steps = steps;
    this.#viewport = viewport;
    this.#tokens = new HtmlTokens(
      {
        onTag: (html, tag) => this.#readTag(html, tag),
        onRawText: (name, html, start, end) => {
          if (name === "style") this.#readStyle(html, start, end);
        },
      },
      language,
    );
  }

  /** Whether scripts may run: what the head says of policies has been read. */
  get isPastPolicies(): boolean {
    return this.#isPastPolicies;
  }

  write(text: string): void {
    this.#tokens.write(text);
  }

  #readTag(html: string, tag: Tag): void {
    const { name, isEnd } = tag;
    if (!NOT_NESTED.has(name) && !tag.closesItself) this.#depth = Math.max(0, this.#depth + (isEnd ? -1 : 1));
    if (!this.#steps.take(1) || this.#depth > NESTING) return this.#tokens.stop();
    if (isEnd) this.#close(name);
    else if (READ.has(name) || (this.#backgrounds < BACKGROUNDS && /\bstyle/i.test(html.slice(tag.nameStop, tag.end))))
      this.#open(name, this.#attributesOf(html, tag));
    else this.#open(name, {});
  }

  /** Attributes that the tag has first of their names. */
  #attributesOf(html: string, { start, nameStop, end }: Tag): Attributes {
    const found: Attribute[] = [];
    tagEnd(html.slice(start, end), nameStop - start, found);
    this.#steps.take(found.length);
    return Object.fromEntries(
      found.reverse().map(({ name, value }) => [name, decodeReferences(this.#values?.decodeAddress(value) ?? value)]),
    );
  }

  #open(name: string, attributes: Attributes): void {
    if (name === "template") this.#inertDepth += 1;
    if (name === "picture") this.#picture = { kind: "open" };
    if (this.#inertDepth > 0) return;
    this.#isPastPolicies ||= name === "script" || !OF_HEAD.has(name);
    if (attributes.style !== undefined) this.#openStyle(attributes.style, attributes);
    switch (name) {
      case "base":
        if (this.#hasBase || attributes.href === undefined) return;
        this.#hasBase = true;
        return this.#handler.onBase(attributes.href);
      case "meta":
        return this.#openMeta(attributes);
      case "link":
        return this.openLink(attributes);
      case "script":
        return this.#openScript(attributes);
      case "style":
        if (/^(?:text\/css)?$/i.test(attributes.type ?? "") && this.#isForScreen(attributes.media) === true)
          this.#style = { text: "", nonce: attributes.nonce ?? "" };
        return;
      case "source":
        if (this.#picture?.kind === "open") this.#picture = this.#chooseSource(attributes);
        return;
      case "img":
      case "image":
        if (!isLazy(attributes)) this.#name(this.#imageOf(attributes), "image", attributes);
        return;
      case "input":
        if (attributes.type?.toLowerCase() === "image") this.#name(attributes.src, "image", {});
        return;
      case "video":
        this.#name(attributes.poster, "image", {});
    }
  }

  #close(name: string): void {
    this.#isPastPolicies ||= name === "head";
    if (name === "template") this.#inertDepth = Math.max(0, this.#inertDepth - 1);
    if (name === "picture") this.#picture = null;
    if (name !== "style" || this.#style === null) return;
    const { text: written, nonce } = this.#style;
    const text = this.#values?.decodeAddress(written) ?? written;
    this.#style = null;
    this.#handler.onStyle(text, nonce);
  }

  #readStyle(html: string, start: number, end: number): void {
    if (this.#style === null) return;
    const left = INLINE_LENGTH - this.#style.text.length;
    this.#style.text += html.slice(start, Math.min(end, start + left));
  }

  #imageOf({ srcset, sizes, src }: Attributes): string | undefined {
    if (this.#picture?.kind === "chosen") return this.#picture.url;
    return srcset === undefined ? src : this.#choose(srcset, sizes, src);
  }

  #chooseSource({ media, type, srcset = "", sizes }: Attributes): PictureChoice {
    const isForScreen = this.#isForScreen(media);
    const isKnown = type === undefined || KNOWN_IMAGES.test(type.trim());
    if (isForScreen === false) return { kind: "open" };
    const url = isForScreen === null || !isKnown ? undefined : this.#choose(srcset, sizes, undefined);
    return { kind: "chosen", url };
  }

  #choose(srcset: string, sizes: string | undefined, src: string | undefined): string | undefined {
    if (this.#viewport === undefined || !this.#steps.take(srcset.length / CANDIDATE_LENGTH)) return undefined;
    return chooseImage(srcset, sizes, src, this.#viewport) ?? undefined;
  }

  /** Null where nobody here knows. */
  #isForScreen(media = ""): boolean | null {
    if (/^(?:all|screen)?$/i.test(media.trim())) return true;
    return this.#viewport === undefined ? null : matchesMedia(media, this.#viewport);
  }

  #openStyle(style: string, attributes: Attributes): void {
    if (this.#backgrounds >= BACKGROUNDS || "hidden" in attributes || /\bdisplay\s*:\s*none\b/i.test(style)) return;
    const url = backgroundOf(style);
    if (url === null || /^\s*(?:data:|#|$)/i.test(url)) return;
    this.#backgrounds += 1;
    this.#name(url, "image", {}, { isOfStyle: true });
  }

  #openMeta(attributes: Attributes): void {
    const content = attributes.content ?? "";
    if (attributes["http-equiv"]?.trim().toLowerCase() === "content-security-policy") {
      return this.#handler.onContentSecurityPolicy(content);
    }
    if (attributes.name?.trim().toLowerCase() !== "referrer") return;
    const policy = parseMetaReferrer(content);
    if (policy !== "") this.#handler.onReferrerPolicy(policy);
  }

  /** @param attributes of a `<link>`, or of a field that says the same. */
  openLink(attributes: Attributes): void {
    const relations = new Set(attributes.rel?.toLowerCase().split(/[\t\n\f\r ]+/));
    if (this.#isForScreen(attributes.media) !== true) return;
    if (relations.has("stylesheet")) {
      const isOther = attributes.type !== undefined && !/^(?:text\/css)?$/i.test(attributes.type.trim());
      if (relations.has("alternate") || isOther || "disabled" in attributes) return;
      return this.#name(attributes.href, "style", attributes);
    }
    if (relations.has("modulepreload")) {
      const as = attributes.as?.toLowerCase() ?? "";
      if (as === "" || as === "script") this.#name(attributes.href, "script", attributes, { isModule: true });
      return;
    }
    const as = attributes.as?.toLowerCase() ?? "";
    if (!relations.has("preload") || !PRELOADED.has(as)) return;
    const { imagesrcset, imagesizes, href } = attributes;
    const url = imagesrcset === undefined ? href : this.#choose(imagesrcset, imagesizes, href);
    this.#name(url, as as Destination, attributes);
  }

  #openScript(attributes: Attributes): void {
    const type = attributes.type?.trim() ?? "";
    const isModule = type.toLowerCase() === "module";
    if (!SCRIPT_TYPES.test(type) || (!isModule && "nomodule" in attributes)) return;
    this.#name(attributes.src, "script", attributes, { isModule });
  }

  /** @param isModule asked for by CORS whatever `crossorigin` says (HTML section 8.1.4.2). */
  #name(
    url: string | undefined,
    destination: Destination,
    attributes: Attributes,
    { isModule = false, isOfStyle = false } = {},
  ): void {
    if (url === undefined || url.trim() === "") return;
    const crossOrigin = attributes.crossorigin?.trim().toLowerCase();
    const isCors = isModule || crossOrigin !== undefined;
    const withCookies = isCors ? crossOrigin === "use-credentials" : true;
    this.#handler.onResource({
      url,
      destination,
      mode: isCors ? "cors" : "no-cors",
      credentials: withCookies ? "include" : "same-origin",
      referrerPolicy: parseReferrerPolicy(attributes.referrerpolicy ?? null),
      nonce: attributes.nonce ?? "",
      priority: fetchPriority(attributes),
      isDeferred: destination === "script" && !isModule && ("async" in attributes || "defer" in attributes),
      isOfStyle,
      isModule,
    });
  }
}

/** The first image that a `style` attribute gives, in one pass. */
function backgroundOf(style: string): string | null {
  [BACKGROUND.lastIndex, ADDRESS.lastIndex] = [0, 0];
  let url = ADDRESS.exec(style);
  for (let found = BACKGROUND.exec(style); found !== null; found = BACKGROUND.exec(style)) {
    VALUE_END.lastIndex = BACKGROUND.lastIndex;
    const end = VALUE_END.exec(style)?.index ?? style.length;
    for (; url !== null && url.index < end; url = ADDRESS.exec(style)) {
      if (url.index < found.index) continue;
      QUOTED.lastIndex = ADDRESS.lastIndex;
      const [, inDouble, inSingle, bare] = QUOTED.exec(style) ?? [];
      const address = inDouble ?? inSingle ?? bare;
      if (address !== undefined) return address;
    }
    BACKGROUND.lastIndex = end;
  }
  return null;
}

function fetchPriority({ fetchpriority }: Attributes): NamedResource["priority"] {
  const value = fetchpriority?.toLowerCase();
  return value === "high" || value === "low" ? value : "auto";
}

function isLazy(attributes: Attributes): boolean {
  return attributes.loading?.trim().toLowerCase() === "lazy";
}

// The picture of a `srcset` that a browser loads (HTML section 4.8.4.3), where the phone's screen tells.

interface Candidate {
  readonly url: string;
  /** Pixels for one of CSS. */
  readonly density: number;
}

const CANDIDATE = /[\s,]*([^\s,]\S*[^\s,]|[^\s,])(?:\s+(\d+(?:\.\d+)?)([wx]))?\s*(?:,|$)/y;
const TERM = /\s*(?:([+-])\s*)?(\d+(?:\.\d+)?|\.\d+)(px|vw|vh|r?em)\s*/y;

/** Characters of `srcset`, and of `sizes`. Longer ones are not looked at: sites write them. */
const [SRCSET_LENGTH, SIZES_LENGTH] = [4_000, 300];

/**
 * @param src of the element, or undefined.
 * @returns null where that cannot be known.
 */
export function chooseImage(
  srcset: string,
  sizes: string | undefined,
  src: string | undefined,
  viewport: Viewport,
): string | null {
  const candidates =
    srcset.length > SRCSET_LENGTH || (sizes ?? "").length > SIZES_LENGTH
      ? null
      : candidatesOf(srcset.trimEnd(), () => widthOf(sizes ?? "100vw", viewport));
  if (candidates === null) return null;
  const hasOne = candidates.some(({ density }) => density === 1);
  const isByWidth = /\s\d+w\s*(?:,|$)/.test(srcset);
  const all =
    src === undefined || src === "" || hasOne || isByWidth ? candidates : [...candidates, { url: src, density: 1 }];
  return (
    choose(
      all.toSorted((a, b) => a.density - b.density),
      viewport.density,
    )?.url ?? null
  );
}

function candidatesOf(srcset: string, width: () => number | null): Candidate[] | null {
  const candidates: Candidate[] = [];
  let byWidth: number | null | undefined;
  CANDIDATE.lastIndex = 0;
  while (CANDIDATE.lastIndex < srcset.length) {
    const [, url, number = "1", unit] = CANDIDATE.exec(srcset) ?? [];
    if (url === undefined) return null;
    if (unit === "w" && byWidth === undefined) byWidth = width();
    const size = unit === "w" ? (byWidth ?? null) : 1;
    if (size === null || size <= 0) return null;
    candidates.push({ url, density: Number(number) / size });
  }
  return candidates;
}

/** As Chromium does: by the geometric mean of two neighbours. */
function choose(candidates: readonly Candidate[], density: number): Candidate | undefined {
  let at = 0;
  for (; at + 1 < candidates.length; at++) {
    const [current, next] = [candidates[at]?.density ?? 0, candidates[at + 1]?.density ?? 0];
    if (next < density) continue;
    const isNext = (density <= 1 && density > current) || density >= Math.sqrt(current * next);
    return candidates[isNext ? at + 1 : at];
  }
  return candidates[at];
}

/** In CSS pixels, of a `sizes` attribute. */
function widthOf(sizes: string, viewport: Viewport): number | null {
  for (const size of partsOf(sizes)) {
    const text = size.trim();
    const isCalc = /^calc\(/i.test(text);
    // The condition ends with the last parenthesis that a space follows.
    const end = isCalc ? 0 : 1 + ([...text.matchAll(/\)\s/g)].at(-1)?.index ?? -1);
    const matches = matchesMedia(text.slice(0, end), viewport);
    if (matches === null) return null;
    if (matches) return lengthOf(text.slice(end).trim(), viewport);
  }
  return viewport.width;
}

/** Between commas that stand in no parentheses. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let [depth, start] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "(") depth += 1;
    else if (text[at] === ")") depth -= 1;
    else if (text[at] === "," && depth <= 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

/** A length, or a sum in `calc()`. */
function lengthOf(text: string, { width, height }: Viewport): number | null {
  const sum = text.replace(/^calc\((.*)\)$/is, "$1");
  const units: Readonly<Record<string, number>> = { px: 1, em: 16, rem: 16, vw: width / 100, vh: height / 100 };
  let total = 0;
  TERM.lastIndex = 0;
  for (let at = 0; at < sum.length; at = TERM.lastIndex) {
    const [, sign = "", number = "", unit = ""] = TERM.exec(sum) ?? [];
    const pixels = units[unit];
    if (pixels === undefined || (at > 0 && sign === "")) return null;
    total += (sign === "-" ? -1 : 1) * Number(number) * pixels;
  }
  return sum === "" ? null : total;
}

// Media queries (Media Queries Level 4) as far as they ask about the size of a phone's screen.

/** CSS pixels. */
const EM = 16;
/** Characters; a longer one is not looked at: sites write it. */
const QUERY_LENGTH = 300;

const FEATURE = /^\(\s*(min|max)-(width|height)\s*:\s*(\d+(?:\.\d+)?|\.\d+)(px|r?em)\s*\)$/i;
const ORIENTATION = /^\(\s*orientation\s*:\s*(portrait|landscape)\s*\)$/i;

/** @returns null for what only the phone can tell. */
export function matchesMedia(query: string, viewport: Viewport): boolean | null {
  if (query.length > QUERY_LENGTH) return null;
  const parts = query.split(",").map((part) => matchesOne(part.trim().toLowerCase().replace(/\s+/g, " "), viewport));
  if (parts.includes(true)) return true;
  return parts.includes(null) ? null : false;
}

function matchesOne(query: string, viewport: Viewport): boolean | null {
  const conditions = query.split(" and ").map((condition) => matchesCondition(condition, viewport));
  if (conditions.includes(false)) return false;
  return conditions.includes(null) ? null : true;
}

function matchesCondition(condition: string, viewport: Viewport): boolean | null {
  if (/^(?:only\s+)?(?:all|screen)?$/.test(condition)) return true;
  if (/^(?:only\s+)?(?:print|speech)$/.test(condition)) return false;
  const [, orientation] = ORIENTATION.exec(condition) ?? [];
  if (orientation !== undefined) return (orientation === "portrait") === viewport.height >= viewport.width;
  const [, bound, side, number, unit] = FEATURE.exec(condition) ?? [];
  if (bound === undefined) return null;
  const size = Number(number) * (unit === "px" ? 1 : EM);
  const actual = side === "width" ? viewport.width : viewport.height;
  return bound === "min" ? actual >= size : actual <= size;
}

// `Link` fields of a document (RFC 8288) that ask for a preload, as the element would say it.

/** Only the first links of a field are looked at, and of a long one nothing. */
const [LINKS, FIELD_LENGTH] = [32, 8_000];

const LINK = /[\s,]*<([^<>]*)>((?:\s*;\s*[\w*-]+(?:\s*=\s*(?:"[^"]*"|[^\s"';,]+))?)*)\s*(?:,|$)/y;
const PARAMETER = /;\s*([\w-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s"';,]+)))?/g;

/** Attributes of `<link>`, names in lower case; those with the relations that browsers act on in a field. */
export function linksOf(field: string): Readonly<Record<string, string>>[] {
  const links: Record<string, string>[] = [];
  if (field.length > FIELD_LENGTH) return links;
  LINK.lastIndex = 0;
  for (let found = LINK.exec(field); found !== null && links.length < LINKS; found = LINK.exec(field)) {
    const [, href = "", parameters = ""] = found;
    const all = [...parameters.matchAll(PARAMETER)].map(([, name = "", quoted, token]) => [
      name.toLowerCase(),
      quoted ?? token ?? "",
    ]);
    // The first of a name counts.
    const attributes: Record<string, string> = { ...Object.fromEntries(all.reverse()), href };
    if (/^(?:preload|modulepreload)$/i.test(attributes.rel ?? "")) links.push(attributes);
  }
  return links;
}

/** Some 0.2 s. The largest page of the bench takes 30,000. */
export const STEPS = 200_000;
/** Characters of an address that are gone through in the time of a step. */
export const CHARACTERS = 64;

/**
 * Steps that the text of one document may still cost. A step is a tag, an attribute, a rule or an address looked at, or so many
 * characters of an address; it takes about a microsecond. Sites write what is counted.
 */
export class Steps {
  #left: number;

  constructor(left: number = STEPS) {
    this.#left = left;
  }

  get isOver(): boolean {
    return this.#left <= 0;
  }

  /** @returns false once all are spent. */
  take(count: number): boolean {
    this.#left -= count;
    return this.#left > 0;
  }
}
