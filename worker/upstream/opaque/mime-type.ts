/** Classes of MIME types as opaque response blocking has them (https://github.com/annevk/orb). */

export type TypeClass =
  | "script"
  | "style"
  | "svg"
  /** HTML, JSON, XML. */
  | "data"
  /** What no element loads, whatever it holds. */
  | "never"
  /** Media playlists, which are text. */
  | "playlist"
  /** A stream of parts. */
  | "parts"
  /** Declared as images, audio or video. */
  | "seen"
  | "plain"
  | "other";

const SCRIPT =
  /^(?:(?:application|text)\/(?:x-)?(?:ecmascript|javascript)|text\/(?:javascript1\.[0-5]|jscript|livescript))$/;
const DATA = /^(?:text\/(?:html|json|xml)|application\/(?:json|xml)|[^/]+\/[^/]+\+(?:json|xml))$/;
const PLAYLIST = /^(?:application\/(?:vnd\.apple\.mpegurl|x-mpegurl)|audio\/(?:x-)?mpegurl)$/;
const NEVER = new RegExp(
  `^(?:${[
    "application/(?:dash\\+xml|(?:x-)?gzip|zip|pdf|x-protobuf(?:fer)?|msexcel|mspowerpoint|msword(?:-template)?)",
    "application/vnd\\.(?:ces-quick.*|ms-.*|msword|openxmlformats-.*|presentation-openxmlm?|(?:spreadsheet|wordprocessing)-openxml)",
    "multipart/(?:byteranges|signed)",
    "text/(?:event-stream|csv|vtt)",
  ].join("|")})$`,
);

/** @param contentType value of the field, lines joined; null or no type for "other". */
export function typeClass(contentType: string | null): TypeClass {
  const type = essence(contentType);
  if (type === "image/svg+xml") return "svg";
  if (type === "text/css") return "style";
  if (type === "text/plain") return "plain";
  if (type === "multipart/x-mixed-replace") return "parts";
  if (SCRIPT.test(type)) return "script";
  if (PLAYLIST.test(type)) return "playlist";
  if (NEVER.test(type)) return "never";
  if (DATA.test(type)) return "data";
  return /^(?:image|audio|video)\//.test(type) || type === "application/ogg" ? "seen" : "other";
}

/** Extract a MIME type (Fetch section 2.2.6): of several lines the last that holds one. */
function essence(contentType: string | null): string {
  const types = (contentType ?? "").split(",").map((line) => (line.split(";", 1)[0] ?? "").trim().toLowerCase());
  return types.findLast((type) => /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'+.^`|~-]+$/.test(type)) ?? "";
}
