/** The few entries of EXIF by which browsers show a picture (TIFF 6.0; CIPA DC-008). */

const ORIENTATION = 0x0112;
const EXIF_DIRECTORY = 0x8769;
const PIXEL_X_DIMENSION = 0xa002;
/** Type of TIFF: two bytes. Others here have four. */
const SHORT = 3;

export interface Exif {
  /** 1 to 8; from 5 on width and height change places. */
  readonly orientation: number;
  /** In pixels, as it names it. */
  readonly width: number | null;
}

/** @param bytes from the TIFF header on. */
export function readExif(bytes: Uint8Array): Exif {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const isLittle = view.getUint16(0) === 0x4949;
    const first = directoryAt(view, view.getUint32(4, isLittle), isLittle);
    const further = first.get(EXIF_DIRECTORY);
    const second = further === undefined ? null : directoryAt(view, further, isLittle);
    const orientation = first.get(ORIENTATION) ?? 1;
    return {
      orientation: orientation >= 1 && orientation <= 8 ? orientation : 1,
      width: second?.get(PIXEL_X_DIMENSION) ?? null,
    };
  } catch (error) {
    if (error instanceof RangeError) return { orientation: 1, width: null };
    throw error;
  }
}

/** The entries of a directory that are used here, by tag. @throws RangeError where it is cut off. */
function directoryAt(view: DataView, at: number, isLittle: boolean): Map<number, number> {
  const entries = new Map<number, number>();
  const count = view.getUint16(at, isLittle);
  for (let entry = at + 2; entry < at + 2 + 12 * count; entry += 12) {
    const isShort = view.getUint16(entry + 2, isLittle) === SHORT;
    const value = isShort ? view.getUint16(entry + 8, isLittle) : view.getUint32(entry + 8, isLittle);
    entries.set(view.getUint16(entry, isLittle), value);
  }
  return entries;
}
