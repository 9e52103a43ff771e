import type { SetTimer } from "../../../shared/clock.ts";
import type { Room } from "../../../shared/fair-shares.ts";
import { contentLength, headerValue } from "../../../shared/http/head-fields.ts";
import type { HeaderList, ImageWish, RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import { type ImageNote, imageNoteField } from "../../../shared/http/phone-fields.ts";
import { cacheControl } from "../../../shared/http-cache/cache-rules.ts";
import { type ImageFacts, readImageFacts } from "../../../shared/web/image-facts.ts";
import { isSameOrigin } from "../../../shared/web/origin.ts";
import { concat } from "../../../shared/wire/frame.ts";
import type { ObserveBody } from "../../push/document-push.ts";
import { bodyOf, type ReadAhead, readAhead } from "../references.ts";
import type { DecodedResponse } from "../stage.ts";
import type { ImageRecoder, RecodedImage } from "./image-recoder.ts";

// A placeholder stands where a picture was held back: a picture of its size that says how many bytes it has.

/** @param bytes of the picture; 0 where nobody knows. */
export function placeholderOf({ width, height }: Pick<ImageFacts, "width" | "height">, bytes: number): string {
  const size = Math.max(8, Math.min(width / 8, height / 3, Math.max(24, width / 18)));
  const [x, y] = [width / 2, height / 2];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    "<style>rect{fill:#e7e9ec}text{fill:#41464d}@media(prefers-color-scheme:dark){rect{fill:#2a2d31}text{fill:#c3c8ce}}</style>" +
    '<rect width="100%" height="100%"/>' +
    `<text x="${x}" y="${y}" font-family="system-ui,sans-serif" font-size="${size.toFixed(1)}" text-anchor="middle" dominant-baseline="central">${labelOf(bytes)}</text></svg>`
  );
}

function labelOf(bytes: number): string {
  if (bytes === 0) return "↓";
  return bytes < 999_500 ? `↓ ${Math.max(1, Math.round(bytes / 1000))} kB` : `↓ ${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Bytes: shorter ones are icons and the like, which hardly get smaller, or cost no more than a placeholder. */
const TINY = 2_000;
/** Bytes: longer ones are not read whole. */
const MOST_BYTES = 3 * 1024 * 1024;
/** Bytes of a picture within which its size is looked for: EXIF and profiles come first. */
const FACTS_WITHIN = 256 * 1024;

/** Bytes a millisecond that a slow link carries: by this, saved bytes are counted as saved time. */
const SLOW_LINK = 100;
/** Part of a picture that is mostly saved. */
const SAVED_SHARE = 0.5;
/** Milliseconds that any picture may wait: hardly anybody sees that. */
const LEAST_WAIT = 150;
export const MOST_WAIT = 3_000;
/** Milliseconds that a placeholder may wait for its picture's size. */
const FACTS_WAIT = 5_000;

/** @property bytes of the origin's picture. */
interface Recoded {
  readonly facts: ImageFacts;
  readonly bytes: number;
  readonly picture: RecodedImage;
}

/**
 * A stage of `deliver`: a picture goes smaller than its origin sent it, or a placeholder of its size goes in its place, as
 * the phone wishes (PROTOCOL.md section 5.8). To code it anew it is read whole first. Where that, or the processor's time,
 * would delay it by more than a slow link saves, it goes as it is. Films are held back, too, or go as they are.
 */
export class ImageStage {
  readonly #recoder: ImageRecoder;
  readonly #room: Room;
  readonly #setTimer: SetTimer;

  /** @param room for what deliveries hold, of all phones in the process. */
  constructor(recoder: ImageRecoder, room: Room, setTimer: SetTimer) {
    this.#recoder = recoder;
    this.#room = room;
    this.#setTimer = setTimer;
  }

  /** @param wish of the phone for this request. */
  async apply(response: DecodedResponse, request: RequestHead, wish: ImageWish): Promise<DecodedResponse> {
    if (isFilmToHold(response.head, request)) return filmHeldBack(response);
    if (!mayChange(response.head, request)) return response;
    const length = contentLength(response.head.headers);
    if (length !== null && length < TINY) return response;
    const fits = wish.most === null || (length !== null && length <= wish.most);
    if (wish.recoding === "none" || wish.most === 0) return fits ? response : this.#hold(response, wish.most ?? 0);
    const recoded = await this.#recode(response, request, wish.recoding);
    if (!("facts" in recoded)) return wish.most === null || fits ? recoded : this.#hold(recoded, wish.most);
    const { facts, bytes, picture } = recoded;
    if (wish.most !== null && picture.bytes.length > wish.most) return heldBack(response.head, facts, bytes);
    return changed(response.head, picture, { kind: wish.recoding === "strong" ? "reduced" : "recoded", bytes });
  }

  async #recode(
    response: DecodedResponse,
    request: RequestHead,
    recoding: "balanced" | "strong",
  ): Promise<DecodedResponse | Recoded> {
    const most = contentLength(response.head.headers) ?? MOST_BYTES;
    const release = () => this.#room.give(release);
    if (most > MOST_BYTES || !this.#room.take(release, most)) return response;
    const read = await readAhead(response.body, most, waitFor(most), this.#setTimer);
    const original = { head: response.head, body: bodyOf(read, release) };
    if (read.rest !== "whole") return original;
    const picture = concat(...read.chunks);
    const facts = readImageFacts(picture);
    if (facts === null || picture.length < TINY) return original;
    const accept = headerValue(request.headers, "accept") ?? "";
    const isWorthIt = this.#recoder.expectedTime(facts) <= waitFor(picture.length);
    if (!this.#recoder.canRecode(facts, accept) || !isWorthIt) return original;
    const recoded = await this.#recoder.recode(picture, facts, recoding);
    if (recoded === null) return original;
    release();
    return { facts, bytes: picture.length, picture: recoded };
  }

  /** @param most bytes that the picture may have: where its length is not known, it is read so far. */
  async #hold({ head, body }: DecodedResponse, most: number): Promise<DecodedResponse> {
    const known = contentLength(head.headers);
    const within = known === null ? Math.max(most, FACTS_WITHIN) : Math.min(known, FACTS_WITHIN);
    const release = () => this.#room.give(release);
    if (!this.#room.take(release, within)) return { head, body };
    const read = await readAhead(body, within, FACTS_WAIT, this.#setTimer);
    const bytes = read.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const facts = readImageFacts(concat(...read.chunks));
    const isSmall = read.rest === "whole" && (bytes < TINY || bytes <= most);
    if (facts === null || isSmall) return { head, body: bodyOf(read, release) };
    release();
    await giveUp(read);
    return heldBack(head, facts, known ?? (read.rest === "whole" ? bytes : 0));
  }
}

function heldBack(head: ResponseHead, facts: ImageFacts, bytes: number): DecodedResponse {
  return standingIn(head, { type: "image/svg+xml", text: placeholderOf(facts, bytes) }, bytes);
}

/** Films wait only where the request itself says so, and not by the session's head. */
function isFilmToHold(head: ResponseHead, { destination, headers, images, method }: RequestHead): boolean {
  if (images?.most !== 0 || method !== "GET") return false;
  // A picture that was begun before there was a budget goes on.
  if (!(headerValue(headers, "range") ?? "bytes=0-").startsWith("bytes=0-")) return false;
  return (destination === "video" || destination === "audio") && (head.status === 200 || head.status === 206);
}

async function filmHeldBack({ head, body }: DecodedResponse): Promise<DecodedResponse> {
  await body.cancel().catch(() => {});
  const total = headerValue(head.headers, "content-range")?.match(/\/(\d{1,12})$/)?.[1];
  const bytes = total === undefined ? (contentLength(head.headers) ?? 0) : Number(total);
  return standingIn({ ...head, status: 200 }, { type: "text/plain", text: "" }, bytes);
}

/** @param bytes of what waits. */
function standingIn(
  head: ResponseHead,
  { type, text }: { type: string; text: string },
  bytes: number,
): DecodedResponse {
  const picture = { type, bytes: new Uint8Array(new TextEncoder().encode(text)) };
  const held = changed(head, picture, { kind: "held", bytes });
  const headers: HeaderList = [
    ...held.head.headers.filter(([name]) => !/^(?:cache-control|expires|etag|last-modified|age)$/.test(name)),
    ["cache-control", "no-store"],
  ];
  return { ...held, head: { ...held.head, headers } };
}

/** Whether the picture may be another than its origin's. Scripts that ask in mode `cors` may read its pixels. */
function mayChange(head: ResponseHead, request: RequestHead): boolean {
  if (request.destination !== "image" || request.mode !== "no-cors" || request.method !== "GET") return false;
  if (request.headers.some(([name]) => name === "range") || request.delivery?.continuation != null) return false;
  const type = headerValue(head.headers, "content-type") ?? "";
  if (head.status !== 200 || head.continues === true || /^image\/svg/i.test(type)) return false;
  return !cacheControl(head.headers).has("no-transform");
}

/** Milliseconds that a picture of so many bytes may wait, since it comes the sooner for it. */
function waitFor(bytes: number): number {
  return Math.min(MOST_WAIT, LEAST_WAIT + (bytes * SAVED_SHARE) / SLOW_LINK);
}

/** The head of a body that is another now: what was said of the origin's bytes does not hold of it. */
function changed(
  head: ResponseHead,
  { type, bytes }: { readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> },
  note: ImageNote,
): DecodedResponse {
  const { resumption: _, ...rest } = head;
  const headers = head.headers.flatMap(([name, value]): HeaderList => {
    if (/^(?:content-(?:type|length|range|md5|digest|disposition)|repr-digest|digest|accept-ranges)$/.test(name))
      return [];
    return name === "etag" || name === "ropeway-etag" ? [[name, value.replace(/^(?!W\/)/, "W/")]] : [[name, value]];
  });
  return {
    head: {
      ...rest,
      headers: [...headers, ["content-type", type], ["content-length", String(bytes.length)], imageNoteField(note)],
    },
    body: new Blob([bytes]).stream(),
  };
}

async function giveUp({ rest }: ReadAhead): Promise<void> {
  if (rest !== "whole") await rest.reader.cancel().catch(() => {});
}

const NAMES = /drawImage|createPattern|createImageBitmap|tex(?:Sub)?Image[23]D/;
/** Characters: of a chunk, that may begin a name which the next one ends. */
const OVERLAP = "createImageBitmap".length - 1;
/** Count: of origins. */
const MOST_ORIGINS = 64;

/**
 * Pages whose scripts may read pixels of pictures: they get those of their own origin as they are. Of a picture nothing
 * gets into a canvas, a texture or a bitmap but by one of these names; scripts that say them in pieces, and those that the
 * phone has stored, are not seen here. The phone sees what they do, and asks for the originals from then on.
 */
export class PixelReaders {
  readonly #origins = new Set<string>();

  /** Observes documents, and scripts of whatever origin that they load, beside `other`. */
  watching(request: RequestHead, other: ObserveBody | null): ObserveBody {
    return (head) => {
      const watch = this.#watch(pageOf(request, head));
      const observe = other?.(head) ?? null;
      if (watch === null || observe === null) return watch ?? observe;
      return (chunk) => {
        watch(chunk);
        observe(chunk);
      };
    };
  }

  /** @returns what is to become of the picture that is asked for. */
  wishFor({ origin, url }: RequestHead, wish: ImageWish): ImageWish {
    const mayRead = origin !== null && this.#origins.has(origin) && isSameOrigin(origin, url);
    return mayRead ? { ...wish, recoding: "none" } : wish;
  }

  #watch(page: string | null): ((chunk: Uint8Array | null) => void) | null {
    if (page === null || this.#origins.has(page) || this.#origins.size >= MOST_ORIGINS) return null;
    const decoder = new TextDecoder("latin1");
    let end = "";
    return (chunk) => {
      if (chunk === null || this.#origins.has(page)) return;
      const text = end + decoder.decode(chunk);
      if (NAMES.test(text)) this.#origins.add(page);
      end = text.slice(-OVERLAP);
    };
  }
}

/** Origin of the page whose scripts are in the response; null where there are none. */
function pageOf({ mode, destination, origin }: RequestHead, { url, headers }: ResponseHead): string | null {
  if (destination === "script") return origin;
  const isPage = mode === "navigate" && /html/i.test(headerValue(headers, "content-type") ?? "");
  return isPage ? new URL(url).origin : null;
}
