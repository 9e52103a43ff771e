/** RFC 1035 section 3.1, as text. */
const HOST_LENGTH_MAX = 253;

/** What a page asks a frame's slot for, or null where there can be none: it may ask for anything, and slots are kept. */
export function frameUrl(asked: string): URL | null {
  const url = URL.parse(asked);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname.length > HOST_LENGTH_MAX) return null;
  return url;
}
