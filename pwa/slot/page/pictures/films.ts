/** Films and sounds that the edge held back. To the browser they have failed: the page is not told so, and a tap loads them. */
import { becomeButton, beNoButton, originalOf, sizeText } from "./tap.ts";

/** The browser's own controls take taps, and do nothing with them. */
const STYLE = ":is(audio,video)[role=button]::-webkit-media-controls{visibility:hidden}";

export class Films {
  readonly #bytesOf: (url: string) => number | undefined;

  /** @param bytesOf of what was held back, by URL as elements name it; 0 where nobody knows. */
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
    // As large as what it is behind.
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
