/**
 * Pictures and films that the edge held back, or pictures so small that it shows: a tap, or Enter, loads them as their
 * origins send them. A placeholder has the picture's size, and becomes a button for keyboards and screen readers; of a small picture
 * the tap goes on to the page.
 */
import type { ImageNote } from "../../../shared/http/phone-fields.ts";
import { ORIGINAL_MARK } from "../../messages/worker-messages.ts";
import { patchMethod } from "./patch.ts";

export class Pictures {
  /** By URL as elements name it. */
  readonly #notes = new Map<string, ImageNote>();
  readonly #films = new Films((url) => {
    const note = this.#noteOf(url);
    return note?.kind === "held" ? note.bytes : undefined;
  });

  constructor() {
    // The window does not hear it of elements.
    document.addEventListener("load", ({ target }) => this.#shown(target), true);
    addEventListener("click", (event) => this.#tapped(event), true);
    addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && this.#tapped(event), true);
  }

  /** The picture or film of this URL is not its origin's. */
  add(url: string, note: ImageNote): void {
    this.#notes.set(url, note);
    for (const image of document.images) this.#shown(image);
    for (const film of document.querySelectorAll("audio, video")) this.#films.hold(film);
  }

  #noteOf(url: string): ImageNote | null {
    return this.#notes.get(url.split("#", 1)[0] ?? "") ?? null;
  }

  #shown(target: EventTarget | null): void {
    if (!(target instanceof HTMLImageElement) || target.tabIndex === 0) return;
    const note = this.#noteOf(target.currentSrc);
    if (note?.kind === "held") becomeButton(target, target.alt || "Picture", note.bytes);
  }

  #tapped(event: Event): void {
    const [target = null] = event.composedPath();
    const note = target instanceof HTMLImageElement ? this.#noteOf(target.currentSrc) : null;
    if (note?.kind === "held" || this.#films.load(target)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
    if (note === null) return;
    const url = (target as HTMLImageElement).currentSrc;
    for (const each of document.images) if (each.currentSrc === url) loadOriginal(each);
  }
}

function loadOriginal(image: HTMLImageElement): void {
  const url = image.currentSrc;
  const isChosen = image.srcset !== "" || image.parentElement instanceof HTMLPictureElement;
  if (isChosen) {
    // Without the candidates' densities it would have another size.
    const { width, height } = image;
    Object.assign(image, { width, height, srcset: "" });
    for (const source of image.parentElement?.querySelectorAll("source") ?? []) source.remove();
  }
  if (image.getAttribute("role") === "button") beNoButton(image);
  image.src = originalOf(url);
}

/** Whether a value that is put into a canvas shows a picture of a file. */
const isPicture = (value: unknown): boolean =>
  value instanceof HTMLImageElement || (typeof SVGImageElement === "function" && value instanceof SVGImageElement);

/** @param tell told once, when scripts put a picture where they can read its pixels. */
export function watchReaders(tell: () => void): void {
  let isTold = false;
  const { CanvasRenderingContext2D, OffscreenCanvasRenderingContext2D, WebGLRenderingContext, WebGL2RenderingContext } =
    window as unknown as Record<string, { readonly prototype: object } | undefined>;
  const readers: readonly (readonly [object | undefined, readonly string[]])[] = [
    [window, ["createImageBitmap"]],
    [CanvasRenderingContext2D?.prototype, ["drawImage", "createPattern"]],
    [OffscreenCanvasRenderingContext2D?.prototype, ["drawImage", "createPattern"]],
    [WebGLRenderingContext?.prototype, ["texImage2D", "texSubImage2D"]],
    [WebGL2RenderingContext?.prototype, ["texImage2D", "texSubImage2D", "texImage3D", "texSubImage3D"]],
  ];
  for (const [target, names] of readers) {
    for (const name of names) {
      if (target === undefined) continue;
      patchMethod(target, name, (native, self, args) => {
        if (!isTold && args.some(isPicture)) {
          isTold = true;
          tell();
        }
        return native(self, args);
      });
    }
  }
}

/** The browser's own controls take taps, and do nothing with them. */
const STYLE = ":is(audio,video)[role=button]::-webkit-media-controls{visibility:hidden}";

/** Films and sounds that the edge held back. To the browser they have failed: the page is not told so, and a tap loads them. */
class Films {
  readonly #bytesOf: (url: string) => number | undefined;

  /** @param bytesOf of a held film, by URL as elements name it; 0 where nobody knows. */
  constructor(bytesOf: (url: string) => number | undefined) {
    this.#bytesOf = bytesOf;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    document.adoptedStyleSheets.push(sheet);
    const failed = (event: Event) => this.hold(event.target) && event.stopImmediatePropagation();
    // The window does not hear it of elements.
    document.addEventListener("error", failed, true);
  }

  /** @param element it, or a source of it. @returns whether it waits. */
  hold(element: EventTarget | null): boolean {
    const held = this.#heldIn(element);
    if (held === null) return false;
    const { film, bytes } = held;
    becomeButton(film, film instanceof HTMLVideoElement ? "Film" : "Sound", bytes);
    // As large as the element in front of it.
    const label = `<svg xmlns="http://www.w3.org/2000/svg"><text x="50%" y="50%" dy=".35em" font-family="sans-serif" font-size="20" fill="#c3c8ce" text-anchor="middle">▶ ${sizeText(bytes)}</text></svg>`;
    film.style.background = `#2a2d31 url("data:image/svg+xml,${encodeURIComponent(label)}")`;
    return true;
  }

  /** @returns whether it waited, and loads now. */
  load(element: EventTarget | null): boolean {
    const held = this.#heldIn(element);
    if (held === null) return false;
    const { film, url } = held;
    beNoButton(film);
    film.style.background = "";
    film.src = originalOf(url);
    // Where the browser wants another tap for that, the film is there by then.
    film.play().catch(() => {});
    return true;
  }

  /** A browser goes through all sources of an element, and all are held back. */
  #heldIn(element: EventTarget | null): { film: HTMLMediaElement; url: string; bytes: number } | null {
    const film = element instanceof HTMLSourceElement ? element.parentElement : element;
    if (!(film instanceof HTMLMediaElement)) return null;
    for (const { src } of film.src === "" ? film.querySelectorAll("source") : [film]) {
      const bytes = this.#bytesOf(src);
      if (bytes !== undefined) return { film, url: src, bytes };
    }
    return null;
  }
}

/** Pictures and films that wait are buttons until the person has tapped them. @param bytes 0 where nobody knows. */
function becomeButton(element: HTMLElement, name: string, bytes: number): void {
  element.tabIndex = 0;
  element.setAttribute("role", "button");
  element.setAttribute("aria-label", `${name}: load${bytes > 0 ? `, ${sizeText(bytes)}` : ""}`);
}

/** @param bytes 0 where nobody knows. */
function sizeText(bytes: number): string {
  if (bytes < 1e6) return bytes === 0 ? "" : `${Math.ceil(bytes / 1000)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function beNoButton(element: Element): void {
  for (const name of ["role", "tabindex", "aria-label"]) element.removeAttribute(name);
}

/** The URL that asks for it as its origin sends it. */
function originalOf(url: string): string {
  const [address = "", part] = url.split("#");
  return `${address}${address.includes("?") ? "&" : "?"}${ORIGINAL_MARK}${part === undefined ? "" : `#${part}`}`;
}
