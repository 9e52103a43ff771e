import { parseUrl } from "../../shared/web/origin.ts";

/** What a site is forgotten by, of a URL or an origin: its host's name, by whatever scheme and port, without `www.`. */
export function siteName(url: string): string {
  return parseUrl(url)?.hostname.replace(/^www\.(?=.+\.)/, "") ?? url;
}
