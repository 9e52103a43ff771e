/**
 * Opaque response blocking (Fetch section 4.6, https://github.com/annevk/orb): which `no-cors` responses of other
 * origins a page may have. A slot can read all that it gets, where a browser would keep it in a process of its own, so
 * where the standard runs a script's parser this is stricter: see "public".
 */
import { type TypeClass, typeClass } from "./mime-type.ts";
import { signatureOf } from "./signatures.ts";
import { isBinary, type SniffedText, sniffText } from "./text-kind.ts";

/**
 * Bytes: of another origin's response, looked at before any of it goes to the phone; as opaque response blocking says.
 */
export const SNIFFED_BYTES = 1024;

/**
 * "media": audio or video, of which ranges may follow. "public": may be a script, and may be anything that is text. It is
 * for the page only as everybody gets it, without cookies.
 */
export type Verdict = "media" | "allowed" | "public" | "blocked";

export interface BlockableHead {
  readonly status: number;
  readonly headers: Headers;
}

/** Whether ranges of it may be audio or video, for all that its type says. */
export function isRangeable({ headers }: BlockableHead): boolean {
  const type = typeClass(headers.get("content-type"));
  return type !== "never" && type !== "data";
}

/**
 * Judges a response from its first byte on.
 *
 * @returns the verdict for its first bytes; null where there must be more of them, of which `SNIFFED_BYTES` or the
 *   whole are always enough.
 */
export function responseJudge({
  status,
  headers,
}: BlockableHead): (bytes: Uint8Array, isWhole: boolean) => Verdict | null {
  const type = typeClass(headers.get("content-type"));
  const isNosniff = headers.get("x-content-type-options")?.split(",", 1)[0]?.trim().toLowerCase() === "nosniff";
  const isOk = status >= 200 && status <= 299;
  return (bytes, isWhole) => {
    if (type === "never" || (isNosniff && (type === "data" || type === "plain"))) return "blocked";
    const head = bytes.subarray(0, SNIFFED_BYTES);
    const signature = signatureOf(head);
    if (signature !== null) return signature === "media" ? "media" : "allowed";
    // Browsers take an error for one whatever came with it, but for images.
    if (!isOk && type !== "svg") return "blocked";
    if (isWhole && head.length === 0) return "allowed";
    if (!isWhole && head.length < SNIFFED_BYTES) return null;
    if (isBinary(head)) return ofBinary(type, head);
    return isNosniff && (type === "other" || type === "seen") ? "blocked" : ofText(type, sniffText(head));
  };
}

function ofBinary(type: TypeClass, head: Uint8Array): Verdict {
  if (type === "seen") return "media";
  if (type === "parts") return "public";
  // Old scripts and style sheets may hold anything in their comments.
  return type === "script" || type === "style" ? ofText(type, sniffText(head)) : "blocked";
}

function ofText(type: TypeClass, { kind, start }: SniffedText): Verdict {
  switch (type) {
    case "svg":
      return start.startsWith("<") && !/^<(?:!doctype\s+html|html)\b/i.test(start) ? "allowed" : "blocked";
    case "style":
      // People put <style> around style sheets, and browsers pass over it.
      return (kind === "markup" && !/^<style\b/i.test(start)) || kind === "json" ? "blocked" : "allowed";
    case "script":
      return kind === "markup" || kind === "json" ? "blocked" : "allowed";
    case "data":
      return kind === "script" ? "public" : "blocked";
    case "playlist":
      return kind === "playlist" ? "public" : "blocked";
    case "parts":
      return "public";
    case "seen":
    case "never":
      return kind === "playlist" && type === "seen" ? "public" : "blocked";
    case "plain":
    case "other":
      return kind === "markup" || kind === "json" || kind === "array" ? "blocked" : "public";
  }
}
