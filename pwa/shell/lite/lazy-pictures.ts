/**
 * Pictures that a page's script was to show once they are near. With scripts off a browser shows nothing of them, unless
 * the page has them in a `noscript`, too. `loading=lazy` needs no help: without scripts it is not heeded (HTML section
 * 2.5.7).
 */
const { querySelectorAll } = Document.prototype;

/** They have no picture yet, or a placeholder that is part of the page, and no `noscript` after them. */
const WAITING =
  ":is(img,picture>source):is([data-src],[data-srcset]):not([srcset],[src]:not([src^='data:']),:has(+noscript),picture:has(+noscript) *)";

/** Does nothing to those that are shown already. @param document of a page without scripts. */
export function showLazyPictures(document: Document): void {
  const all = (selector: string): NodeListOf<Element> => querySelectorAll.call(document, selector);
  const shown = new Set([...all("noscript img[src]")].map((picture) => picture.getAttribute("src")));
  for (const picture of all(WAITING)) {
    if (shown.has(picture.getAttribute("data-src"))) continue;
    for (const name of ["srcset", "src"]) {
      const lazy = picture.getAttribute(`data-${name}`);
      if (lazy !== null) picture.setAttribute(name, lazy);
    }
  }
}
