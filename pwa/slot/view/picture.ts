/**
 * A picture that is the page: in the middle, at the size of the screen or its own, whichever a tap chooses, and at any
 * between and beyond with two fingers or the keys. Nothing is put into the document.
 */

/** Times the picture's own size. */
const LARGEST = 8;

/** Of a key, or a notch of a wheel. */
const STEP = 1.25;

/** Pixels that a finger may move in a tap. */
const STILL = 8;

interface Point {
  readonly x: number;
  readonly y: number;
}

export function showPicture(picture: HTMLImageElement): void {
  const { style } = picture;
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
  addEventListener("resize", () => zoom(scale));
  hearKeys((by) => zoom(by === null ? null : (scale ?? wholeScale()) * by));
  hearFingers(
    picture,
    () => scale ?? wholeScale(),
    zoom,
    (at) => zoom(scale === null ? 1 : null, at),
  );
}

/** @param change null: back to the whole. */
function hearKeys(change: (by: number | null) => void): void {
  addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || event.defaultPrevented) return;
    if (key === "+" || key === "=") change(STEP);
    else if (key === "-") change(1 / STEP);
    else if (key === "0") change(null);
  });
}

function hearFingers(
  picture: HTMLImageElement,
  scaleNow: () => number,
  zoom: (scale: number, at: Point) => void,
  toggle: (at: Point) => void,
): void {
  const down = new Map<number, Point>();
  /** Of two fingers, when the second came down. */
  let pinch: { readonly apart: number; readonly scale: number } | null = null;
  let start: Point | null = null;
  const apartNow = () => {
    const [one, other] = [...down.values()];
    return one === undefined || other === undefined ? 0 : Math.hypot(one.x - other.x, one.y - other.y);
  };
  picture.addEventListener("pointerdown", ({ pointerId, clientX: x, clientY: y }) => {
    down.set(pointerId, { x, y });
    start = down.size === 1 ? { x, y } : null;
    pinch = down.size === 2 ? { apart: apartNow(), scale: scaleNow() } : null;
  });
  picture.addEventListener("pointermove", ({ pointerId, clientX: x, clientY: y }) => {
    if (!down.has(pointerId)) return;
    down.set(pointerId, { x, y });
    if (start !== null && Math.hypot(x - start.x, y - start.y) > STILL) start = null;
    const [one, other] = [...down.values()];
    if (pinch === null || pinch.apart === 0 || one === undefined || other === undefined) return;
    zoom((pinch.scale * apartNow()) / pinch.apart, { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 });
  });
  for (const type of ["pointerup", "pointercancel"] as const)
    picture.addEventListener(type, ({ pointerId }) => {
      down.delete(pointerId);
      pinch = null;
      if (type === "pointercancel") start = null;
    });
  picture.addEventListener("click", ({ clientX, clientY, button }) => {
    if (start !== null && button === 0) toggle({ x: clientX, y: clientY });
    start = null;
  });
  picture.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(scaleNow() * STEP ** -Math.sign(event.deltaY), { x: event.clientX, y: event.clientY });
    },
    { passive: false },
  );
}
