/** User name and password in a URL, which Fetch does not take there (Fetch section 5.4, Request constructor). */
import { toBase64 } from "../../../shared/base-encodings.ts";

export function hasCredentials(url: URL): boolean {
  return url.username !== "" || url.password !== "";
}

/** The Authorization field's value for the credentials of `url` (RFC 7617). */
export function basicAuthorization(url: URL): string {
  const pair = new TextEncoder().encode(`${decodePercent(url.username)}:${decodePercent(url.password)}`);
  return `Basic ${toBase64(pair)}`;
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
