/** RFC 1035 section 3.1, as text. */
const HOST_LENGTH_MAX = 253;

/**
 * The URL for which a page wants a slot for a frame, or null if there can be no such slot. A page may ask for anything,
 * and slots are kept.
 */
export function frameUrl(asked: string): URL | null {
  const url = URL.parse(asked);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname.length > HOST_LENGTH_MAX) return null;
  return url;
}
