/**
 * Pages whose scripts may read pixels of pictures: they get those of their own origin as they are. Of a picture nothing
 * gets into a canvas, a texture or a bitmap but by one of these names; scripts that say them in pieces, and those that the
 * phone has stored, are not seen here. The phone sees what they do, and asks for the originals from then on.
 */
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { ImageWish, RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import { isSameOrigin } from "../../../shared/web/origin.ts";
import type { ObserveBody } from "../stage.ts";

const NAMES = /drawImage|createPattern|createImageBitmap|tex(?:Sub)?Image[23]D/;
/** Characters: of a chunk, that may begin a name which the next one ends. */
const OVERLAP = "createImageBitmap".length - 1;
/** Count: of origins. */
const MOST_ORIGINS = 64;

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
