/** `Refresh` fields and `<meta http-equiv=refresh>`: HTML section 4.2.5.3, shared declarative refresh steps. */

export interface Refresh {
  /** As written, for example `5` or `0.5`. */
  readonly delay: string;
  /** As written, "" for the document itself. */
  readonly url: string;
}

export function parseRefresh(value: string): Refresh | null {
  const text = value.trim();
  const [delay = ""] = /^\d*(?:\.[\d.]*)?/.exec(text) ?? [];
  const rest = text.slice(delay.length);
  if (delay === "" || (rest !== "" && !/^[;,\s]/.test(rest))) return null;
  let url = rest
    .trimStart()
    .replace(/^[;,]/, "")
    .trimStart()
    .replace(/^url\s*=/i, "")
    .trimStart();
  const quote = url[0];
  if (quote === '"' || quote === "'") {
    const end = url.indexOf(quote, 1);
    url = url.slice(1, end === -1 ? undefined : end);
  }
  return { delay, url };
}

/** The value with its URL mapped; null where nothing is to be changed. `map` gives null for "leave it". */
export function rewriteRefresh(value: string, map: (url: string) => string | null): string | null {
  const refresh = parseRefresh(value);
  if (refresh === null || refresh.url === "") return null;
  const url = map(refresh.url);
  return url === null ? null : `${refresh.delay}; url=${url}`;
}
