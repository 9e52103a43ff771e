/**
 * Pictures and films that the edge held back, or pictures so small that it shows: a tap, or Enter, loads them as their origins send
 * them. A placeholder has the picture's size, and becomes a button for keyboards and screen readers; of a small picture
 * the tap goes on to the page.
 */
import type { ImageNote } from "../../../../shared/http/phone-fields.ts";
import { patchMethod } from "../patch.ts";
import { Films } from "./films.ts";
import { becomeButton, beNoButton, originalOf } from "./tap.ts";

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

/** Whether what is put into a canvas shows a picture of a file. */
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
