/**
 * Blank documents that scripts fill, and those that are written into them: their pictures, styles, fonts, films and
 * scripts. Chromium (156) gives such a document no service worker, and a policy of ours lets it ask no network. So this asks
 * in its place, by the page's worker, for whatever that policy stops, and gives it to the document as a `blob:`. The DOM
 * stays as its scripts wrote it wherever an editor may look: pictures and backgrounds are shown by a style sheet that is
 * not in it. Loads late, for the first such document that wants something.
 */
import { ropewayPath } from "../slot-url.ts";
import type { Realm } from "./page-context.ts";
import { patchAccessor, patchMethod } from "./patch.ts";

/** Facts and functions that the page script has, of before pages may put others in their place. */
export interface WrittenContext {
  readonly slotOrigin: string;
  /** The policy that stops such a document, as its events tell it. */
  readonly policy: string;
  readonly ask: typeof fetch;
  /** Writes into the document what may be parsed by now; null closes it. */
  readonly parse: (text: string | null) => void;
}

/**
 * An `error` of an element, or a `securitypolicyviolation`; text that is written; null where the document is closed, and
 * undefined where it is written anew: what was written before is over.
 */
export type Told = Event | string | null | undefined;

/** Hears how a blank document turns out. */
export type WrittenDocument = (told: Told) => void;

interface Loaded {
  readonly blob: Blob;
  /** Where it came from in the end. */
  readonly url: string;
}

type Kind = "audio" | "font" | "image" | "script" | "style" | "track" | "video";

/** As Chromium asks for them. */
const ACCEPTED: Partial<Readonly<Record<Kind, string>>> = {
  image: "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
  style: "text/css,*/*;q=0.1",
};

const { getAttribute, setAttribute, removeAttribute } = Element.prototype;

/** The kind of file that an element loads, and the attribute that names the file, but for pictures. */
const LOADED: Readonly<Record<string, readonly [attribute: string, kind: Kind]>> = {
  audio: ["src", "audio"],
  input: ["src", "image"],
  source: ["src", "video"],
  track: ["src", "track"],
  video: ["src", "video"],
};

/** Addresses that the page wrote, by the `blob:` that stands in the DOM in their place. */
const written = new Map<string, string>();
/** A picture with the bytes of what an element shows, and the address that the element had then. */
const mirrors = new WeakMap<HTMLImageElement, { readonly address: string; readonly picture: HTMLImageElement }>();
const patched = new WeakSet<object>();

const quoted = (text: string) => `"${text.replace(/["\\\n\r\f]/g, (mark) => `\\${mark.charCodeAt(0).toString(16)} `)}"`;
const turn = () => new Promise<void>((resolve) => setTimeout(resolve));

export function writtenDocument(child: Realm, context: WrittenContext): WrittenDocument {
  for (const realm of [window as Realm, child])
    if (!patched.has(realm.Document.prototype)) {
      patched.add(realm.Document.prototype);
      showAsWritten(realm);
    }
  const files = new Files(child, context);
  const elements = new Elements(child, files);
  const parser = new HeldParser(child, files, context);
  return (told) => {
    if (told === undefined) parser.open();
    else if (told === null || typeof told === "string") parser.write(told);
    else elements.stopped(told, context.policy);
  };
}

/** Scripts read the addresses that they wrote, and the sizes of pictures that are shown another way. */
function showAsWritten(realm: Realm): void {
  const shown = (value: unknown) => (String(value).startsWith("blob:") ? written.get(String(value)) : undefined);
  patchMethod(realm.Element.prototype, "getAttribute", (native, self, args) => {
    const value = native(self, args);
    return shown(value) ?? value;
  });
  for (const [{ prototype }, names] of [
    [realm.HTMLScriptElement, ["src"]],
    [realm.HTMLLinkElement, ["href"]],
    [realm.HTMLMediaElement, ["src", "currentSrc"]],
    [realm.HTMLVideoElement, ["poster"]],
    [realm.HTMLInputElement, ["src"]],
    [realm.HTMLSourceElement, ["src"]],
    [realm.HTMLTrackElement, ["src"]],
  ] as const)
    for (const name of names)
      patchAccessor(prototype, name, {
        get(native, self) {
          const value = native();
          const address = shown(value);
          return address === undefined ? value : new URL(address, (self as Element).baseURI).href;
        },
      });
  const { prototype } = realm.HTMLImageElement;
  const mirrorOf = (self: unknown): HTMLImageElement | undefined => {
    const { currentSrc, src } = self as HTMLImageElement;
    const { address, picture } = mirrors.get(self as HTMLImageElement) ?? {};
    return address === (currentSrc || src) ? picture : undefined;
  };
  for (const name of ["naturalWidth", "naturalHeight", "complete"] as const)
    patchAccessor(prototype, name, { get: (native, self) => mirrorOf(self)?.[name] ?? native() });
  patchMethod(prototype, "decode", (native, self, args) => mirrorOf(self)?.decode() ?? native(self, args));
  patchMethod(realm.CanvasRenderingContext2D.prototype, "drawImage", (native, self, [source, ...rest]) =>
    native(self, [mirrorOf(source) ?? source, ...rest]),
  );
}

/** Files of one document, by way of the page's worker. */
class Files {
  readonly #child: Realm;
  readonly #context: WrittenContext;
  readonly #asked = new Map<string, Promise<Loaded | null>>();
  readonly #pending = new Set<Promise<unknown>>();
  readonly #urls = new WeakMap<Blob, string>();
  /** Addresses that a policy of the page forbids. */
  readonly refused = new Set<string>();
  /** Those that the document has asked for: of what stands in styles, browsers load what is used. */
  readonly wanted = new Set<string>();
  /** Where styles stand that name an address. */
  readonly #namedBy = new Map<string, string>();

  constructor(child: Realm, context: WrittenContext) {
    this.#child = child;
    this.#context = context;
  }

  /** @returns null where it is forbidden, or cannot be had. */
  async load(address: string, kind: Kind, element?: Element): Promise<Loaded | null> {
    const url = withoutFragment(address);
    // The policy's own events come first.
    await turn();
    if (!/^https?:/i.test(url) || this.refused.has(url)) return null;
    const cors = kind === "font" ? "" : (element?.getAttribute("crossorigin") ?? null);
    const integrity = element?.getAttribute("integrity") ?? "";
    const key = [kind, cors, integrity, url].join(" ");
    let asked = this.#asked.get(key);
    if (asked === undefined) {
      asked = this.track(this.#ask(url, kind, cors, integrity, element));
      this.#asked.set(key, asked);
    }
    return asked;
  }

  async #ask(
    url: string,
    kind: Kind,
    cors: string | null,
    integrity: string,
    element?: Element,
  ): Promise<Loaded | null> {
    const { slotOrigin, ask } = this.#context;
    const isAnonymous = cors !== null && cors.toLowerCase() !== "use-credentials";
    // A document that nobody has opened is at no address.
    const sheet = this.#namedBy.get(url) ?? "";
    const isNowhere = sheet === "" && this.#child.location.href === "about:blank";
    const own = (element as Partial<HTMLImageElement> | undefined)?.referrerPolicy as ReferrerPolicy | undefined;
    const policy = isNowhere ? "no-referrer" : own;
    const query = new URLSearchParams({ kind, url, ...(cors === null ? {} : { cors }) });
    const accept = ACCEPTED[kind] ?? "*/*";
    const response = await ask(`${slotOrigin}${ropewayPath.download}?${query}`, {
      credentials: isAnonymous ? "same-origin" : "include",
      headers: { accept },
      integrity,
      ...(sheet.startsWith(slotOrigin) ? { referrer: sheet } : {}),
      ...(policy ? { referrerPolicy: policy } : {}),
    }).catch(() => null);
    if (response === null || (!response.ok && kind !== "image")) return null;
    return { blob: await response.blob(), url: response.headers.get("content-location") ?? url };
  }

  /** The document counts as loaded once the promise has settled, too. */
  track<T>(promise: Promise<T>): Promise<T> {
    this.#pending.add(promise);
    void promise.finally(() => this.#pending.delete(promise)).catch(() => {});
    return promise;
  }

  /** Resolves when all that the document wants is there, or cannot be had. */
  async settled(): Promise<void> {
    // The browser tells of what it has stopped a turn or two later, and of what that leads to.
    for (let quiet = 0; quiet < 4; quiet = this.#pending.size > 0 ? 0 : quiet + 1) {
      await Promise.allSettled(this.#pending);
      await turn();
    }
  }

  /** @param address in whose place it stands. */
  blobUrl(blob: Blob, address?: string): string {
    const url = this.#urls.get(blob) ?? this.#child.URL.createObjectURL(blob);
    this.#urls.set(blob, url);
    if (address !== undefined) written.set(url, address);
    return url;
  }

  /** A style sheet whose addresses are `blob:`, and so in all that it imports. */
  async sheet({ blob, url }: Loaded): Promise<Blob> {
    const [, charset = "utf-8"] = /charset\s*=\s*["']?([\w-]+)/i.exec(blob.type) ?? [];
    const text = new TextDecoder(charset).decode(await blob.arrayBuffer());
    return new Blob([await this.styles(text, url, true)], { type: "text/css" });
  }

  /**
   * Text of styles with `blob:` for what they import, and for addresses that are wanted and can be had.
   *
   * @param base that addresses are relative to.
   * @param isMoved the text is to stand elsewhere.
   */
  async styles(text: string, base: string, isMoved = false): Promise<string> {
    const parts: (string | Promise<string>)[] = [];
    let at = 0;
    let isFont = false;
    for (const match of text.matchAll(STYLE_TOKEN)) {
      const [whole] = match;
      if (whole === "}" || whole.startsWith("@font")) isFont = whole !== "}";
      const { opening = "", double, single, bare } = match.groups ?? {};
      const address = (double ?? single ?? bare)?.replace(ESCAPE, (_whole, hex, mark) =>
        hex === undefined ? mark : String.fromCodePoint(Number.parseInt(hex, 16)),
      );
      const url = address === undefined || address.startsWith("#") ? null : URL.parse(address, base);
      if (opening === "" || url === null) continue;
      const kind = /^@/.test(opening) ? "style" : isFont ? "font" : "image";
      if (isMoved) this.#namedBy.set(withoutFragment(url.href), base);
      const isWanted = kind === "style" || this.wanted.has(withoutFragment(url.href));
      const unloaded = isMoved ? inStyles(kind, url.href) : whole;
      parts.push(text.slice(at, match.index), isWanted ? this.#styleAddress(url.href, kind, unloaded) : unloaded);
      at = match.index + whole.length;
    }
    return (await Promise.all(parts)).join("") + text.slice(at);
  }

  async #styleAddress(url: string, kind: Kind, unloaded: string): Promise<string> {
    const loaded = await this.load(url, kind);
    if (loaded === null) return unloaded;
    const blob = kind === "style" ? await this.sheet(loaded) : loaded.blob;
    const [, fragment = ""] = url.split(/(?=#)/);
    return inStyles(kind, this.blobUrl(blob) + fragment);
  }
}

const inStyles = (kind: Kind, url: string) => `${kind === "style" ? "@import " : ""}url(${quoted(url)}) `;
const withoutFragment = (url: string) => url.split("#", 1)[0] ?? "";

/** Comments and texts, which are passed over; addresses; the rule in which they are of fonts. */
const STYLE_TOKEN =
  /\/\*[\s\S]*?(?:\*\/|$)|(?<opening>@import\s+(?:url\(\s*)?|url\(\s*)(?:"(?<double>(?:[^"\\]|\\[\s\S])*)"|'(?<single>(?:[^'\\]|\\[\s\S])*)'|(?<bare>[^"'()\s;]+))\s*\)?|"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|@font-face|\}/gi;
const ESCAPE = /\\(?:([0-9a-f]{1,6})\s?|([\s\S]))/gi;

/** An address in styles that is none of ours yet. */
const WANTS = /url\((?!\s*["']?(?:blob:|data:|#))/i;

/** Elements of one document that failed, and its styles. */
class Elements {
  readonly #child: Realm;
  readonly #files: Files;
  /** Rules by which pictures and backgrounds are shown. */
  readonly #shown: CSSStyleSheet;
  readonly #rules = new Set<string>();
  #scripts: Promise<unknown> = Promise.resolve();
  #isLooking = false;

  constructor(child: Realm, files: Files) {
    this.#child = child;
    this.#files = files;
    this.#shown = new child.CSSStyleSheet();
  }

  stopped(event: Event, policy: string): void {
    const { target } = event;
    if (event.type === "error") {
      const failed = target as Element;
      void this.#files.track(this.#load(failed).then((isThere) => this.#tell(failed, isThere)));
      return;
    }
    const { blockedURI, disposition, originalPolicy } = event as SecurityPolicyViolationEvent;
    if (originalPolicy !== policy && disposition === "enforce") this.#files.refused.add(blockedURI);
    else {
      this.#files.wanted.add(blockedURI);
      void this.#files.track(this.#lookAtStyles());
    }
  }

  /** @param isThere null where the element says so itself. */
  #tell(element: Element, isThere: boolean | null): void {
    if (isThere !== null) element.dispatchEvent(new this.#child.Event(isThere ? "load" : "error"));
  }

  async #load(element: Element): Promise<boolean | null> {
    switch (element.localName) {
      case "img":
        return this.#loadPicture(element as HTMLImageElement);
      case "link":
        return this.#loadSheet(element as HTMLLinkElement);
      case "script": {
        const last = this.#scripts;
        const script = this.#loadScript(element as HTMLScriptElement, last);
        this.#scripts = script.catch(() => {});
        return script;
      }
      default: {
        const [attribute, kind] = LOADED[element.localName] ?? [];
        const address = attribute === undefined ? null : getAttribute.call(element, attribute);
        if (attribute === undefined || kind === undefined || address === null) return false;
        const loaded = await this.#files.load(new URL(address, element.baseURI).href, kind, element);
        if (loaded === null || getAttribute.call(element, attribute) !== address) return false;
        setAttribute.call(element, attribute, this.#files.blobUrl(loaded.blob, address));
        if (element.localName === "source") (element.parentElement as HTMLMediaElement | null)?.load?.();
        return null;
      }
    }
  }

  /** Shown in the element's place, which stays as it was written: editors compare, and send it. */
  async #loadPicture(element: HTMLImageElement): Promise<boolean> {
    // `currentSrc` is empty where the picture failed; `src` as written counts then.
    const address = element.currentSrc || element.src;
    const url = URL.parse(address, element.baseURI)?.href ?? "";
    const loaded = await this.#files.load(url, "image", element);
    if (loaded === null) return false;
    const blob = this.#files.blobUrl(loaded.blob);
    const { source, descriptor } = candidateOf(element, url);
    const picture = this.#child.document.createElement("img");
    const whole = this.#child.document.createElement("img");
    picture.sizes = source.sizes;
    picture.srcset = `${blob} ${descriptor}`;
    whole.src = blob;
    const isWhole = await Promise.all([picture, whole].map(decoded));
    if (isWhole.includes(false)) return false;
    mirrors.set(element, { address, picture });
    const density = whole.naturalWidth / picture.naturalWidth || 1;
    const attributes = ["src", "srcset", "sizes"].map((name) => matching(element, name)).join("");
    this.#show(`img${attributes}{content:image-set(url("${blob}") ${density}x)}`);
    // Chromium gives a broken picture that stands in a line no size, whatever its attributes say.
    this.#show(`:where(img${attributes}){display:inline-block}`);
    return true;
  }

  async #loadSheet(link: HTMLLinkElement): Promise<boolean | null> {
    const address = getAttribute.call(link, "href");
    const loaded = link.relList.contains("stylesheet") ? await this.#files.load(link.href, "style", link) : null;
    if (loaded === null || address === null) return false;
    const url = this.#files.blobUrl(await this.#files.sheet(loaded), address);
    // The integrity was checked when the file came.
    removeAttribute.call(link, "integrity");
    const isOver = new Promise<void>((resolve) => {
      for (const type of ["load", "error"]) link.addEventListener(type, () => resolve(), { once: true });
    });
    setAttribute.call(link, "href", url);
    await isOver;
    return null;
  }

  /** A script that failed never runs: another one does, one after the other as they stand there. */
  async #loadScript(script: HTMLScriptElement, last: Promise<unknown>): Promise<boolean> {
    const loaded = await this.#files.load(script.src, "script", script);
    await last;
    if (loaded === null || !script.isConnected) return false;
    const other = this.#child.document.createElement("script");
    for (const { name, value } of script.attributes) if (name !== "integrity") setAttribute.call(other, name, value);
    setAttribute.call(other, "src", this.#files.blobUrl(loaded.blob, getAttribute.call(script, "src") ?? ""));
    const isOver = new Promise<void>((resolve) => {
      for (const type of ["load", "error"]) other.addEventListener(type, () => resolve(), { once: true });
    });
    script.before(other);
    await isOver;
    other.remove();
    return true;
  }

  /** Once for all that was stopped in this turn. */
  async #lookAtStyles(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    await turn();
    this.#isLooking = false;
    const { document } = this.#child;
    const sheets = [...document.styleSheets, ...document.adoptedStyleSheets].filter((sheet) => sheet !== this.#shown);
    await Promise.all([
      ...sheets.map((sheet) => this.#lookAtSheet(sheet)),
      ...[...document.querySelectorAll<HTMLElement>("[style*='url(']")].map((element) => this.#lookAtStyle(element)),
      ...[...document.querySelectorAll("[background]")].map((element) => this.#lookAtBackground(element)),
    ]);
  }

  async #lookAtSheet(sheet: CSSStyleSheet): Promise<void> {
    const base = sheet.href ?? this.#child.document.baseURI;
    const imported = [...sheet.cssRules].map((rule) => (rule as Partial<CSSImportRule>).styleSheet ?? null);
    const wanting = [...sheet.cssRules].filter(({ cssText }) => WANTS.test(cssText));
    await Promise.all([
      ...imported.map((each) => each === null || this.#lookAtSheet(each)),
      ...wanting.map(async (rule) => {
        const text = await this.#files.styles(rule.cssText, base);
        const at = [...sheet.cssRules].indexOf(rule);
        if (at === -1 || text === rule.cssText) return;
        sheet.deleteRule(at);
        sheet.insertRule(text, at);
      }),
    ]);
  }

  async #lookAtStyle(element: HTMLElement): Promise<void> {
    const { style } = element;
    const selector = `[style=${quoted(getAttribute.call(element, "style") ?? "")}]`;
    for (const name of style) {
      const value = style.getPropertyValue(name);
      if (!WANTS.test(value)) continue;
      const shown = await this.#files.styles(value, element.baseURI);
      if (shown !== value) this.#show(`${selector}{${name}:${shown}!important}`);
    }
  }

  async #lookAtBackground(element: Element): Promise<void> {
    const loaded = await this.#files.load(
      new URL(getAttribute.call(element, "background") ?? "", element.baseURI).href,
      "image",
    );
    if (loaded === null) return;
    this.#show(`${matching(element, "background")}{background-image:url("${this.#files.blobUrl(loaded.blob)}")}`);
  }

  #show(rule: string): void {
    const { document } = this.#child;
    if (!this.#rules.has(rule)) this.#shown.insertRule(rule, this.#shown.cssRules.length);
    this.#rules.add(rule);
    if (!document.adoptedStyleSheets.includes(this.#shown))
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.#shown];
  }
}

/** Selects by an attribute as it is. */
function matching(element: Element, name: string): string {
  const value = getAttribute.call(element, name);
  return value === null ? "" : `[${name}=${quoted(value)}]`;
}

const decoded = (picture: HTMLImageElement): Promise<boolean> =>
  picture.decode().then(
    () => true,
    () => false,
  );

/** The place from which the browser took a picture's address, and what it says of its size. */
function candidateOf(element: HTMLImageElement, url: string) {
  const siblings = element.parentElement?.localName === "picture" ? element.parentElement.children : [];
  const sources = [...siblings].filter((each): each is HTMLSourceElement => each.localName === "source");
  for (const source of [...sources, element])
    for (const candidate of source.srcset.split(/,\s+|,$/)) {
      const [address = "", descriptor = ""] = candidate.trim().split(/\s+/);
      if (address !== "" && URL.parse(address, element.baseURI)?.href === url) return { source, descriptor };
    }
  return { source: element, descriptor: "" };
}

const SCRIPT = /<script\b(?:[^>"']|"[^"]*"|'[^']*')*>/i;

/**
 * Written text on its way to the document's parser, which waits for a script with an address as it does in any document:
 * such scripts write, too, and their text comes before the text that was written behind them.
 */
class HeldParser {
  readonly #child: Realm;
  readonly #files: Files;
  readonly #context: WrittenContext;
  #waiting: (string | null)[] = [];
  /** How many of those texts the script that runs has written. */
  #ahead = 0;
  /** Scripts that have not run, and a close of the document that is under way. */
  #holds = 0;
  #isLoading = false;
  /** Counts how often the document was written anew. */
  #documents = 0;

  constructor(child: Realm, files: Files, context: WrittenContext) {
    this.#child = child;
    this.#files = files;
    this.#context = context;
  }

  open(): void {
    this.#waiting = [];
    this.#ahead = this.#holds = 0;
    this.#isLoading = false;
    this.#documents += 1;
  }

  write(text: string | null): void {
    if (text === null || this.#child.document.currentScript === null) {
      this.#waiting.push(text);
      return this.#goOn();
    }
    // A script of the document writes where it stands.
    this.#waiting.splice(this.#ahead++, 0, text);
    while (!this.#isLoading && this.#ahead > 0) this.#next();
  }

  #goOn(): void {
    while (this.#holds === 0 && this.#waiting.length > 0) this.#next();
  }

  #next(): void {
    this.#ahead = Math.max(0, this.#ahead - 1);
    const next = this.#waiting.shift();
    if (typeof next === "string") this.#parse(next);
    else this.#hold(this.#close());
  }

  /** Nothing more is parsed until then. */
  #hold(until: Promise<void>): void {
    const document = this.#documents;
    this.#holds += 1;
    void until.finally(() => {
      if (document !== this.#documents) return;
      this.#holds -= 1;
      this.#goOn();
    });
  }

  async #close(): Promise<void> {
    const document = this.#documents;
    await this.#files.settled();
    if (document === this.#documents) this.#context.parse(null);
  }

  /** As far as its first script. */
  #parse(text: string): void {
    const tag = SCRIPT.exec(text);
    if (tag === null) return this.#context.parse(text);
    const end = text.indexOf("</script", tag.index);
    const after = (end === -1 ? 0 : text.indexOf(">", end) + 1) || text.length;
    if (tag.index > 0) this.#context.parse(text.slice(0, tag.index));
    if (after < text.length) {
      this.#waiting.unshift(text.slice(after));
      this.#ahead += 1;
    }
    const element = text.slice(tag.index, after);
    const script = new DOMParser().parseFromString(tag[0], "text/html").querySelector("script");
    const address = script?.getAttribute("src") ?? null;
    const isBlocking =
      script !== null && address !== null && !script.async && !script.defer && script.type !== "module";
    if (isBlocking) return this.#hold(this.#run(script, address, element));
    const outer = this.#ahead;
    this.#ahead = 0;
    this.#context.parse(element);
    this.#ahead += outer;
  }

  async #run(script: HTMLScriptElement, address: string, element: string): Promise<void> {
    const document = this.#documents;
    const url = URL.parse(address, this.#child.document.baseURI)?.href ?? "";
    this.#isLoading = true;
    const loaded = await this.#files.load(url, "script", script);
    if (document !== this.#documents) return;
    this.#isLoading = false;
    this.#ahead = 0;
    // A script that cannot be had fails in the document.
    if (loaded === null) return this.#context.parse(element);
    const blob = this.#files.blobUrl(loaded.blob, address);
    setAttribute.call(script, "src", blob);
    removeAttribute.call(script, "integrity");
    this.#context.parse(script.outerHTML);
    const inDocument = this.#child.document.querySelector(`script[src="${blob}"]`);
    // A script in a comment is none.
    if (inDocument === null) return;
    await new Promise<void>((resolve) => {
      for (const type of ["load", "error"]) inDocument.addEventListener(type, () => resolve(), { once: true });
    });
  }
}
