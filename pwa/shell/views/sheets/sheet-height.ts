/** Least height of what a thumb hits, in pixels. */
const TARGET_HEIGHT = 44;

/**
 * A sheet that is lower than what is in it ends somewhere in a row: enough of that is shown to be hit, or nothing.
 *
 * @param height of the sheet; `rows` are those of controls, from its top.
 * @returns the height that it gets instead, or null where it is right.
 */
export function heightWithoutSliver(
  height: number,
  rows: readonly { readonly top: number; readonly height: number }[],
): number | null {
  const sliver = rows.find((row) => {
    const shown = height - row.top;
    return shown > 0 && shown < Math.min(TARGET_HEIGHT, row.height);
  });
  return sliver?.top ?? null;
}
