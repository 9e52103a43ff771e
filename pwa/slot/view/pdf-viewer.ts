/**
 * Shows a PDF: pages as they come into view, with their text and links over them. Loads late, for the first one. A file's
 * scripts do not run, and nothing of it becomes a script: see `pdfPolicy`.
 */
import {
  AnnotationMode,
  GlobalWorkerOptions,
  getDocument,
  PasswordResponses,
  type PDFDocumentProxy,
  type PDFPageProxy,
  TextLayer,
} from "pdfjs-dist/legacy/build/pdf.mjs";
import { hearFingers, hearKeys } from "./gestures.ts";
import { type FileHost, openFile } from "./pdf-file.ts";
import { button, element } from "./tree.ts";

export interface PdfHost extends FileHost {
  readonly workerUrl: string;
  /** Where the viewer goes. */
  readonly place: HTMLElement;
  /** Asks the person. */
  readonly askPassword: (wasWrong: boolean) => Promise<string>;
  /** As of `words.ts`. */
  readonly marked: <Shown extends HTMLElement>(element: Shown) => Shown;
  readonly save: HTMLElement;
}

/** Resolves when the first page can be shown, with what makes the texts of all pages. @throws Error for people. */
export async function showPdf(host: PdfHost): Promise<() => Promise<void>> {
  GlobalWorkerOptions.workerSrc = host.workerUrl;
  const file = await openFile(host);
  const task = getDocument({
    ...file,
    isEvalSupported: false,
    enableXfa: false,
    useWasm: false,
    disableAutoFetch: true,
    disableStream: true,
    useSystemFonts: true,
  });
  task.onPassword = (update: (password: string) => void, reason: number) =>
    void host.askPassword(reason === PasswordResponses.INCORRECT_PASSWORD).then(update);
  const pdf = await task.promise;
  const viewer = new Viewer(pdf, await pdf.getPage(1), host);
  return () => viewer.makeAllTexts();
}

/** Pixels of the file to one of the screen, of which CSS has 96 and PDF 72 to an inch. */
const LARGEST = 8;
const SMALLEST = 0.1;
const STEP = 1.25;

/** Pixels of a page's picture: phones give no more to a canvas, and memory for few of these. */
const MOST_PIXELS = 8_000_000;

/** Pages whose texts are made for a search. */
const MOST_SEARCHED = 500;

/** A file of a few bytes may say that it has millions. */
const MOST_PAGES = 10_000;

/** Milliseconds of rest after a gesture, before pages are drawn anew. */
const REST = 250;

class Viewer {
  readonly #pdf: PDFDocumentProxy;
  readonly #pages: readonly PageView[];
  readonly #list = element("div", "pages");
  readonly #number = element("input", "");
  /** Null: as wide as the window. */
  #scale: number | null = null;
  #timer = 0;

  constructor(pdf: PDFDocumentProxy, first: PDFPageProxy, host: PdfHost) {
    this.#pdf = pdf;
    const { width, height } = first.getViewport({ scale: 1 });
    this.#pages = Array.from(
      { length: Math.min(pdf.numPages, MOST_PAGES) },
      (_, index) => new PageView(pdf, index + 1, { width, height }, host.t, (target) => void this.#follow(target)),
    );
    this.#list.append(...this.#pages.map((page) => page.box));
    host.place.replaceChildren(this.#bar(host), this.#list);
    this.#zoom(null);
    this.#watch();
  }

  #bar({ save, t, marked }: PdfHost): HTMLElement {
    const number = this.#number;
    number.type = "text";
    number.inputMode = "numeric";
    number.value = "1";
    number.ariaLabel = t("Page, of {count}", { count: this.#pages.length });
    number.addEventListener("keydown", (event) => event.stopPropagation());
    number.addEventListener("change", () => this.#goTo(Number(number.value)));
    const sign = (text: string, label: string, act: () => void) => {
      const made = button(text, act);
      made.ariaLabel = label;
      return made;
    };
    const place = element("span", "number", number, ` / ${this.#pages.length}`);
    place.dir = "ltr";
    const bar = marked(
      element(
        "div",
        "bar",
        sign("−", t("Smaller"), () => this.#zoom(this.#scaleNow() / STEP)),
        sign("+", t("Larger"), () => this.#zoom(this.#scaleNow() * STEP)),
        sign("↔", t("As wide as the window"), () => this.#zoom(null)),
        place,
        button(t("Print"), () => void this.#print()),
        save,
      ),
    );
    bar.role = "toolbar";
    bar.ariaLabel = "PDF";
    return bar;
  }

  #scaleNow(): number {
    const [first] = this.#pages;
    const room = document.documentElement.clientWidth - 16;
    return this.#scale ?? Math.min(room / (first?.size.width ?? room), 2);
  }

  /** @param at of the window: the place in the file there stays there. */
  #zoom(scale: number | null, at = { x: document.documentElement.clientWidth / 2, y: window.innerHeight / 2 }): void {
    const page = document.scrollingElement ?? document.documentElement;
    const before = this.#list.getBoundingClientRect();
    this.#scale = scale === null ? null : Math.min(Math.max(scale, SMALLEST), LARGEST);
    this.#list.style.setProperty("--total-scale-factor", String(this.#scaleNow()));
    const after = this.#list.getBoundingClientRect();
    page.scrollLeft += (at.x - before.left) * (after.width / before.width) - (at.x - after.left);
    page.scrollTop += (at.y - before.top) * (after.height / before.height) - (at.y - after.top);
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#draw(), REST);
  }

  #watch(): void {
    const seen = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries)
          this.#pages.find(({ box }) => box === target)?.see(isIntersecting);
        this.#draw();
      },
      { rootMargin: "50% 0%" },
    );
    for (const { box } of this.#pages) seen.observe(box);
    window.addEventListener("resize", () => this.#zoom(this.#scale));
    window.addEventListener("scroll", () => this.#tellNumber(), { passive: true });
    hearKeys((by) => this.#zoom(by === null ? null : this.#scaleNow() * by));
    hearFingers(
      this.#list,
      () => this.#scaleNow(),
      (scale, at) => this.#zoom(scale, at),
      () => {},
    );
  }

  #draw(): void {
    for (const page of this.#pages) page.draw(this.#scaleNow());
  }

  #tellNumber(): void {
    const middle = window.innerHeight / 2;
    const at = this.#pages.findIndex(({ box }) => box.getBoundingClientRect().bottom > middle);
    if (this.#number.getRootNode() instanceof ShadowRoot && !this.#number.matches(":focus"))
      this.#number.value = String(at + 1);
  }

  #goTo(number: number): HTMLElement | undefined {
    const page = this.#pages[Math.min(Math.max(Math.round(number) || 1, 1), this.#pages.length) - 1];
    page?.box.scrollIntoView({ behavior: "instant" });
    this.#tellNumber();
    return page?.box;
  }

  /** To a place in the file that a link names. */
  async #follow(target: unknown): Promise<void> {
    const place = typeof target === "string" ? await this.#pdf.getDestination(target) : target;
    const [page] = Array.isArray(place) ? (place as unknown[]) : [];
    const isNumber = typeof page === "number";
    if (!isNumber && (typeof page !== "object" || page === null)) return;
    const index = isNumber
      ? page
      : await this.#pdf.getPageIndex(page as Parameters<PDFDocumentProxy["getPageIndex"]>[0]);
    // Keys, and a voice, go on from there.
    this.#goTo(index + 1)?.focus({ preventScroll: true });
  }

  async makeAllTexts(): Promise<void> {
    for (const page of this.#pages.slice(0, MOST_SEARCHED)) await page.makeText();
  }

  async #print(): Promise<void> {
    for (const page of this.#pages) await page.drawForPrint();
    window.print();
  }
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** A page, and what of it is made. */
class PageView {
  readonly box = element("div", "page");
  size: Size;
  readonly #pdf: PDFDocumentProxy;
  readonly #number: number;
  readonly #t: FileHost["t"];
  readonly #follow: (target: unknown) => void;
  #isSeen = false;
  #drawn: { readonly scale: number; readonly canvas: HTMLCanvasElement } | null = null;
  #drawing: { readonly cancel: () => void } | null = null;
  #page: Promise<PDFPageProxy> | null = null;
  #text: Promise<void> | null = null;

  constructor(pdf: PDFDocumentProxy, number: number, size: Size, t: FileHost["t"], follow: (target: unknown) => void) {
    this.#pdf = pdf;
    this.#number = number;
    this.#t = t;
    this.size = size;
    this.#follow = follow;
    this.box.role = "region";
    this.box.tabIndex = -1;
    this.box.ariaLabel = t("Page {number}", { number });
    this.#setSize(size);
  }

  #setSize(size: Size): void {
    this.size = size;
    this.box.style.setProperty("--width", String(size.width));
    this.box.style.setProperty("--height", String(size.height));
  }

  #get(): Promise<PDFPageProxy> {
    this.#page ??= this.#pdf.getPage(this.#number).then((page) => {
      const { width, height } = page.getViewport({ scale: 1 });
      this.#setSize({ width, height });
      return page;
    });
    return this.#page;
  }

  see(isSeen: boolean): void {
    this.#isSeen = isSeen;
    if (isSeen) return;
    this.#drawing?.cancel();
    this.#drawn?.canvas.remove();
    this.#drawn = null;
  }

  draw(scale: number): void {
    if (!this.#isSeen || this.#drawn?.scale === scale) return;
    void this.#paint(scale).then(() => this.makeText());
  }

  async drawForPrint(): Promise<void> {
    if (this.#drawn === null) await this.#paint(2);
  }

  async #paint(scale: number): Promise<void> {
    this.#drawing?.cancel();
    const page = await this.#get();
    const wanted = scale * devicePixelRatio;
    const most = Math.sqrt(MOST_PIXELS / (this.size.width * this.size.height));
    const viewport = page.getViewport({ scale: Math.min(wanted, most) });
    const canvas = element("canvas", "");
    canvas.width = Math.floor(viewport.width);
    canvas.height = Math.floor(viewport.height);
    const drawing = page.render({ canvas, viewport, annotationMode: AnnotationMode.ENABLE });
    this.#drawing = drawing;
    try {
      await drawing.promise;
    } catch {
      // Cancelled: the page is out of view, or drawn at another size.
      return;
    }
    this.#drawn?.canvas.remove();
    this.#drawn = { scale, canvas };
    this.box.prepend(canvas);
  }

  /** Text to select and search, and links. */
  makeText(): Promise<void> {
    this.#text ??= this.#makeText();
    return this.#text;
  }

  async #makeText(): Promise<void> {
    const page = await this.#get();
    const viewport = page.getViewport({ scale: 1 });
    const container = element("div", "textLayer");
    const layer = new TextLayer({ textContentSource: page.streamTextContent(), container, viewport });
    await layer.render();
    this.box.append(container);
    for (const { subtype, rect, url, dest } of (await page.getAnnotations()) as Annotation[])
      if (subtype === "Link" && (url || dest))
        this.box.append(this.#linkOf(viewport.convertToViewportRectangle(rect), url, dest));
  }

  #linkOf([x1 = 0, y1 = 0, x2 = 0, y2 = 0]: number[], url: string | undefined, target: unknown): HTMLElement {
    const link = element("a", "link");
    const percent = (part: number, whole: number) => `${(100 * part) / whole}%`;
    const { width, height } = this.size;
    Object.assign(link.style, {
      left: percent(Math.min(x1, x2), width),
      top: percent(Math.min(y1, y2), height),
      width: percent(Math.abs(x2 - x1), width),
      height: percent(Math.abs(y2 - y1), height),
    });
    if (url !== undefined && url !== "") {
      link.href = url;
      link.ariaLabel = url;
      return link;
    }
    link.href = "#";
    const t = this.#t;
    link.ariaLabel = t("Within this file");
    link.addEventListener("click", (event) => {
      event.preventDefault();
      event.stopPropagation();
      this.#follow(target);
    });
    return link;
  }
}

/** As far as it is used: pdf.js has no type for it. */
interface Annotation {
  readonly subtype: string;
  readonly rect: number[];
  readonly url?: string;
  readonly dest?: unknown;
}
