import { later } from "../../../../shared/errors.ts";
import { numberText, t } from "../../app/language.ts";

const UNITS = [later("{size} B"), later("{size} kB"), later("{size} MB"), later("{size} GB"), later("{size} TB")];

/** Bytes in decimal units with at most three digits: `0 B`, `1.2 kB`, `34 kB`, `5.6 MB`. @param isRound of a choice: `1 MB`. */
export function formatBytes(bytes: number, isRound = false): string {
  let value = Math.max(0, bytes);
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const size = numberText(value, !isRound && unit > 0 && value < 9.95 ? 1 : 0);
  return t(UNITS[unit] ?? "", { size });
}

/** Bytes of origins below which a share says nothing: heads and pings are most of what went over the link. */
const COMPARABLE_BYTES = 50_000;

const IN_SHORT = {
  times: later("{ratio}× less data"),
  same: later("The same amount of data"),
  less: later("{percent}% less data"),
  more: later("{percent}% more data"),
} as const;

/** The link's bytes against the origins' in words, or null while there is too little to compare. */
export function formatSaving(
  linkBytes: number,
  originBytes: number,
  words: Readonly<Record<keyof typeof IN_SHORT, string>> = IN_SHORT,
): string | null {
  if (linkBytes <= 0 || originBytes < COMPARABLE_BYTES) return null;
  const ratio = originBytes / linkBytes;
  if (ratio >= 1.95) return t(words.times, { ratio: numberText(ratio, ratio < 9.95 ? 1 : 0) });
  const percent = Math.round((1 - linkBytes / originBytes) * 100);
  if (percent === 0) return t(words.same);
  return t(percent > 0 ? words.less : words.more, { percent: Math.abs(percent) });
}

/** Host without `www.` and with its port, as the address bar shows it; the whole text where there is no host. */
export function shortHost(url: string): string {
  if (!URL.canParse(url)) return url;
  const { host } = new URL(url);
  return host === "" ? url : host.replace(/^www\.(?=.+\.)/, "");
}
