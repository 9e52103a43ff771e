/**
 * `rel` values of links that the browser acts on past the service worker: it opens connections, asks resolvers, or
 * fetches by itself. Preload, modulepreload and prefetch do ask the service worker (Chromium 156) and stay.
 */
export const NEUTRALISED_RELATIONS: ReadonlySet<string> = new Set([
  "compression-dictionary",
  "dns-prefetch",
  "manifest",
  "preconnect",
  "prerender",
]);

const PREFIX = "ropeway-";

/** The `rel` value with those relations renamed, or null where there is none. */
export function neutraliseRelations(rel: string): string | null {
  let changed = false;
  const tokens = rel.split(/([\t\n\f\r ]+)/).map((token) => {
    if (!NEUTRALISED_RELATIONS.has(token.toLowerCase())) return token;
    changed = true;
    return PREFIX + token;
  });
  return changed ? tokens.join("") : null;
}
