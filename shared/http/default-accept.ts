/** The `accept` that browsers send for what an element loads: known to both ends, so it stays unsaid (section 5.2). */
import type { Destination, HeaderList } from "./heads.ts";

/** Chromium's. Part of the protocol: both sides have to know them. */
const DEFAULT_ACCEPT: Partial<Record<Destination, string>> = {
  font: "*/*",
  image: "image/jxl,image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
  script: "*/*",
  style: "text/css,*/*;q=0.1",
};

/** The lines to send: without an `accept` that the receiver adds. */
export function withoutDefaultAccept(headers: HeaderList, destination: Destination): HeaderList {
  const lines = headers.filter(([name]) => name === "accept");
  const isDefault = lines.length === 1 && lines[0]?.[1] === DEFAULT_ACCEPT[destination];
  return isDefault ? headers.filter(([name]) => name !== "accept") : headers;
}

/** The lines received, `accept` last where it was not said. */
export function withDefaultAccept(headers: HeaderList, destination: Destination): HeaderList {
  const accept = DEFAULT_ACCEPT[destination];
  if (accept === undefined || headers.some(([name]) => name === "accept")) return headers;
  return [...headers, ["accept", accept]];
}
