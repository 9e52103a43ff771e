/** What outlives the memory of a session, kept with its hibernated sockets. */
import { ACCEPT_ENCODING, acceptsBrotli } from "../../shared/coding/link-coding.ts";
import type { HeaderList, ImageWish } from "../../shared/http/heads.ts";
import { parseImageWish } from "../../shared/http/image-wish.ts";
import { ACCEPT_PUSH, parseAcceptPush, type SlotScheme } from "../../shared/http/push.ts";
import { DICTIONARY_KEY, readDictionaryKey, STORED_BODY } from "../../shared/http/stored-body.ts";
import { has, TRACKERS_BLOCKED } from "../../shared/http/tracker-wish.ts";
import { parseViewport, VIEWPORT, type Viewport } from "../../shared/http/viewport.ts";
import type { SessionSnapshot } from "../../shared/mux/session/session.ts";
import { type AcceptTable, fieldsToAccept } from "../../shared/web/default-accept.ts";
import type { DeliveredSnapshot } from "../delivery/push/delivered-resources.ts";

/** Bytes: Cloudflare's limit on what a hibernated socket may carry. */
export const ATTACHMENT_BYTES = 16_384;

/** What is constant for a session; sent once by the phone. */
export interface SessionConstants {
  readonly userAgent: string;
  readonly acceptLanguage: string;
  /** Where the phone takes pushes: scheme of the hosts that its pages are on. */
  readonly slotScheme?: SlotScheme;
  /** What its pages are shown in. */
  readonly viewport?: Viewport;
  /** It has a store: what is told to that is for no page. */
  readonly hasStore?: boolean;
  /** What the bodies are sealed with that may be dictionaries: it undoes `dcz`. */
  readonly dictionaryKey?: Uint8Array<ArrayBuffer>;
  /** It undoes `br`. */
  readonly takesBrotli?: boolean;
  /** What it wants done to pictures. */
  readonly images?: ImageWish;
  /** It wants no request to go to a tracker. */
  readonly blocksTrackers?: boolean;
  /** What its browser says of itself, as far as it was announced. */
  readonly accept?: AcceptTable;
}

/** @param fields of the session's head. */
export function sessionConstants(fields: HeaderList): SessionConstants {
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
    ...(images === undefined ? {} : { images }),
    ...(has(fields, TRACKERS_BLOCKED) ? { blocksTrackers: true } : {}),
  };
}

/** Where a hibernated socket's session goes on. Plain data; each fits ATTACHMENT_BYTES. */
export type ConnectionSnapshot = FirstSnapshot | FurtherSnapshot;

/** Snapshot of the socket that carries channel 0. */
export interface FirstSnapshot {
  readonly sessionId: Uint8Array;
  readonly constants: SessionConstants;
  readonly isRepeat: boolean;
  /** Without its further channels. */
  readonly session: SessionSnapshot;
  /** Number of the newest link of each channel, -1 where there was none. */
  readonly links: readonly number[];
  readonly delivered: DeliveredSnapshot;
  /** When the phone was last heard. */
  readonly heardAt: number;
  /** Bytes sent on the socket that are not known to have been read. */
  readonly unproved?: number;
}

/** Snapshot of a socket that carries another channel. */
export interface FurtherSnapshot {
  readonly sessionId: Uint8Array;
  readonly unproved?: number;
  readonly further: SessionSnapshot["more"][number];
}
