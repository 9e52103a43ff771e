/** What sessions say of this phone, once for all their requests: PROTOCOL.md section 5.1. */
import { ACCEPT_ENCODING } from "../../shared/coding/link-coding.ts";
import { ACCEPT_PUSH, type SlotScheme } from "../../shared/http/exchange.ts";
import type { ImageWish } from "../../shared/http/heads.ts";
import {
  type AcceptTable,
  acceptToFields,
  DICTIONARY_KEY,
  imageWishField,
  STORED_BODY,
  TRACKERS_BLOCKED,
  VIEWPORT,
} from "../../shared/http/phone-fields.ts";
import type { EncodableField } from "../../shared/wire/hpack/tables.ts";

export interface TunnelConstants {
  readonly userAgent: string;
  readonly acceptLanguage: string;
  /** As `parseViewport` reads it; "" while it is not known. */
  readonly viewport?: string;
  /** What its browser says where Chromium says otherwise; null while that is not known: no push would be of use. */
  readonly accept?: AcceptTable | null;
}

/** What it can do. */
export interface TunnelAbilities {
  /** Where it takes pushes: scheme of the hosts that its pages are on. */
  readonly slotScheme: SlotScheme | null;
  readonly dictionaryKey: string | null;
  readonly takesBrotli: boolean;
  /** What it wants done to pictures; null where they are to come as their origins send them. */
  readonly images: ImageWish | null;
  /** The person wants no requests to go to trackers. */
  readonly blocksTrackers: boolean;
  /** The person wants less data to be used: origins hear of it. */
  readonly savesData: boolean;
}

export function sessionFields(
  { userAgent, acceptLanguage, viewport = "", accept = {} }: TunnelConstants,
  { slotScheme, dictionaryKey, takesBrotli, images, blocksTrackers, savesData }: TunnelAbilities,
): EncodableField[] {
  const fields: EncodableField[] = [
    ["user-agent", userAgent],
    ["accept-language", acceptLanguage],
    [STORED_BODY, "1"],
  ];
  if (dictionaryKey !== null) fields.push([DICTIONARY_KEY, dictionaryKey, "never"]);
  if (takesBrotli) fields.push([ACCEPT_ENCODING, "br"]);
  if (images !== null) fields.push(imageWishField(images));
  if (blocksTrackers) fields.push(TRACKERS_BLOCKED);
  if (savesData) fields.push(["save-data", "on"]);
  if (slotScheme !== null && accept !== null) fields.push([ACCEPT_PUSH, slotScheme], ...acceptToFields(accept));
  if (viewport !== "") fields.push([VIEWPORT, viewport]);
  return fields;
}
