/** Request and response heads as both ends handle them. How they travel: PROTOCOL.md section 5. */
import type { LinkCoding, OpenDecoder } from "../coding/link-coding.ts";

/** One field line: lower-case name (RFC 9113 section 8.2), value without surrounding whitespace. */
export type HeaderField = readonly [name: string, value: string];

/** Field lines in the order sent. Repeated names stay repeated (`set-cookie`). */
export type HeaderList = readonly HeaderField[];

/** `Request.destination` of the Fetch standard; "" is a script's own fetch. */
export type Destination =
  | ""
  | "audio"
  | "audioworklet"
  | "document"
  | "embed"
  | "font"
  | "frame"
  | "iframe"
  | "image"
  | "json"
  | "manifest"
  | "object"
  | "paintworklet"
  | "report"
  | "script"
  | "sharedworker"
  | "style"
  | "track"
  | "video"
  | "worker"
  | "xslt";

/** `Request.cache` of the Fetch standard. */
export type CacheMode = "default" | "no-store" | "reload" | "no-cache" | "force-cache" | "only-if-cached";
export type RequestMode = "navigate" | "same-origin" | "no-cors" | "cors";
export type CredentialsMode = "omit" | "same-origin" | "include";
/** The Fetch standard's, and "same-origin": followed within the origin, any other redirect is given back as it is. */
export type RedirectMode = "follow" | "error" | "manual" | "same-origin";

/** Referrer Policy, section 3. */
export type ReferrerPolicy = (typeof REFERRER_POLICIES)[number];
export const REFERRER_POLICIES = [
  "no-referrer",
  "no-referrer-when-downgrade",
  "same-origin",
  "origin",
  "strict-origin",
  "origin-when-cross-origin",
  "strict-origin-when-cross-origin",
  "unsafe-url",
] as const;

/**
 * One request. Fields that decide what a site may do (`origin`, `topLevelOrigin`) are stamped by the tunnel, never
 * taken from a page.
 */
export interface RequestHead {
  readonly method: string;
  /** The protocol that a CONNECT is to become, for a page's WebSocket (RFC 8441). Made by the tunnel, never by a page. */
  readonly protocol?: "websocket";
  /** Absolute http: or https: URL without fragment: the origin's real one, never a slot's. */
  readonly url: string;
  /** Fields that the page set, and the browser's `accept` and `range`. No cookie, origin, referer, user-agent. */
  readonly headers: HeaderList;
  readonly destination: Destination;
  readonly mode: RequestMode;
  readonly credentials: CredentialsMode;
  readonly redirect: RedirectMode;
  /** The referrer after the referrer policy was applied, or "" for none. */
  readonly referrer: string;
  /** By which redirects cut the referrer down further; if absent, the default one. Of what a page loads. */
  readonly referrerPolicy?: ReferrerPolicy;
  /** Serialized real origin of the page that asks, or null for a navigation that the person started. */
  readonly origin: string | null;
  /** Serialized real origin of the top-level page: the edge partitions all state by its site. */
  readonly topLevelOrigin: string;
  /** `Request.cache`, for the phone's store. The edge hears of `no-store`, and of another origin's where caches may not answer. */
  readonly cache?: CacheMode;
  /** Made by the tunnel, never by a page. */
  readonly delivery?: Delivery;
  /** The body that the phone has stored for it. Made by the tunnel, too. */
  readonly stored?: StoredBody;
  /**
   * In a navigation: which of the things that the page asked for the last time the phone has. Made by the tunnel, too.
   */
  readonly known?: KnownUrls;
  /**
   * In a navigation: what its page is likely to ask for, as `sayLearned` writes it. Made by the tunnel, too.
   */
  readonly learned?: string;
  /** The wish for the picture that comes; if absent, the session's holds. Made by the tunnel, too. */
  readonly images?: ImageWish;
  /** Whether the person lets trackers load on the page. Made by the tunnel, too. */
  readonly allowsTrackers?: boolean;
  /** In a navigation: how many pushes its page may have; if absent, any number. Made by the tunnel, too. */
  readonly pushes?: number;
  /** In a navigation: a script began it, and the person has done nothing for it. Made by the tunnel, too. */
  readonly isUnasked?: true;
  /** In a navigation: its page runs no scripts. Made by the tunnel, too. */
  readonly isScriptless?: true;
  /** Whether the page can tell scripts the real site where the edge has marked their reads (PROTOCOL.md section 5.12). */
  readonly marksReads?: boolean;
  /** Whether a picture that was coded anew will do. It does not travel. */
  readonly takesRecoded?: boolean;
}

/** The tunnel's note on an attempt to have a request answered (PROTOCOL.md section 5.5). */
export interface Delivery {
  /** Id of a request that must not run twice: the same in all its attempts, unique on this phone. Null for others. */
  readonly id: string | null;
  /** An earlier attempt may have reached the edge. */
  readonly isRepeat: boolean;
  /** The rest of a body that another session began to deliver, or null for the response as it is. */
  readonly continuation: Continuation | null;
}

/** Bytes of one representation that are wanted still. */
export interface Continuation {
  readonly first: number;
  /** Inclusive. */
  readonly last: number;
  /** Length of the whole representation. */
  readonly total: number;
  /** A strong entity tag, or a Last-Modified that counts as strong (RFC 9110 section 8.8.2.2). */
  readonly validator: string;
}

/** How the body of a response can go on when its session is lost. */
export interface Resumption {
  /** The bytes of the representation that the body is; null where its origin's bytes and the phone's are not the same. */
  readonly range: { readonly first: number; readonly last: number; readonly total: number } | null;
  /** As in Continuation; without a range always a strong entity tag. */
  readonly validator: string;
}

/** A cookie that scripts of a document may see (not HttpOnly), for `document.cookie`. */
export interface ScriptCookie {
  readonly name: string;
  readonly value: string;
  /** Lower case, no leading dot. */
  readonly domain: string;
  readonly hostOnly: boolean;
  readonly path: string;
  readonly secure: boolean;
  /** Milliseconds since the epoch, or null for a session cookie. In the past: the cookie was removed. */
  readonly expires: number | null;
}

/** Two bytes for each URL (PROTOCOL.md section 5.6). */
export type KnownUrls = ReadonlySet<number>;

/** Names a body by its content. */
export interface BodyName {
  /** The first 16 bytes of its SHA-256, in base64url. */
  readonly hash: string;
  /** Bytes. */
  readonly size: number;
}

/** A body, and how its origin knows it. */
export interface StoredBody extends BodyName {
  /** For a response of another origin: an entity tag or a date, by which the edge asks whether it still holds. */
  readonly validator?: string;
  /** Undoes `dcz` against this body. It does not travel. */
  readonly decode?: OpenDecoder;
}

/** How much smaller pictures may get: not at all; so that nobody sees it; or so that one may see it. */
export type Recoding = "none" | "balanced" | "strong";

export interface ImageWish {
  readonly recoding: Recoding;
  /** Bytes that one picture may have; a larger one is held back, and a placeholder sent. Null: any number. */
  readonly most: number | null;
}

export interface ResponseHead {
  readonly status: number;
  /** The origin's reason phrase. Absent: the usual one of a 200, 206 or 304, none of another status. */
  readonly reason?: string;
  /** End-to-end fields only. `set-cookie` is never among them: the jar is at the edge. */
  readonly headers: HeaderList;
  /** URL after the last redirect, without fragment. */
  readonly url: string;
  readonly redirected: boolean;
  /** With `#`: that of the last redirect that had one. Absent: the request's own holds (RFC 9110 section 10.2.2). */
  readonly fragment?: string;
  /** How the body is coded on the link, over whatever `content-encoding` the origin used. */
  readonly coding: LinkCoding;
  /**
   * For a navigation: all script-visible cookies of the final URL's host (any path).
   * For others: those this exchange set or removed. Empty when there is nothing to say.
   */
  readonly scriptCookies: readonly ScriptCookie[];
  /** For the tunnel, never for a page. Absent where the body cannot go on elsewhere, or is too short to matter. */
  readonly resumption?: Resumption;
  /** The continuation that was asked for is what follows. */
  readonly continues?: boolean;
  /** The body is the one that the request named, and is not sent. */
  readonly isReference?: boolean;
}

// Rules of a request's method (RFC 9110 section 9.2).

const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/** Whether it asks for no change. */
export function isSafe(method: string): boolean {
  return SAFE.has(method);
}

/** Whether to send it twice has the effect of sending it once. */
export function isIdempotent(method: string): boolean {
  return isSafe(method) || method === "PUT" || method === "DELETE";
}
