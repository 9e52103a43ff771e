import { originAddress } from "../../lab/lab.ts";
import type { Site } from "../model.ts";

const ADDRESSES = 20;

/**
 * Which address each host of the sites gets. Hosts that one page needs are on different ones as far as these go, so
 * that no browser can join their connections; hosts of different sites share.
 *
 * @param alone hosts beside the sites', such as those of an application server.
 */
export function hostAddresses(sites: readonly Site[], alone: readonly string[] = []): Record<string, string> {
  const numbers = new Map<string, number>();
  const groups = [...sites.map(({ hosts }) => hosts.map(({ name }) => name)), alone];
  for (const group of groups) {
    for (const host of group) {
      if (numbers.has(host)) continue;
      const inGroup = group.flatMap((other) => numbers.get(other) ?? []);
      numbers.set(host, leastUsed(inGroup, [...numbers.values()]));
    }
  }
  return Object.fromEntries([...numbers].map(([host, number]) => [host, originAddress(number)]));
}

/** The number, from 1, that is least used by the group, and among those by all. */
function leastUsed(inGroup: readonly number[], all: readonly number[]): number {
  const uses = (numbers: readonly number[], number: number): number => numbers.filter((each) => each === number).length;
  const candidates = Array.from({ length: ADDRESSES }, (_, index) => index + 1);
  const weight = (number: number): number => uses(inGroup, number) * 10_000 + uses(all, number);
  return candidates.reduce((best, number) => (weight(number) < weight(best) ? number : best));
}
