/** Bytes in decimal units with at most three digits: `0 B`, `1.2 kB`, `34 kB`, `5.6 MB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = Math.max(0, bytes);
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** Bytes of origins below which a share says nothing: heads and pings are most of what went over the link. */
const COMPARABLE_BYTES = 50_000;

/** The link's bytes against the origins' in words, or null while there is too little to compare. */
export function formatSaving(linkBytes: number, originBytes: number): string | null {
  if (linkBytes <= 0 || originBytes < COMPARABLE_BYTES) return null;
  const ratio = originBytes / linkBytes;
  if (ratio >= 1.95) return `${ratio.toFixed(ratio < 9.95 ? 1 : 0)}× less data`;
  const percent = Math.round((1 - linkBytes / originBytes) * 100);
  if (percent === 0) return "The same amount of data";
  return percent > 0 ? `${percent}% less data` : `${-percent}% more data`;
}

/** Host without `www.` and with its port, as the address bar shows it; the whole text where there is no host. */
export function shortHost(url: string): string {
  if (!URL.canParse(url)) return url;
  const { host } = new URL(url);
  return host === "" ? url : host.replace(/^www\.(?=.+\.)/, "");
}
