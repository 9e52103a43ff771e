/** Facts that a phone tells once for a session, for all its requests: PROTOCOL.md section 5.1. */
import { ACCEPT_ENCODING, acceptsBrotli } from "../coding/link-coding.ts";
import type { EncodableField } from "../wire/frame.ts";
import { ACCEPT_PUSH, parseAcceptPush, type SlotScheme } from "./exchange.ts";
import type { HeaderList, ImageWish } from "./heads.ts";
import {
  type AcceptTable,
  acceptToFields,
  DICTIONARY_KEY,
  fieldsToAccept,
  has,
  imageWishField,
  parseImageWish,
  parseViewport,
  readDictionaryKey,
  STORED_BODY,
  TAKES_REASONS,
  TRACKERS_BLOCKED,
  VIEWPORT,
  type Viewport,
} from "./phone-fields.ts";

/** As the phone has them. */
export interface PhoneFacts {
  readonly userAgent: string;
  readonly acceptLanguage: string;
  /** As `parseViewport` reads it; "" while it is not known. */
  readonly viewport?: string;
  /** Its browser's values that are not Chromium's; null while they are not known: no push would be of use. */
  readonly accept?: AcceptTable | null;
  /** Where it takes pushes: scheme of the hosts that its pages are on. */
  readonly slotScheme: SlotScheme | null;
  readonly dictionaryKey: string | null;
  readonly takesBrotli: boolean;
  /** The wish for pictures; null where they are to come as their origins send them. */
  readonly images: ImageWish | null;
  /** The person wants no requests to go to trackers. */
  readonly blocksTrackers: boolean;
  /** The person wants less data to be used: origins hear of it. */
  readonly savesData: boolean;
}

/** As the edge knows them: phones of other releases tell fewer. */
export interface PhoneTraits {
  readonly userAgent: string;
  readonly acceptLanguage: string;
  /** Where the phone takes pushes: scheme of the hosts that its pages are on. */
  readonly slotScheme?: SlotScheme;
  /** Size and density of its screen. */
  readonly viewport?: Viewport;
  /** Whether it has a store: fields for that are for no page. */
  readonly hasStore?: boolean;
  /** Key that seals bodies which may be dictionaries. A phone that names one undoes `dcz`. */
  readonly dictionaryKey?: Uint8Array<ArrayBuffer>;
  /** Whether it undoes `br`. */
  readonly takesBrotli?: boolean;
  /** The phone knows reason phrases. */
  readonly takesReasons?: boolean;
  /** Wish for all pictures of the session. */
  readonly images?: ImageWish;
  /** Whether no request is to go to a tracker. */
  readonly blocksTrackers?: boolean;
  /** Whether origins are told to send less data. */
  readonly savesData?: boolean;
  /** `accept` of its browser by destination, where that was announced. */
  readonly accept?: AcceptTable;
}

/** Fields of the session's head. */
export function sessionFields(phone: PhoneFacts): EncodableField[] {
  const { viewport = "", accept = {}, slotScheme, dictionaryKey, images } = phone;
  const fields: EncodableField[] = [
    ["user-agent", phone.userAgent],
    ["accept-language", phone.acceptLanguage],
    [STORED_BODY, "1"],
    [TAKES_REASONS, "1"],
  ];
  if (dictionaryKey !== null) fields.push([DICTIONARY_KEY, dictionaryKey, "never"]);
  if (phone.takesBrotli) fields.push([ACCEPT_ENCODING, "br"]);
  if (images !== null) fields.push(imageWishField(images));
  if (phone.blocksTrackers) fields.push(TRACKERS_BLOCKED);
  if (phone.savesData) fields.push(["save-data", "on"]);
  if (slotScheme !== null && accept !== null) fields.push([ACCEPT_PUSH, slotScheme], ...acceptToFields(accept));
  if (viewport !== "") fields.push([VIEWPORT, viewport]);
  return fields;
}

/** @param fields of the session's head. Whatever makes no sense counts as unsaid. */
export function readPhoneTraits(fields: HeaderList): PhoneTraits {
  const field = (name: string): string => fields.find((line) => line[0] === name)?.[1].slice(0, 1024) ?? "";
  const slotScheme = parseAcceptPush(field(ACCEPT_PUSH));
  const viewport = parseViewport(field(VIEWPORT));
  const images = parseImageWish(fields);
  const dictionaryKey = readDictionaryKey(field(DICTIONARY_KEY));
  return {
    userAgent: field("user-agent"),
    acceptLanguage: field("accept-language"),
    accept: fieldsToAccept(fields),
    ...(slotScheme === null ? {} : { slotScheme }),
    ...(viewport === undefined ? {} : { viewport }),
    ...(field(STORED_BODY) === "" ? {} : { hasStore: true }),
    ...(dictionaryKey === null ? {} : { dictionaryKey }),
    ...(acceptsBrotli(field(ACCEPT_ENCODING)) ? { takesBrotli: true } : {}),
    ...(field(TAKES_REASONS) === "" ? {} : { takesReasons: true }),
    ...(images === undefined ? {} : { images }),
    ...(has(fields, TRACKERS_BLOCKED) ? { blocksTrackers: true } : {}),
    ...(field("save-data") === "on" ? { savesData: true } : {}),
  };
}
