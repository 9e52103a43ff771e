/** What a phone wants done to pictures on their way: PROTOCOL.md section 5.8. */
import type { HeaderField, HeaderList, ImageWish, Recoding } from "./heads.ts";

/**
 * In the session's head what holds for all requests of it, and in a request what holds for that alone. Edges that do not
 * know it drop it.
 */
export const IMAGES = "sec-ropeway-images";

/** Field of a response whose picture is not its origin's: a note for the phone, which no page gets. */
export const IMAGE_NOTE = "ropeway-image";

/** All as its origin sends it. */
export const ORIGINAL: ImageWish = { recoding: "none", most: null };

const WISH = /^(none|balanced|strong)(?: (\d{1,9}))?$/;

export function imageWishField({ recoding, most }: ImageWish): HeaderField {
  return [IMAGES, most === null ? recoding : `${recoding} ${most}`];
}

/** Undefined where nothing is wished, or nothing that is a wish. */
export function parseImageWish(headers: HeaderList): ImageWish | undefined {
  const match = headers.find(([name]) => name === IMAGES)?.[1].match(WISH);
  if (match == null) return undefined;
  return { recoding: match[1] as Recoding, most: match[2] === undefined ? null : Number(match[2]) };
}

/** What became of a picture: it was coded anew so that nobody sees it, so that one may see it, or held back. */
export interface ImageNote {
  readonly kind: "recoded" | "reduced" | "held";
  /** Bytes of the origin's picture; 0 where nobody knows. */
  readonly bytes: number;
}

export function imageNoteField({ kind, bytes }: ImageNote): HeaderField {
  return [IMAGE_NOTE, `${kind} ${bytes}`];
}

/** Null where the picture is its origin's. */
export function parseImageNote(headers: HeaderList): ImageNote | null {
  const match = headers.find(([name]) => name === IMAGE_NOTE)?.[1].match(/^(recoded|reduced|held) (\d{1,12})$/);
  return match == null ? null : { kind: match[1] as ImageNote["kind"], bytes: Number(match[2]) };
}
