/**
 * Images, audio and video by their first bytes: the patterns of MIME Sniffing section 6, and what browsers show besides.
 * None of these is text.
 */
import { isBinary } from "./text-kind.ts";

export type Signature = "image" | "media";

/** Hexadecimal, `..` for any byte. */
const PATTERNS: readonly (readonly [pattern: string, signature: Signature])[] = [
  // PNG, JPEG, GIF, BMP, ICO and CUR, WebP, TIFF, JPEG XL.
  ["89504e470d0a1a0a", "image"],
  ["ffd8ff", "image"],
  ["474946383761", "image"],
  ["474946383961", "image"],
  ["424d........00000000", "image"],
  ["00000100..00", "image"],
  ["00000200..00", "image"],
  ["52494646........57454250", "image"],
  ["49492a00", "image"],
  ["4d4d002a", "image"],
  ["ff0a", "image"],
  ["0000000c4a584c20", "image"],
  // WebM and Matroska, Ogg, WAVE, AVI, AIFF, FLAC, MIDI, ID3, sound of Sun.
  ["1a45dfa3", "media"],
  ["4f67675300", "media"],
  ["52494646........57415645", "media"],
  ["52494646........41564920", "media"],
  ["464f524d........41494646", "media"],
  ["664c614300", "media"],
  ["4d54686400000006", "media"],
  ["49443302", "media"],
  ["49443303", "media"],
  ["49443304", "media"],
  ["2e736e6400", "media"],
];

const FORMATS = PATTERNS.map(([pattern, signature]) => ({
  bytes: (pattern.match(/../g) ?? []).map((pair) => (pair === ".." ? null : Number.parseInt(pair, 16))),
  signature,
}));

/** Boxes that ISO base media files begin with (ISO/IEC 14496-12), AVIF and HEIC among them. */
const BOXES = /^(?:ftyp|styp|moov|moof|mdat|sidx|free|skip|wide)$/;
const IMAGE_BRANDS = /^(?:avif|avis|heic|heix|mif1|msf1)$/;
const TRANSPORT_PACKET = 188;

/** @returns null for what is neither, or too short to tell. */
export function signatureOf(bytes: Uint8Array): Signature | null {
  const format = FORMATS.find((known) => known.bytes.every((byte, at) => byte === null || byte === bytes[at]));
  if (format !== undefined) return format.signature;
  // The size of the box comes first, and is less than the white space that text may begin with.
  const isBoxed = (bytes[0] ?? 0xff) < 0x09 && BOXES.test(ascii(bytes, 4));
  if (isBoxed) return IMAGE_BRANDS.test(ascii(bytes, 8)) ? "image" : "media";
  return isMpegAudio(bytes) || isTransportStream(bytes) ? "media" : null;
}

function ascii(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

/** A frame's header without tags before it: MPEG audio, or AAC in ADTS. Not the byte order mark of UTF-16. */
function isMpegAudio(bytes: Uint8Array): boolean {
  const [first = 0, second = 0, third = 0xff] = bytes;
  if (first !== 0xff || (second & 0xe0) !== 0xe0 || second === 0xfe) return false;
  const isAdts = (second & 0xf6) === 0xf0;
  const isLayered = (second & 0x06) !== 0 && (second & 0x18) !== 0x08;
  return isAdts || (isLayered && third >> 4 !== 0xf && (third & 0x0c) !== 0x0c);
}

function isTransportStream(bytes: Uint8Array): boolean {
  const isInStep = [0, TRANSPORT_PACKET, 2 * TRANSPORT_PACKET].every((at) => bytes[at] === 0x47);
  return isInStep && isBinary(bytes);
}
