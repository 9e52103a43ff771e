/**
 * The codings of response bodies on the link, by name (PROTOCOL.md section 5.3). A new one has its decoder here, for the
 * phone, and its encoder in `worker/delivery/coding/code.ts`. That of `dcz` comes with the request: it has the dictionary.
 */
import { createInflater, type DecoderHandler, type LinkDecoder } from "./inflate.ts";

export type OpenDecoder = (handler: DecoderHandler) => LinkDecoder;

/** Null: the bytes as they come. */
export const LINK_DECODERS = {
  identity: null,
  "deflate-raw": createInflater,
  dcz: undefined,
} as const satisfies Record<string, OpenDecoder | null | undefined>;

export type LinkCoding = keyof typeof LINK_DECODERS;

export const LINK_CODINGS = /* @__PURE__ */ Object.keys(LINK_DECODERS) as readonly LinkCoding[];
