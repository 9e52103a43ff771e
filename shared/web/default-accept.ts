/**
 * The `accept` that browsers send for what an element loads. Chromium's is known to both ends, so it stays unsaid
 * (PROTOCOL.md section 5.2); another browser's is announced, so that what is pushed is what it would ask for (5.6).
 */
import type { Destination, HeaderField, HeaderList } from "../http/heads.ts";

/** What a browser sends as `accept`, where Chromium sends something else. */
export type AcceptTable = Partial<Record<Destination, string>>;

/** Chromium's. Part of the protocol: both sides have to know them. */
const DEFAULT_ACCEPT: AcceptTable = {
  font: "*/*",
  image: "image/jxl,image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
  script: "*/*",
  style: "text/css,*/*;q=0.1",
};

/** Fields of the session's head. */
const ANNOUNCED = "accept-";
/** No browser's is longer. Visible ASCII, since it goes on to origins. */
const SENSIBLE = /^[\x20-\x7e]{1,256}$/;

/** The lines to send: without an `accept` that the receiver adds. */
export function withoutDefaultAccept(headers: HeaderList, destination: Destination): HeaderList {
  const lines = headers.filter(([name]) => name === "accept");
  const isDefault = lines.length === 1 && lines[0]?.[1] === DEFAULT_ACCEPT[destination];
  return isDefault ? headers.filter(([name]) => name !== "accept") : headers;
}

/** The lines received, `accept` last where it was not said. @param own of the browser that asks, as far as announced. */
export function withDefaultAccept(headers: HeaderList, destination: Destination, own: AcceptTable = {}): HeaderList {
  const accept = own[destination] ?? DEFAULT_ACCEPT[destination];
  if (accept === undefined || headers.some(([name]) => name === "accept")) return headers;
  return [...headers, ["accept", accept]];
}

/** @param seen what a browser sends by destination. @returns what of it is not Chromium's; null before it is complete. */
export function ownAccept(seen: ReadonlyMap<string, string>): AcceptTable | null {
  const own = Object.entries(DEFAULT_ACCEPT).map(([destination, accept]) => [
    destination,
    seen.get(destination),
    accept,
  ]);
  if (own.some(([, sent]) => sent === undefined)) return null;
  return Object.fromEntries(own.filter(([, sent, accept]) => sent !== accept));
}

/** What a phone announces of its browser. */
export function acceptToFields(own: AcceptTable): HeaderField[] {
  return Object.entries(own).map(([destination, accept]) => [ANNOUNCED + destination, accept]);
}

/** @param fields of the session's head. What makes no sense counts as unsaid. */
export function fieldsToAccept(fields: HeaderList): AcceptTable {
  const own: AcceptTable = {};
  for (const destination of Object.keys(DEFAULT_ACCEPT) as Destination[]) {
    const accept = fields.find(([name]) => name === ANNOUNCED + destination)?.[1] ?? "";
    if (SENSIBLE.test(accept)) own[destination] = accept;
  }
  return own;
}
