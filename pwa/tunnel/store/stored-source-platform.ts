import type { Clock } from "../../../shared/clock.ts";
import type { ErrorCode, RopewayError } from "../../../shared/errors.ts";

/** Its milliseconds are those since the epoch. */
export interface StoredSourcePlatform extends Clock {
  /** Whether the link is gone, and not only slow. */
  isAway(): boolean;
  /** Whether origins get `Save-Data: on` with all requests. */
  savesData(): boolean;
  /** Whether what pages' scripts will ask for is named with navigations, to come before. */
  namesLearned(): boolean;
  /** A page may have changed what its origin answers: it wrote there, or changed a cookie. */
  onChange(origin: string | null): void;
  /** A page's document is shown as it was stored, since nobody could be asked. */
  onStoredPage(page: StoredPage): void;
  /** There is a newer version of a page that is shown as it was stored. It is stored by now. */
  onNewerPage(url: string): void;
  /** The key with which the edge may seal bodies of this phone, in base64url: it is told so. */
  onDictionaryKey(key: string): void;
  /** What requests fail with is the tunnel's: this script has no class of its own that others would know. */
  failure(code: ErrorCode, message: string): RopewayError;
}

export interface StoredPage {
  readonly url: string;
  /** Milliseconds since the epoch when its origin last answered for it. */
  readonly storedAt: number;
}
