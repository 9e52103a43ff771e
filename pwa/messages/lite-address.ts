/**
 * Where pages without scripts live on the base host, and all that is of their own origins: `https://a.example/b?c` at
 * `/~https:a.example/b?c`. Below its first segment a path is the real one, so that relative addresses lead where they lead
 * on the site. Others (`/b`, `..` above the root) are changed in the page, so that an address is one file's whoever asks.
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
 * Where an address leads that a page writes.
 *
 * @param base real URL that it is relative to.
 * @returns its place, or null to leave it: it is of another origin, or leads there as it is written.
 */
export function placeInPage(written: string, base: string, origin: string): string | null {
  if (!NEEDS_PLACE.test(written)) return null;
  const real = parseUrl(written, base);
  return real?.origin === origin ? liteAddress(real.href) : null;
}

/** Absolute, from the root, or perhaps above it. */
const NEEDS_PLACE = /[:\\]|^\s*\/|\.\.|%2e/i;
