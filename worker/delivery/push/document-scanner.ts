/**
 * Finds in a document, as it streams by, what a browser's preload scanner would ask for: scripts, style sheets, images,
 * preloads. What depends on the screen (`srcset`, `media`) only where the phone has told of that; not what may never be wanted
 * (`loading=lazy`, templates, `<noscript>`). Besides, the first backgrounds of `style` attributes, which browsers find only
 * once all style sheets are there: they tend to be the largest picture at the top.
 */
import { Parser } from "htmlparser2";
import type { CredentialsMode, Destination, RequestMode } from "../../../shared/http/heads.ts";
import type { Viewport } from "../../../shared/http/viewport.ts";
import { parseReferrerPolicy, type ReferrerPolicy } from "../../../shared/web/referrer-policy.ts";
import { chooseImage } from "./image-candidates.ts";
import { matchesMedia } from "./media-query.ts";

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

/** What an element would say. */
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

/** What may stand in a head. The first other element begins the body. */
const OF_HEAD: ReadonlySet<string> = new Set(
  "base head html link meta noscript script style template title".split(" "),
);

/** Whose content is not shown while scripts run, or only once a script puts it somewhere. */
const INERT: ReadonlySet<string> = new Set(["noscript", "template"]);
const INERT_WITHOUT_SCRIPTS: ReadonlySet<string> = new Set(["template"]);

const SCRIPT_TYPES =
  /^(?:(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/(?:javascript1\.[0-5]|jscript|livescript)|module)?$/i;

/** Backgrounds further down may be of what is not shown. */
const BACKGROUNDS = 2;

/** Characters: of a `<style>`; what it imports stands at its beginning. */
const INLINE_LENGTH = 8 * 1024;

/** A longer attribute is not looked at: time is quadratic in it. */
const STYLE_LENGTH = 1_000;

/** An image of `background` or `background-image`, as CSS writes it: in quotes or not. Without escapes. */
const BACKGROUND =
  /(?:^|[;\s])background(?:-image)?\s*:[^;"']*?\burl\(\s*(?:"([^"\\]*)"|'([^'\\]*)'|([^\s"'()\\]*))\s*\)/i;

/** `as` values that are asked for as by an element of their kind. */
const PRELOADED: ReadonlySet<string> = new Set(["font", "image", "script", "style"]);

export class DocumentScanner {
  #parser: Parser;
  #inertDepth = 0;
  /** The `<picture>` that is open: what its sources say so far. */
  #picture: PictureChoice | null = null;
  #hasBase = false;
  #backgrounds = 0;
  #isPastPolicies = false;
  /** The `<style>` that is open, if it is for the screen. */
  #style: { text: string; readonly nonce: string } | null = null;
  #handler: ScanHandler;
  #viewport: Viewport | undefined;
  readonly #inert: ReadonlySet<string>;

  /** @param viewport of the phone, where it has told. */
  constructor(handler: ScanHandler, viewport?: Viewport, runsScripts = true) {
    this.#handler = handler;
    this.#viewport = viewport;
    this.#inert = runsScripts ? INERT : INERT_WITHOUT_SCRIPTS;
    this.#parser = new Parser(
      {
        onopentag: (name, attributes) => this.#open(name, attributes),
        onclosetag: (name) => this.#close(name),
        ontext: (text) => this.#read(text),
      },
      { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
    );
  }

  /** Whether scripts may run: what the head says of policies has been read. */
  get isPastPolicies(): boolean {
    return this.#isPastPolicies;
  }

  write(text: string): void {
    this.#parser.write(text);
  }

  #open(name: string, attributes: Attributes): void {
    this.#isPastPolicies ||= name === "script" || !OF_HEAD.has(name);
    if (this.#inert.has(name)) this.#inertDepth += 1;
    if (name === "picture") this.#picture = { kind: "open" };
    if (this.#inertDepth > 0) return;
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
    if (this.#inert.has(name)) this.#inertDepth -= 1;
    if (name === "style" && this.#style !== null) {
      const { text, nonce } = this.#style;
      this.#style = null;
      this.#handler.onStyle(text, nonce);
    }
    if (name === "picture") this.#picture = null;
  }

  #read(text: string): void {
    if (this.#style !== null && this.#style.text.length < INLINE_LENGTH) this.#style.text += text;
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
    return this.#viewport && (chooseImage(srcset, sizes, src, this.#viewport) ?? undefined);
  }

  /** Null where nobody here knows. */
  #isForScreen(media = ""): boolean | null {
    if (/^(?:all|screen)?$/i.test(media.trim())) return true;
    return this.#viewport === undefined ? null : matchesMedia(media, this.#viewport);
  }

  #openStyle(style: string, attributes: Attributes): void {
    if (
      this.#backgrounds >= BACKGROUNDS ||
      style.length > STYLE_LENGTH ||
      "hidden" in attributes ||
      /\bdisplay\s*:\s*none\b/i.test(style)
    )
      return;
    const [, inDouble, inSingle, bare] = BACKGROUND.exec(style) ?? [];
    const url = inDouble ?? inSingle ?? bare;
    if (url === undefined || /^\s*(?:data:|#|$)/i.test(url)) return;
    this.#backgrounds += 1;
    this.#name(url, "image", {}, { isOfStyle: true });
  }

  #openMeta(attributes: Attributes): void {
    const content = attributes.content ?? "";
    if (attributes["http-equiv"]?.trim().toLowerCase() === "content-security-policy") {
      return this.#handler.onContentSecurityPolicy(content);
    }
    if (attributes.name?.trim().toLowerCase() !== "referrer") return;
    const policy = parseReferrerPolicy(content.trim());
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

function fetchPriority({ fetchpriority }: Attributes): NamedResource["priority"] {
  const value = fetchpriority?.toLowerCase();
  return value === "high" || value === "low" ? value : "auto";
}

function isLazy(attributes: Attributes): boolean {
  return attributes.loading?.trim().toLowerCase() === "lazy";
}
