/**
 * A picture that is the page: in the middle, at the size of the screen or its own, whichever a tap chooses, and at any
 * between and beyond with two fingers or the keys. Nothing is put into the document.
 */
import { hearFingers, hearKeys, type Point } from "./gestures.ts";

/** Times the picture's own size. */
const LARGEST = 8;

export function showPicture(picture: HTMLImageElement): void {
  const { style } = picture;
  picture.alt = document.title;
  const root = document.documentElement;
  const page = document.scrollingElement ?? root;
  Object.assign(document.body.style, {
    display: "flex",
    minWidth: "100%",
    minHeight: "100%",
    width: "max-content",
    height: "max-content",
  });
  Object.assign(style, { flex: "none", margin: "auto", touchAction: "pan-x pan-y" });
  /** Pixels of the screen for one of the picture. Null: as large as fits. */
  let scale: number | null = null;
  const wholeScale = () => {
    const { naturalWidth: width, naturalHeight: height } = picture;
    return width === 0 || height === 0 ? 1 : Math.min(1, root.clientWidth / width, root.clientHeight / height);
  };
  /** @param at of the view: the point of the picture there stays there. */
  const zoom = (wanted: number | null, at: Point = { x: root.clientWidth / 2, y: root.clientHeight / 2 }) => {
    const before = picture.getBoundingClientRect();
    const least = wholeScale();
    const next = wanted === null ? least : Math.min(Math.max(wanted, least), Math.max(LARGEST, least));
    scale = next === least ? null : next;
    Object.assign(
      style,
      scale === null
        ? { width: "", height: "", maxWidth: "100vw", maxHeight: "100vh" }
        : {
            width: `${picture.naturalWidth * next}px`,
            height: `${picture.naturalHeight * next}px`,
            maxWidth: "none",
            maxHeight: "none",
          },
    );
    style.cursor = least === 1 && scale === null ? "" : scale === null ? "zoom-in" : "zoom-out";
    const after = picture.getBoundingClientRect();
    const grown = before.width === 0 ? 1 : after.width / before.width;
    page.scrollLeft += after.left + (at.x - before.left) * grown - at.x;
    page.scrollTop += after.top + (at.y - before.top) * grown - at.y;
  };
  zoom(null);
  picture.addEventListener("load", () => zoom(scale));
  window.addEventListener("resize", () => zoom(scale));
  hearKeys((by) => zoom(by === null ? null : (scale ?? wholeScale()) * by));
  hearFingers(
    picture,
    () => scale ?? wholeScale(),
    zoom,
    (at) => zoom(scale === null ? 1 : null, at),
  );
}
