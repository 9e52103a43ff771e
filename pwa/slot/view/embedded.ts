/**
 * Files of `<object>` and `<embed>`. Their requests skip service workers (Service Workers, "Handle Fetch", step 13), so the
 * rules leave the elements without an address (`html-rewriter.ts`), and a frame or a picture shows the file in their place.
 * The elements stay where they are: an object around the frame, with its fallback hidden, an embed unseen before it.
 */

import { POLICIES_ASKED } from "../policy.ts";

/** Types that browsers show without a plugin. Others leave an object with its fallback, as in a browser. */
const SHOWN = /^(?:application\/(?:pdf|xhtml\+xml|xml|json)|text\/(?!css|javascript)[^/]+|image\/[^/]+)$/;
/** Where no type is said, the ends of files that are surely shown; others would be downloaded. */
const SHOWN_FILE = /\/[^/.]*$|\.(?:pdf|svg|x?html?|php|as[ph]x?|jsp|cgi|pl|py|do|txt|xml|json)$/i;
const PICTURE = /^image\/(?!svg)/;
const PICTURE_FILE = /\.(?:png|jpe?g|gif|webp|avif|bmp|ico)$/i;

/** Looks that an embed hands on to its frame. */
const HANDED = [
  "border width height min-width min-height max-width max-height margin position inset float clear z-index opacity",
  "flex order align-self justify-self grid-area vertical-align box-sizing transform aspect-ratio pointer-events",
]
  .join(" ")
  .split(" ");
/** As of an element that browsers replace, in CSS pixels. */
const [WIDTH, HEIGHT] = ["300px", "150px"];

const isObject = (element: Element): element is HTMLObjectElement => element.localName === "object";

/** @returns null where browsers show nothing either. */
function kindOf(element: Element, { pathname }: URL): "frame" | "picture" | null {
  const type = element.getAttribute("type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type === "" ? PICTURE_FILE.test(pathname) : PICTURE.test(type)) return "picture";
  return type === "" ? (SHOWN_FILE.test(pathname) && "frame") || null : SHOWN.test(type) ? "frame" : null;
}

/**
 * Shows what the element names, unless an object around it does so, or its fallback has a frame for that.
 *
 * @param page hears where the person misses something that a browser would show.
 */
export function showEmbedded(closed: Element, { tell }: { tell(trouble: "frame"): void }): void {
  const element = closed as HTMLElement;
  const name = isObject(element) ? "data" : "src";
  const written = element.getAttribute(name) ?? "";
  const url = URL.parse(written, element.baseURI);
  const isNested = element.parentElement?.closest("object[data-ropeway-shown]") != null;
  if (isNested || url === null || element.dataset.ropewayShown !== undefined || element.querySelector("iframe")) return;
  if (isForbidden()) return;
  if (url.protocol === "blob:") return tell("frame");
  const kind = /^https?:$/.test(url.protocol) ? kindOf(element, url) : null;
  if (kind === null) return;
  element.dataset.ropewayShown = "";
  const shown = element.ownerDocument.createElement(kind === "frame" ? "iframe" : "img");
  if (kind === "frame") shown.setAttribute("name", element.getAttribute("name") ?? "");
  const undo = isObject(element) ? fill(element, shown) : standIn(element, shown);
  const end = () => {
    observer.disconnect();
    shown.remove();
    undo();
  };
  const observer = new MutationObserver(() => {
    if (!element.isConnected) return end();
    const now = element.getAttribute(name) ?? "";
    if (shown.getAttribute("src") !== now) shown.setAttribute("src", now);
  });
  const attributeFilter = [`data-ropeway-${name}`];
  observer.observe(element, { attributeFilter });
  if (element.parentNode !== null) observer.observe(element.parentNode, { childList: true });
  for (const type of ["load", "error"])
    shown.addEventListener(type, () => {
      const isLost = type === "error" || ("contentWindow" in shown && isRefused(shown));
      if (isLost) end();
      else takeSize(isObject(element) ? element : shown, shown);
      element.dispatchEvent(new Event(isLost ? "error" : "load"));
    });
  if ("contentWindow" in shown) answerFor(element, shown);
  shown.setAttribute("src", written);
}

/** Whether the page's policies have no objects at all. Else its `frame-src` counts, since a frame shows them. */
function isForbidden(): boolean {
  const policies: string[] = [];
  dispatchEvent(new CustomEvent(POLICIES_ASKED, { detail: policies, cancelable: true }));
  return policies.some((policy) => /(?:^|;)\s*object-src\s*(?:'none'\s*)?(?:;|$)/i.test(policy));
}

/** An object whose file is not to be had shows its fallback. Of other sites nobody can tell. */
function isRefused(frame: HTMLIFrameElement): boolean {
  const [entry] = frame.contentDocument === null ? [] : (frame.contentWindow?.performance.getEntries() ?? []);
  return ((entry as PerformanceNavigationTiming | undefined)?.responseStatus ?? 0) >= 400;
}

/** Scripts get at the document by the element. */
function answerFor(element: Element, frame: HTMLIFrameElement): void {
  const get = (name: "contentDocument" | "contentWindow") => ({ get: () => frame[name], configurable: true });
  const getSVGDocument = { value: () => frame.contentDocument, configurable: true };
  const ofObject = { contentDocument: get("contentDocument"), contentWindow: get("contentWindow") };
  Object.defineProperties(element, { getSVGDocument, ...(isObject(element) ? ofObject : {}) });
}

/** Sets looks that no style sheet of the page changes. @returns takes them back. */
function setLooks({ style }: HTMLElement, looks: Readonly<Record<string, string>>): () => void {
  const before = style.cssText;
  for (const [name, value] of Object.entries(looks)) style.setProperty(name, value, "important");
  return () => {
    style.cssText = before;
  };
}

/** @returns the element's looks as its page has them: those of one that is not shown are not laid out. */
function looksOf(element: HTMLElement, names: readonly string[]): Record<string, string> {
  const { display } = getComputedStyle(element);
  const back = setLooks(element, { display: "none" });
  const looks = getComputedStyle(element);
  const all = Object.fromEntries(names.map((name) => [name, looks.getPropertyValue(name)]));
  back();
  const { width, height } = all;
  return {
    ...all,
    display: display === "inline" ? "inline-block" : display,
    width: width === "auto" ? WIDTH : (width ?? WIDTH),
    height: height === "auto" ? HEIGHT : (height ?? HEIGHT),
  };
}

function fill(object: HTMLElement, shown: HTMLElement): () => void {
  const { position, ...looks } = looksOf(object, ["width", "height", "position"]);
  const undo = setLooks(object, {
    ...looks,
    position: position === "static" ? "relative" : (position ?? "relative"),
    overflow: "hidden",
    visibility: "hidden",
  });
  const all = { position: "absolute", inset: "0", width: "100%", height: "100%", border: "0", visibility: "visible" };
  setLooks(shown, all);
  object.append(shown);
  return undo;
}

function standIn(embed: HTMLElement, shown: HTMLElement): () => void {
  const { display = "", ...looks } = looksOf(embed, HANDED);
  const undo = setLooks(embed, { display: "none" });
  setLooks(shown, { ...looks, display });
  embed.after(shown);
  return undo;
}

/** @returns of a picture or a drawing, in CSS pixels. */
function sizeOf(shown: HTMLIFrameElement | HTMLImageElement): readonly number[] {
  if ("naturalWidth" in shown) return [shown.naturalWidth, shown.naturalHeight];
  const root = shown.contentDocument?.documentElement;
  if (root?.localName !== "svg") return [];
  const [, , wide, high] = (root.getAttribute("viewBox") ?? "").split(/[\s,]+/);
  return [
    ["width", wide],
    ["height", high],
  ].map(([name = "", other = ""]) => {
    const said = root.getAttribute(name) || other;
    return Number.parseFloat(said.endsWith("%") ? other : said);
  });
}

/** A picture or a drawing with a size of its own has that where the page gives none. @param sized the element that has its page's looks. */
function takeSize(sized: HTMLElement, shown: HTMLIFrameElement | HTMLImageElement): void {
  const [width = 0, height = 0] = sizeOf(shown);
  const { style } = sized;
  const [isAnyWidth, isAnyHeight] = [style.width === WIDTH, style.height === HEIGHT];
  if (!(width > 0 && height > 0) || !(isAnyWidth || isAnyHeight)) return;
  setLooks(sized, {
    "aspect-ratio": `${width} / ${height}`,
    ...(isAnyWidth && { width: isAnyHeight ? `${width}px` : "auto" }),
    ...(isAnyHeight && { height: isAnyWidth ? `${height}px` : "auto" }),
  });
}
