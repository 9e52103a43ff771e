/**
 * Name lookups that block a thread each (Deno: getaddrinfo, of whose 32 threads cryptography and files need some too).
 * Those for the same name at the same time are one, and more than the limit wait.
 */
import { limits } from "../shared/limits.ts";
import type { ResolveName } from "./upstream/destination.ts";

export function shareLookups(resolveName: ResolveName, most: number = limits.concurrentLookups): ResolveName {
  const underWay = new Map<string, Promise<readonly string[]>>();
  const waiting: (() => void)[] = [];
  let running = 0;

  async function lookUp(host: string): Promise<readonly string[]> {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await resolveName(host);
    } finally {
      underWay.delete(host);
      // The place goes to the one that waits longest.
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  }

  return (host) => {
    const known = underWay.get(host);
    if (known !== undefined) return known;
    const lookup = lookUp(host);
    underWay.set(host, lookup);
    return lookup;
  };
}
