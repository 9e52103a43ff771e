/** Which picture of a `srcset` a browser loads (HTML section 4.8.4.3), where the phone's screen tells. */
import type { Viewport } from "../../../shared/http/phone-fields.ts";
import { matchesMedia } from "./media-query.ts";

interface Candidate {
  readonly url: string;
  /** Pixels for one of CSS. */
  readonly density: number;
}

const CANDIDATE = /[\s,]*([^\s,]\S*[^\s,]|[^\s,])(?:\s+(\d+(?:\.\d+)?)([wx]))?\s*(?:,|$)/y;
const TERM = /\s*(?:([+-])\s*)?(\d+(?:\.\d+)?|\.\d+)(px|vw|vh|r?em)\s*/y;

/** Characters of `srcset`, and of `sizes`. Longer ones are not looked at: sites write them. */
const [LENGTH, SIZES] = [4_000, 300];

/**
 * @param src of the element, or undefined.
 * @returns null where that cannot be known.
 */
export function chooseImage(
  srcset: string,
  sizes: string | undefined,
  src: string | undefined,
  viewport: Viewport,
): string | null {
  const candidates =
    srcset.length > LENGTH || (sizes ?? "").length > SIZES
      ? null
      : candidatesOf(srcset.trimEnd(), () => widthOf(sizes ?? "100vw", viewport));
  if (candidates === null) return null;
  const hasOne = candidates.some(({ density }) => density === 1);
  const isByWidth = /\s\d+w\s*(?:,|$)/.test(srcset);
  const all =
    src === undefined || src === "" || hasOne || isByWidth ? candidates : [...candidates, { url: src, density: 1 }];
  return (
    choose(
      all.toSorted((a, b) => a.density - b.density),
      viewport.density,
    )?.url ?? null
  );
}

function candidatesOf(srcset: string, width: () => number | null): Candidate[] | null {
  const candidates: Candidate[] = [];
  let byWidth: number | null | undefined;
  CANDIDATE.lastIndex = 0;
  while (CANDIDATE.lastIndex < srcset.length) {
    const [, url, number = "1", unit] = CANDIDATE.exec(srcset) ?? [];
    if (url === undefined) return null;
    if (unit === "w" && byWidth === undefined) byWidth = width();
    const size = unit === "w" ? (byWidth ?? null) : 1;
    if (size === null || size <= 0) return null;
    candidates.push({ url, density: Number(number) / size });
  }
  return candidates;
}

/** As Chromium does: by the geometric mean of two neighbours. */
function choose(candidates: readonly Candidate[], density: number): Candidate | undefined {
  let at = 0;
  for (; at + 1 < candidates.length; at++) {
    const [current, next] = [candidates[at]?.density ?? 0, candidates[at + 1]?.density ?? 0];
    if (next < density) continue;
    const isNext = (density <= 1 && density > current) || density >= Math.sqrt(current * next);
    return candidates[isNext ? at + 1 : at];
  }
  return candidates[at];
}

/** In CSS pixels, of a `sizes` attribute. */
function widthOf(sizes: string, viewport: Viewport): number | null {
  for (const size of partsOf(sizes)) {
    const text = size.trim();
    const isCalc = /^calc\(/i.test(text);
    // The condition ends with the last parenthesis that a space follows.
    const end = isCalc ? 0 : 1 + ([...text.matchAll(/\)\s/g)].at(-1)?.index ?? -1);
    const matches = matchesMedia(text.slice(0, end), viewport);
    if (matches === null) return null;
    if (matches) return lengthOf(text.slice(end).trim(), viewport);
  }
  return viewport.width;
}

/** Between commas that stand in no parentheses. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let [depth, start] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "(") depth += 1;
    else if (text[at] === ")") depth -= 1;
    else if (text[at] === "," && depth <= 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

/** A length, or a sum in `calc()`. */
function lengthOf(text: string, { width, height }: Viewport): number | null {
  const sum = text.replace(/^calc\((.*)\)$/is, "$1");
  const units: Readonly<Record<string, number>> = { px: 1, em: 16, rem: 16, vw: width / 100, vh: height / 100 };
  let total = 0;
  TERM.lastIndex = 0;
  for (let at = 0; at < sum.length; at = TERM.lastIndex) {
    const [, sign = "", number = "", unit = ""] = TERM.exec(sum) ?? [];
    const pixels = units[unit];
    if (pixels === undefined || (at > 0 && sign === "")) return null;
    total += (sign === "-" ? -1 : 1) * Number(number) * pixels;
  }
  return sum === "" ? null : total;
}
