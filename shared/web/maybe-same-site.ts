import { parseUrl } from "./origin.ts";

/** Names of one site have the last two labels in common, whatever list of suffixes there is. */
export function areMaybeSameSite(a: string, b: string): boolean {
  const [left, right] = [parseUrl(a)?.hostname, parseUrl(b)?.hostname].map((host) =>
    host?.split(".").slice(-2).join("."),
  );
  return left !== undefined && left === right;
}
