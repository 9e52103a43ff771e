/**
 * Name of the built app's file that a URL path stands for, as Cloudflare's assets choose it: `/` is index.html, and
 * `/.ropeway/boot` is `.ropeway/boot.html`.
 *
 * @param pathname of a parsed URL, so that it has no dot segments but encoded ones
 * @returns a relative path without any `..`, or null for what names no file
 */
export function assetFile(pathname: string): string | null {
  let path: string;
  try {
    path = decodeURIComponent(pathname.slice(1));
  } catch {
    return null;
  }
  const segments = path.split("/");
  const name = segments.pop() ?? "";
  if (/[\\\0]/.test(path) || segments.some((segment) => segment === "" || segment === "..") || name === "..")
    return null;
  if (name === "") return `${path}index.html`;
  return name.includes(".") ? path : `${path}.html`;
}
