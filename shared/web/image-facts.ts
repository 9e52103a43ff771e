/**
 * Facts from the beginning of a picture: its size in pixels, and whether it can be coded anew without a visible change.
 */
export interface ImageFacts {
  readonly type: "jpeg" | "png" | "gif" | "webp";
  /** Pixels as a page sees them: turned as EXIF says. */
  readonly width: number;
  readonly height: number;
  /** Whether its pixels, once decoded, are all there is to it: no motion, no colours of a profile of its own. */
  readonly isPlain: boolean;
  /** EXIF turns or mirrors it. */
  readonly isTurned?: boolean;
}

/** @param bytes from the first on. @returns null where they are no picture that is known here, or too few. */
export function readImageFacts(bytes: Uint8Array): ImageFacts | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (view.getUint16(0) === 0xffd8) return readJpeg(view);
    if (view.getUint32(0) === 0x89504e47) return readPng(view);
    const name = asciiAt(view, 0, 4);
    if (name === "GIF8") return { type: "gif", ...sizeAt(view, 6), isPlain: false };
    if (name === "RIFF" && asciiAt(view, 8, 4) === "WEBP") return readWebp(view);
    return null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Width and height, in little-endian 16 bits each. */
function sizeAt(view: DataView, at: number) {
  return { width: view.getUint16(at, true) & 0x3fff, height: view.getUint16(at + 2, true) & 0x3fff };
}

function asciiAt(view: DataView, at: number, length: number): string {
  return String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + at, length));
}

/** Baseline, extended and progressive, Huffman coded; the others no browser shows. */
const JPEG_FRAMES: ReadonlySet<number> = new Set([0xc0, 0xc1, 0xc2]);

/** Segments that may stand before a frame: tables, APPn and COM, all of which say their length. */
const isSegment = (marker: number): boolean =>
  marker === 0xc4 || marker === 0xdb || marker === 0xdd || (marker >= 0xe0 && marker <= 0xef) || marker === 0xfe;

/** ITU-T T.81 annex B. It must find the frame that the decoder finds: what is not as the annex says is none. */
function readJpeg(view: DataView): ImageFacts | null {
  let exif: Exif = { orientation: 1, width: null };
  let isPlain = true;
  for (let at = 2; ; ) {
    if (view.getUint8(at) !== 0xff) return null;
    // Bytes to fill up.
    while (view.getUint8(at + 1) === 0xff) at += 1;
    const marker = view.getUint8(at + 1);
    if (JPEG_FRAMES.has(marker)) return frameAt(view, at, exif, isPlain);
    const length = view.getUint16(at + 2);
    if (!isSegment(marker) || length < 2) return null;
    const segment = new Uint8Array(view.buffer, view.byteOffset + at + 4, length - 2);
    if (marker === 0xe1 && beginsWith(segment, "Exif\0\0")) exif = readExif(segment.subarray(6));
    isPlain &&= hasUsualColours(marker, segment);
    at += 2 + length;
  }
}

function frameAt(view: DataView, at: number, exif: Exif, isUsual: boolean): ImageFacts {
  const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
  // Four: CMYK. One that names another width has a density of its own, by which browsers size it.
  const isPlain = view.getUint8(at + 4) === 8 && view.getUint8(at + 9) !== 4 && (exif.width ?? width) === width;
  const isUpright = exif.orientation < 5;
  return {
    type: "jpeg",
    width: isUpright ? width : height,
    height: isUpright ? height : width,
    isPlain: isPlain && isUsual,
    ...(exif.orientation === 1 ? {} : { isTurned: true }),
  };
}

/** Whether the colours are the usual ones. Those of an Adobe segment without a transform are not. */
function hasUsualColours(marker: number, segment: Uint8Array): boolean {
  if (marker === 0xe2 && beginsWith(segment, "ICC_PROFILE\0")) return isStandardProfile(segment);
  return !(marker === 0xee && beginsWith(segment, "Adobe") && segment[11] === 0);
}

/** At most so many scans a JPEG has: what stands for one in its segments counts, too. */
export function scansOf(jpeg: Uint8Array): number {
  let scans = 0;
  for (let at = jpeg.indexOf(0xff); at !== -1; at = jpeg.indexOf(0xff, at + 1)) if (jpeg[at + 1] === 0xda) scans += 1;
  return scans;
}

/** https://www.w3.org/TR/png-3/, section 11. */
function readPng(view: DataView): ImageFacts | null {
  if (view.getUint32(8) !== 13 || asciiAt(view, 12, 4) !== "IHDR") return null;
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  let isPlain = true;
  let hasGamma = false;
  for (let at = 8; ; ) {
    const length = view.getUint32(at);
    const name = asciiAt(view, at + 4, 4);
    if (name === "IDAT") return { type: "png", width, height, isPlain: isPlain && !hasGamma };
    if (name === "acTL" || name === "cICP" || name === "eXIf") isPlain = false;
    if (name === "iCCP") isPlain &&= isStandardProfile(new Uint8Array(view.buffer, view.byteOffset + at + 8, 79));
    // The gamma of sRGB says what browsers take for granted.
    if (name === "gAMA") hasGamma = view.getUint32(at + 8) !== 45_455;
    if (name === "sRGB") hasGamma = false;
    at += 12 + length;
  }
}

/** https://developers.google.com/speed/webp/docs/riff_container */
function readWebp(view: DataView): ImageFacts | null {
  const type = "webp";
  switch (asciiAt(view, 12, 4)) {
    case "VP8 ":
      return { type, ...sizeAt(view, 26), isPlain: false };
    case "VP8L": {
      const bits = view.getUint32(21, true);
      return { type, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1, isPlain: false };
    }
    case "VP8X": {
      const size = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16) + 1;
      return { type, width: size(24), height: size(27), isPlain: false };
    }
    default:
      return null;
  }
}

function beginsWith(bytes: Uint8Array, text: string): boolean {
  return [...text].every((character, index) => bytes[index] === character.charCodeAt(0));
}

/** Whether it is one of sRGB, by what it calls itself. */
function isStandardProfile(profile: Uint8Array): boolean {
  return new TextDecoder("latin1").decode(profile).replaceAll("\0", "").includes("sRGB");
}

// The few entries of EXIF by which browsers show a picture (TIFF 6.0; CIPA DC-008).

const ORIENTATION = 0x0112;
const EXIF_DIRECTORY = 0x8769;
const PIXEL_X_DIMENSION = 0xa002;
/** Type of TIFF: two bytes. Others here have four. */
const SHORT = 3;

interface Exif {
  /** 1 to 8; from 5 on width and height change places. */
  readonly orientation: number;
  /** In pixels, as it names it. */
  readonly width: number | null;
}

/** @param bytes from the TIFF header on. */
function readExif(bytes: Uint8Array): Exif {
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
