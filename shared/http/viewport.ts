/** What a phone's pages are shown in, as it says in the session's head: PROTOCOL.md section 5.6. */

export const VIEWPORT = "sec-ropeway-viewport";

export interface Viewport {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  /** Pixels of the screen for one of CSS. */
  readonly density: number;
}

/** Undefined where it is no width, height and density of a screen. */
export function parseViewport(value: string): Viewport | undefined {
  const match = /^(\d{1,5}) (\d{1,5}) (\d{1,2}(?:\.\d{1,9})?)\d*$/.exec(value);
  const [width = 0, height = 0, density = 0] = (match ?? []).slice(1).map(Number);
  return width > 0 && height > 0 && density > 0 ? { width, height, density } : undefined;
}
