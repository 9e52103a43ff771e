/**
 * Figures that people wrote into several documents: all places of one say the same, as far as the digits of each go. What
 * stands between markers of the bench is written by that, and of one result.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../build/paths.ts";

const BENCHMARKS = "BENCHMARKS.md";
const PAPERS = "docs/papers.md";
const STORE = "docs/phone-store.md";
const PICTURES = "docs/pictures.md";
const SCALE = "docs/scale.md";

/** The pattern stands once in its document, whose line ends count as spaces, and names the figures that it captures. */
type Place = readonly [document: string, pattern: RegExp];

const TOLD: Readonly<Record<string, readonly Place[]>> = {
  "the day after, on LTE": [
    [
      BENCHMARKS,
      /a version of before took (?<closed>[\d.]+) and (?<open>[\d.]+) on another machine \((?<version>\w+),/,
    ],
    [STORE, /\| LTE, six \| (?<open>[\d.]+) \([^|]*\| [^|]*\| (?<closed>[\d.]+) /],
    [STORE, /with the best and the worst; version (?<version>\w+)\./],
  ],
  "heads, cookies apart": [
    [
      BENCHMARKS,
      /cookies apart, requests take (?<requests>[\d.]+), of which [\d.]+ are paths, and responses (?<responses>[\d.]+) /,
    ],
    [PAPERS, /requests (?<requests>[\d.]+), responses (?<responses>[\d.]+) of what captured pages sent, both without/],
  ],
  "smaller pictures": [
    [
      PAPERS,
      /twenty pictures of two pages: (?<bytes>[\d.]+) of the bytes, SSIM (?<least>[\d.]+) at least; (?<others>\d+) others: (?<otherBytes>[\d.]+), down to (?<otherLeast>[\d.]+) /,
    ],
    [PICTURES, /\| all \| (?<bytes>[\d.]+) \| [\d.]+ \| (?<least>[\d.]+) \|/],
    [
      PICTURES,
      /Of (?<others>\d+) other JPEG and PNG,.* all at (?<otherLeast>[\d.]+), with (?<otherBytes>[\d.]+) of the bytes/,
    ],
  ],
  "codings of text": [
    [PAPERS, /(?<deflate>\d+) % less than deflate/],
    ["docs/text-codings.md", /\| (?<deflate>\d+) % less than deflate \|/],
  ],
  "changed files": [
    [PAPERS, /releases (?<releases>[\d.]+), versions of pages (?<versions>[\d.]+) of brotli 11/],
    [
      "docs/changed-files.md",
      /\| mean of 17 (?:\| )+(?<releases>[\d.]+) \|.*?\| mean of 20 (?:\| )+(?<versions>[\d.]+) \|/,
    ],
  ],
  "pushes of use": [
    [PAPERS, /(?<used>\d+) of (?<all>\d+) pushes of use on ten sites/],
    [
      "decisions/0032-what-scripts-ask-for-is-named-by-the-phone.md",
      /pages claimed (?<used>\d+) of (?<all>\d+) pushes/,
    ],
  ],
  "a phone at the edge": [
    [
      BENCHMARKS,
      /takes (?<idle>[\d.]+) MB of memory, and a request (?<request>[\d.]+) ms of processor time where 1,000 phones read at once \((?<version>\w+);/,
    ],
    [SCALE, /a phone that sleeps takes some (?<idle>[\d.]+) MB/],
    [SCALE, /\| 1,000 \| [^|]*\| [^|]*\| (?<request>[\d.]+) ms \|/],
    [SCALE, /Version (?<version>\w+) on workerd/],
  ],
  "memory of an isolate with ten phones": [
    [SCALE, /Ten phones that load two heavy pages each at once take (?<least>\d+) to (?<most>\d+) MiB/],
    ["docs/edge-cost.md", /turned on \(\w+\): (?<least>\d+) to (?<most>\d+) MiB of an isolate's 128 MB/],
  ],
};

it.each(Object.entries(TOLD))("%s: the same wherever it stands", (_, places) => {
  const told = new Map<string, { readonly where: string; readonly value: string }[]>();
  for (const [document, pattern] of places) {
    const text = readFileSync(join(root, document), "utf8").replaceAll(/\s+/g, " ");
    const found = [...text.matchAll(new RegExp(pattern, "g"))];
    expect(found.length, `${document} has ${pattern} once`).toBe(1);
    for (const [name, value] of Object.entries(found[0]?.groups ?? {}))
      told.set(name, [...(told.get(name) ?? []), { where: document, value }]);
  }
  for (const [name, all] of told) {
    expect(all.length, `${name} stands in two places`).toBeGreaterThan(1);
    for (const one of all)
      for (const other of all)
        expect(agrees(one.value, other.value), `${name}: ${JSON.stringify([one, other])}`).toBe(true);
  }
});

/** As far as the digits of the one that has fewer go. */
function agrees(one: string, other: string): boolean {
  if (one === other || Number.isNaN(Number(one))) return one === other;
  const decimals = Math.min(...[one, other].map((text) => text.split(".")[1]?.length ?? 0));
  const [first, second] = [one, other].map((text) => Number(text).toFixed(decimals));
  return first === second;
}
