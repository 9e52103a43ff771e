/**
 * Addresses in style sheets of pages without scripts, as they stream by: `url()`, `@import`, `image-set()`. Those that
 * would lead elsewhere than on their site become places. Tokens are those of CSS Syntax section 4. What is missed here
 * the app's worker refuses.
 */
import { placeInPage } from "../../messages/lite-address.ts";
import type { TextEditor } from "../../slot/rewrite/html-rewriter.ts";

/** Characters of a token that is waited for; a longer one is no address of a file, and passes as it is. */
const WAITED_FOR = 8 * 1024;

/** Where something begins that counts. */
const START = /\/\*|["']|url\(|@import|image-set\(|[;{}]/gi;
/** Longest of those, less one: the end of a piece may be the first part of one. */
const START_LENGTH = 9;

const ENDS: Readonly<Record<string, RegExp>> = {
  "/*": /\*\//g,
  '"': /(?:\\[\s\S]|[^"\\\n])*(?:"|\n)/y,
  "'": /(?:\\[\s\S]|[^'\\\n])*(?:'|\n)/y,
  // Of two ways to read a character there is never more than one, so that reading is linear.
  "url(": /\s*"(?:\\[\s\S]|[^"\\])*"\s*\)|\s*'(?:\\[\s\S]|[^'\\])*'\s*\)|(?:\\[\s\S]|[^)\\"'])*\)/y,
};

/** The same, for a token whose start has passed. */
const PASSED: Readonly<Record<string, RegExp>> = { "/*": /\*\//g, '"': /["\n]/g, "'": /['\n]/g, "url(": /\)/g };

const ESCAPE = /\\(?:([0-9a-f]{1,6})\s?|(\n)|([\s\S]))/gi;

function unescaped(text: string): string {
  return text.replace(ESCAPE, (_match, hex?: string, newline?: string, other?: string) => {
    if (hex === undefined) return newline === undefined ? (other ?? "") : "";
    const code = Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
}

export class StylePlaces implements TextEditor {
  readonly #placeOf: (written: string) => string | null;
  #pending = "";
  /** Token whose end is not there yet, and of which nothing is changed. */
  #passing: string | null = null;
  /** Strings are addresses. */
  #isAddress = false;

  /** @param placeOf as `placeInPage`. */
  constructor(placeOf: (written: string) => string | null) {
    this.#placeOf = placeOf;
  }

  write(text: string): string {
    this.#pending += text;
    return this.#scan(false);
  }

  end(): string {
    return this.#scan(true);
  }

  #scan(isLast: boolean): string {
    const text = this.#pending;
    let out = "";
    let at = 0;
    for (;;) {
      if (this.#passing !== null) {
        const end = endOf(PASSED, this.#passing, text, at);
        // A comment's last two characters may be in two pieces.
        const passed = end ?? (isLast ? text.length : Math.max(at, text.length - 1));
        out += text.slice(at, passed);
        at = passed;
        if (end === null) break;
        this.#passing = null;
      }
      START.lastIndex = at;
      const found = START.exec(text);
      if (found === null) {
        const safe = isLast ? text.length : Math.max(at, text.length - START_LENGTH);
        out += text.slice(at, safe);
        at = safe;
        break;
      }
      const token = found[0].toLowerCase();
      const start = found.index + found[0].length;
      out += text.slice(at, start);
      at = start;
      if (!(token in ENDS)) {
        this.#isAddress = token === "@import" || token === "image-set(";
        continue;
      }
      const end = endOf(ENDS, token, text, start);
      if (end !== null) {
        out += this.#changed(token, text.slice(start, end));
        at = end;
      } else if (isLast || token === "/*" || text.length - start > WAITED_FOR) this.#passing = token;
      else {
        // The token's start comes again with what follows.
        out = out.slice(0, -found[0].length);
        at = found.index;
        break;
      }
    }
    this.#pending = text.slice(at);
    return out;
  }

  /** @param rest of the token, after its first characters. */
  #changed(token: string, rest: string): string {
    if (token === "/*" || (token !== "url(" && !this.#isAddress)) return rest;
    const inner =
      token === "url("
        ? rest
            .slice(0, -1)
            .trim()
            .replace(/^["']|["']$/g, "")
        : rest.slice(0, -1);
    const place = this.#placeOf(unescaped(inner));
    if (place === null) return rest;
    const written = place.replace(/["'()\\\s]/g, (each) => `\\${each.charCodeAt(0).toString(16)} `);
    return token === "url(" ? `"${written}")` : written + rest.slice(-1);
  }
}

function endOf(ends: Readonly<Record<string, RegExp>>, token: string, text: string, from: number): number | null {
  const end = ends[token];
  if (end === undefined) return null;
  end.lastIndex = from;
  return end.test(text) ? end.lastIndex : null;
}

/** A value of CSS, as of a `style` attribute. */
export function placesInStyle(value: string, placeOf: (written: string) => string | null): string {
  const places = new StylePlaces(placeOf);
  return places.write(value) + places.end();
}

/**
 * A style sheet's bytes, in an encoding that has ASCII.
 *
 * @param url of the sheet, real.
 */
export function placesInSheet(url: string): TransformStream<Uint8Array, Uint8Array<ArrayBuffer>> {
  const { origin } = new URL(url);
  const encoded = (written: string) =>
    written.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  const places = new StylePlaces((written) => placeInPage(encoded(written), url, origin));
  return new TransformStream({
    transform(chunk, controller) {
      const out = bytesOf(places.write(textOf(chunk)));
      if (out.length > 0) controller.enqueue(out);
    },
    flush: (controller) => controller.enqueue(bytesOf(places.end())),
  });
}

/** Bytes to a call: arguments are few. */
const PART = 8 * 1024;

/** A character to a byte. */
function textOf(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PART) text += String.fromCharCode(...bytes.subarray(at, at + PART));
  return text;
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
