/**
 * Paths that a cookie may have which is sent to a path (RFC 6265 section 5.1.4), shortest first. Firefox and WebKit tell
 * of a cookie only that it is sent there.
 */
export function cookiePaths(path: string): string[] {
  const paths = ["/"];
  for (const [end, character] of [...path].entries()) {
    if (end > 0 && character === "/") paths.push(path.slice(0, end), path.slice(0, end + 1));
  }
  return path === "/" ? paths : [...new Set([...paths, path])];
}
