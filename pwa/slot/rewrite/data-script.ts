import { fromBase64 } from "../../../shared/base-encodings.ts";

/**
 * The script in a `data:` URL (RFC 2397), whatever type it says, or null. Worker scripts are UTF-8 (HTML section 8.1.4.2).
 * No service worker controls a worker that was made from such a URL (Chromium 156).
 */
export function dataScript(url: string): string | null {
  const match = /^\s*data:([^,]*),([^#]*)/i.exec(url);
  if (match === null) return null;
  const [, type = "", data = ""] = match;
  try {
    const text = decodeURIComponent(data);
    if (!/;\s*base64\s*$/i.test(type)) return text;
    return new TextDecoder().decode(fromBase64(text));
  } catch {
    return null;
  }
}
