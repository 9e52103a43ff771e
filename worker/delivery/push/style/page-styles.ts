/**
 * The style sheets of one document, those in it and those pushed with it: says what they import, and when all are read
 * that are on their way, which fonts and backgrounds the page asks for because of them. A browser learns that only when
 * it has all of them: a round trip later.
 */
import { headerValue } from "../../../../shared/http/head-fields.ts";
import type { Viewport } from "../../../../shared/http/viewport.ts";
import type { ObserveBody } from "../../stage.ts";
import { type NamedResource, UNNAMED } from "../document-scanner.ts";
import { filesOf, type PageSheet, type StyleFile } from "./cascade.ts";
import { BEGINNING, observeSheet } from "./observe-sheet.ts";
import { PageElements } from "./page-elements.ts";
import { readStyleSheet, type StyleSheet } from "./style-sheet.ts";

/** Count: a browser needs few, and the last are the least sure. */
const MOST: Readonly<Record<StyleFile["kind"], number>> = { font: 16, image: 16 };
/** Count: sheets of one page that are read; each is in memory. */
const SHEETS = 32;
/** Tokens of all that are kept: some 10 MB. */
const SIZE = 60_000;
/** Count: each time all elements are gone through. */
const TIMES = 5;

interface SheetPlace {
  /** Where it came from; null while that is open, and for one in the document. */
  url: string | null;
  /** Null for one that was not read yet. */
  read: PageSheet | null;
}

/** A style sheet that is on its way. */
export interface ExpectedSheet {
  readonly observe: ObserveBody;
  /** It does not come. */
  over(): void;
}

export class PageStyles {
  readonly elements = new PageElements();
  readonly #viewport: Viewport | undefined;
  readonly #onResource: (resource: NamedResource) => void;
  /** In their order on the page: the last wins. */
  readonly #sheets: SheetPlace[] = [];
  readonly #named: Record<StyleFile["kind"], Set<string>> = { font: new Set(), image: new Set() };
  #size = 0;
  #expected = 0;
  #times: number;

  /** @param matches whether more is wanted than what they import. */
  constructor(viewport: Viewport | undefined, matches: boolean, onResource: (resource: NamedResource) => void) {
    this.#viewport = viewport;
    this.#times = matches ? TIMES : 0;
    this.#onResource = onResource;
  }

  /** A `<style>` of the document, whose addresses are relative to `base`. */
  readInline(text: string, base: string): void {
    if (this.#sheets.length >= SHEETS) return;
    const sheet = readStyleSheet(this.#times > 0 ? text : text.slice(0, BEGINNING), this.#viewport);
    for (const each of sheet.imports) this.#import(each, base, { ...UNNAMED, ...REQUESTS.style });
    this.#sheets.push({ url: null, read: this.#kept(base, sheet) });
  }

  /** A style sheet that is asked for. One that is imported comes before the one that imports it. */
  expect(resource: NamedResource): ExpectedSheet {
    const place: SheetPlace = { url: null, read: null };
    const importing = this.#sheets.findIndex(({ url }) => url !== null && url === resource.importer);
    if (this.#sheets.length < SHEETS) this.#sheets.splice(importing < 0 ? this.#sheets.length : importing, 0, place);
    this.#expected += 1;
    let isOver = false;
    const over = (): void => {
      if (isOver) return;
      isOver = true;
      this.#expected -= 1;
      this.update();
    };
    const observe: ObserveBody = ({ status, headers, url }) => {
      const type = (headerValue(headers, "content-type") ?? "").replace(/;.*$/s, "").trim().toLowerCase();
      if (status !== 200 || type !== "text/css") {
        over();
        return null;
      }
      place.url = url;
      const onImport = (each: string): void => this.#import(each, url, { ...resource, importer: url });
      const onSheet = (sheet: StyleSheet): void => {
        place.read = this.#kept(url, sheet);
        over();
      };
      return observeSheet({ onImport, onSheet }, this.#viewport, this.#times > 0);
    };
    return { observe, over };
  }

  /** More of the document was read, or of its style sheets. */
  update(): void {
    if (this.#expected > 0 || this.#times <= 0) return;
    const sheets = this.#sheets.flatMap(({ read }) => read ?? []);
    if (sheets.length === 0) return;
    this.#times -= 1;
    for (const { kind, url, sheet } of filesOf(this.elements.all, sheets)) {
      if (!URL.canParse(url, sheet)) continue;
      const address = new URL(url, sheet).href;
      const named = this.#named[kind];
      if (named.has(address) || named.size >= MOST[kind]) continue;
      named.add(address);
      const isOfFile = this.#sheets.some((place) => place.url === sheet);
      this.#onResource({ ...UNNAMED, ...REQUESTS[kind], url: address, ...(isOfFile && { importer: sheet }) });
    }
  }

  /** Null for what there is no room for. */
  #kept(url: string, sheet: StyleSheet): PageSheet | null {
    if (this.#size + sheet.size > SIZE) return null;
    this.#size += sheet.size;
    return { url, sheet };
  }

  /** The nonce is that of the element. */
  #import(url: string, base: string, by: Omit<NamedResource, "url">): void {
    if (URL.canParse(url, base))
      this.#onResource({ ...by, url: new URL(url, base).href, isDeferred: false, nonce: "" });
  }
}

/** CSS Fonts Level 4 section 4.8.2, and as elements ask for images and style sheets. */
const REQUESTS = {
  font: { destination: "font", mode: "cors", credentials: "same-origin" },
  image: { destination: "image", mode: "no-cors", credentials: "include", priority: "high" },
  style: { destination: "style", mode: "no-cors", credentials: "include" },
} as const;
