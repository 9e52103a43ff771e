/**
 * The codings of response bodies on the link, by name (PROTOCOL.md section 5.3). A new one has its encoder in
 * `worker/delivery/coding/code.ts`; its decoder is here, if every phone has it. That of `br` is loaded, or the browser's own,
 * and that of `dcz` comes with the request: it has the dictionary.
 */
import { createInflater, type DecoderHandler, type LinkDecoder } from "./inflate.ts";

export type OpenDecoder = (handler: DecoderHandler) => LinkDecoder;

export const LINK_CODINGS = ["identity", "deflate-raw", "br", "dcz"] as const;

export type LinkCoding = (typeof LINK_CODINGS)[number];

/** The decoders that a phone has. Null: the bytes stay as they come. */
export type LinkDecoders = Readonly<Partial<Record<LinkCoding, OpenDecoder | null>>>;

/** The decoders that every phone has. */
export const LINK_DECODERS: LinkDecoders = { identity: null, "deflate-raw": createInflater };

/** In the session's head: further codings that the phone undoes. */
export const ACCEPT_ENCODING = "accept-encoding";

/** @param value of that field. */
export const acceptsBrotli = (value: string): boolean => value.split(",").some((coding) => coding.trim() === "br");
