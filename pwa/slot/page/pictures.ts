/**
 * Pictures that the edge held back, or made so small that it shows: a tap, or Enter, loads them as their origins send them.
 * A placeholder has the picture's size, and becomes a button for keyboards and screen readers; of a small picture the tap
 * goes on to the page.
 */
import type { ImageNote } from "../../../shared/http/image-wish.ts";
import { ORIGINAL_MARK } from "../../messages/worker-messages.ts";
import { patchMethod } from "./patch.ts";

export class Pictures {
  /** By URL as elements name it. */
  readonly #notes = new Map<string, ImageNote>();

  constructor() {
    // The window does not hear it of elements.
    document.addEventListener("load", ({ target }) => this.#shown(target), true);
    addEventListener("click", (event) => this.#tapped(event), true);
    addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && this.#tapped(event), true);
  }

  /** The picture of this URL is not its origin's. */
  add(url: string, note: ImageNote): void {
    this.#notes.set(url, note);
    for (const image of document.images) this.#shown(image);
  }

  #noteOf(target: EventTarget | null | undefined): ImageNote | null {
    return (target instanceof HTMLImageElement && this.#notes.get(target.currentSrc.split("#", 1)[0] ?? "")) || null;
  }

  #shown(target: EventTarget | null): void {
    const note = this.#noteOf(target);
    const image = target as HTMLImageElement;
    if (note?.kind !== "held" || image.tabIndex === 0) return;
    image.tabIndex = 0;
    image.setAttribute("role", "button");
    const size = note.bytes > 0 ? `, ${Math.ceil(note.bytes / 1000)} kB` : "";
    image.setAttribute("aria-label", `${image.alt || "Picture"}: load${size}`);
  }

  #tapped(event: Event): void {
    const [image] = event.composedPath();
    const note = this.#noteOf(image);
    if (note === null) return;
    if (note.kind === "held") {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
    const url = (image as HTMLImageElement).currentSrc;
    for (const each of document.images) if (each.currentSrc === url) loadOriginal(each);
  }
}

function loadOriginal(image: HTMLImageElement): void {
  const [url = "", part] = image.currentSrc.split("#");
  const isChosen = image.srcset !== "" || image.parentElement instanceof HTMLPictureElement;
  if (isChosen) {
    // Without the candidates' densities it would have another size.
    const { width, height } = image;
    Object.assign(image, { width, height, srcset: "" });
    for (const source of image.parentElement?.querySelectorAll("source") ?? []) source.remove();
  }
  if (image.getAttribute("role") === "button") {
    for (const name of ["role", "tabindex", "aria-label"]) image.removeAttribute(name);
  }
  image.src = `${url}${url.includes("?") ? "&" : "?"}${ORIGINAL_MARK}${part === undefined ? "" : `#${part}`}`;
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
