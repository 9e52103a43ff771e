/** How a person makes larger what is shown: keys, two fingers, the wheel, a tap. */

/** Of a key, or a notch of a wheel. */
const STEP = 1.25;

/** Pixels that a finger may move in a tap. */
const STILL = 8;

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** @param change null: back to the size at first. */
export function hearKeys(change: (by: number | null) => void): void {
  window.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || event.defaultPrevented) return;
    if (key === "+" || key === "=") change(STEP);
    else if (key === "-") change(1 / STEP);
    else if (key === "0") change(null);
  });
}

/** @param zoom told of the point that is to stay where it is. @param toggle told of a tap. */
export function hearFingers(
  shown: HTMLElement,
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
  shown.addEventListener("pointerdown", ({ pointerId, clientX: x, clientY: y }) => {
    down.set(pointerId, { x, y });
    start = down.size === 1 ? { x, y } : null;
    pinch = down.size === 2 ? { apart: apartNow(), scale: scaleNow() } : null;
  });
  shown.addEventListener("pointermove", ({ pointerId, clientX: x, clientY: y }) => {
    if (!down.has(pointerId)) return;
    down.set(pointerId, { x, y });
    if (start !== null && Math.hypot(x - start.x, y - start.y) > STILL) start = null;
    const [one, other] = [...down.values()];
    if (pinch === null || pinch.apart === 0 || one === undefined || other === undefined) return;
    zoom((pinch.scale * apartNow()) / pinch.apart, { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 });
  });
  for (const type of ["pointerup", "pointercancel"] as const)
    shown.addEventListener(type, ({ pointerId }) => {
      down.delete(pointerId);
      pinch = null;
      if (type === "pointercancel") start = null;
    });
  shown.addEventListener("click", ({ clientX, clientY, button }) => {
    if (start !== null && button === 0) toggle({ x: clientX, y: clientY });
    start = null;
  });
  shown.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(scaleNow() * STEP ** -Math.sign(event.deltaY), { x: event.clientX, y: event.clientY });
    },
    { passive: false },
  );
}
