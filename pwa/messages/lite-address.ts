/**
 * Where pages without scripts live on the base host: `https://a.example/b?c` at `/~https:a.example/b?c`. Below its first
 * segment a path is the real one, so that relative addresses lead where they lead on the site, `..` above its root too.
 */
import { LITE_PATH } from "../../shared/subprotocol.ts";
import { parseUrl } from "../../shared/web/origin.ts";

/** @param url absolute, http: or https:; credentials are left out. @returns path, query and fragment. */
export function liteAddress(url: string): string {
  const { protocol, host, pathname, search, hash } = new URL(url);
  return `${LITE_PATH}${protocol}${host}${pathname}${search}${hash}`;
}

/** The real URL of a page's own address, or null for what is none. */
export function realOf({ pathname, search, hash }: Pick<URL, "pathname" | "search" | "hash">): string | null {
  const [, scheme, host, path] = /^\/~(https?:)([^/@]+)(\/.*)$/.exec(pathname) ?? [];
  const url = scheme === undefined ? null : parseUrl(`${scheme}//${host}${path}${search}${hash}`);
  return url?.href ?? null;
}

/**
 * The real URL that a page of this origin means by an address on the base host: of another site's page it cannot be, so
 * that it is a path of its own.
 */
export function meantBy(address: URL, origin: string): string {
  const real = realOf(address);
  if (real !== null && new URL(real).origin === origin) return real;
  return origin + address.pathname + address.search + address.hash;
}
