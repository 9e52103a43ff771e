/** A body that a phone has, as its store names it to the edge, and undoes what is coded against it. */
import { createHash } from "node:crypto";
import { openDczDecoder } from "../../../pwa/tunnel/coding/dcz-chunk.ts";
import { lateDecoder } from "../../../pwa/tunnel/coding/late-decoder.ts";
import type { LinkDecoder } from "../../../shared/coding/link-coding.ts";
import type { StoredBody } from "../../../shared/http/heads.ts";
import { bodyName } from "../../../shared/http/phone-fields.ts";

export interface CountedBytes {
  bytes: number;
}

/** @returns with what came in its coding. */
export function stored(body: Buffer): { readonly stored: StoredBody; readonly counted: CountedBytes } {
  const hash = createHash("sha256").update(body).digest("hex");
  const counted = { bytes: 0 };
  const dictionary = { bytes: new Uint8Array(body), hash: Buffer.from(hash, "hex") };
  const decode: StoredBody["decode"] = (handler) =>
    countedDecoder(
      lateDecoder((deliver) => openDczDecoder(dictionary, deliver), handler),
      counted,
    );
  return { stored: { ...bodyName(hash, body.length), decode }, counted };
}

export function countedDecoder(decoder: LinkDecoder, counted: CountedBytes): LinkDecoder {
  const write = (chunk: Uint8Array) => {
    counted.bytes += chunk.length;
    return decoder.write(chunk);
  };
  return { ...decoder, write };
}
