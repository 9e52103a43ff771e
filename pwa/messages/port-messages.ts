/**
 * Between a slot's service worker and the tunnel, over the MessagePort that the shell gave to that slot. Messages are
 * posted in arrays, one array per turn. The tunnel believes a port nothing about who it is: origin and top-level origin
 * are those that the shell bound to it.
 */

import type { SetTimer } from "../../shared/clock.ts";
import type { HeaderList, RequestHead, ResponseHead } from "../../shared/http/heads.ts";
import type { ImageNote } from "../../shared/http/phone-fields.ts";
import type { SocketRequest } from "./socket-messages.ts";

/** Milliseconds: how long a navigation started ahead waits for its slot to ask for it. */
export const HELD_RESPONSE_TIME = 30_000;

/** Bytes: body bytes between tunnel worker and service worker that the page has not read yet, per stream. */
export const PORT_CREDIT_BYTES = 256 * 1024;

/**
 * Milliseconds: what a service worker is told within this time goes in one message: each costs about 1 ms between
 * processes.
 */
export const PORT_BATCH_TIME = 8;

/** The slot that a port belongs to, as the shell knows it. */
export interface SlotBinding {
  /** Serialized real origin that the slot stands for. */
  readonly origin: string;
  /** Serialized real origin of the top-level page; equal to `origin` for a top-level slot. */
  readonly topLevelOrigin: string;
  readonly topLevel: boolean;
}

/** A request as the service worker saw it, with real URLs. */
export type PortRequestHead = Pick<
  RequestHead,
  | "method"
  | "url"
  | "headers"
  | "destination"
  | "mode"
  | "credentials"
  | "redirect"
  | "referrer"
  | "referrerPolicy"
  | "cache"
> & {
  /** The person wants this picture or film as its origin sends it. */
  readonly wantsOriginal?: boolean;
  /** As of `RequestHead`. Slot workers of before 2026-12 do not say so. */
  readonly marksReads?: boolean;
  /**
   * Names a form that leads a frame to another origin. With a POST to that origin: its body, which is kept until the shell
   * has a slot for the frame, and answered by an empty response. With a GET: the answer to the form is wanted. "": none is;
   * slot workers of before 2026-12 do not say so.
   */
  readonly form?: string | undefined;
  /** The response is a file, by whatever type: a `hold` of it as a file may follow. */
  readonly isFile?: true;
};

/** A document is shown that the page script cannot run in. Told again, with the other phase, at the end of its body. */
export interface SilentDocument {
  readonly type: "silent-document";
  /** Real URL, with the fragment. */
  readonly url: string;
  readonly title: string;
  readonly phase: "loading" | "loaded";
}

export type PortToTunnel =
  | {
      readonly type: "request";
      /** Chosen by the service worker, unique on its port. */
      readonly id: number;
      readonly head: PortRequestHead;
      /** "stream": the body follows in `body` messages. */
      readonly body: ArrayBuffer | "stream" | null;
    }
  | { readonly type: "body"; readonly id: number; readonly chunk: Uint8Array }
  | { readonly type: "body-end"; readonly id: number }
  /** The page has read this many bytes of the response. */
  | { readonly type: "credit"; readonly id: number; readonly bytes: number }
  | { readonly type: "cancel"; readonly id: number }
  /** Keep this response: the page must see its redirect, and then asks for the final URL. */
  | {
      readonly type: "hold";
      readonly id: number;
      /**
       * The app is to write it into a file of its own instead: the file's name as the page calls it, may be "". Only to a
       * tunnel that says `savesFiles`.
       */
      readonly file?: string;
    }
  /**
   * A navigation ended without a document: 204, or a download that the browser took over. `url`: real, as it was asked for;
   * left out before 2026-12. `leadsTo`: address of another app, to which it was redirected.
   */
  | { readonly type: "no-document"; readonly url?: string; readonly leadsTo?: string }
  /** The page's scripts put pictures where they can read their pixels. */
  | { readonly type: "reads-pixels" }
  /**
   * A page opens a socket, with its end of it. Any message on `life` says that the page is left: browsers do
   * not tell that by a port that was handed on (Chromium 156). Only to a tunnel that says `opensSockets`.
   */
  | ({ readonly type: "socket"; readonly port: MessagePort; readonly life: MessagePort } & SocketRequest)
  | SilentDocument
  /**
   * First in an array of messages: is anybody there? The tunnel ends with its shell, and not every browser tells that
   * by the port. After `until`, in milliseconds of `Date.now()`, the service worker sends what is in the array
   * elsewhere, so it must not be done here. Slot workers of before 2026-12 do not say it.
   */
  | { readonly type: "ping"; readonly until?: number }
  | { readonly type: "script-cookie"; readonly documentUrl: string; readonly cookieString: string };

export type TunnelToPort =
  /**
   * First on every port, and again when it changes: what the shell bound it to. `tunnel` names the tunnel among those of
   * other windows. `heedsUntil` says that it knows a ping's `until`, `opensSockets` that it knows sockets, `savesFiles` that
   * it can write files; tunnels of before 2026-12 say none of these. `savesData`: origins get `Save-Data: on`.
   */
  | {
      readonly type: "bound";
      readonly binding: SlotBinding;
      readonly tunnel: string;
      readonly heedsUntil?: boolean;
      readonly opensSockets?: boolean;
      readonly savesFiles?: boolean;
      readonly savesData?: boolean;
    }
  /**
   * When a document was asked for, or a file (but by tunnels of before 2026-12), or the head's URL is not the one asked for, nothing follows until the service
   * worker says what becomes of the response: `credit` (take it as it is), `hold` or `cancel`.
   */
  | {
      readonly type: "response";
      readonly id: number;
      readonly head: ResponseHead;
      /** Set for a picture that is not as its origin sent it. */
      readonly picture?: ImageNote;
      /** The body has marks (PROTOCOL.md section 5.12) that the request did not ask for: they are to be taken out. */
      readonly hasMarks?: true;
      /**
       * Set for a navigation that began before the slot asked: the referrer that it was sent with, a real URL or "".
       */
      readonly referrer?: string;
    }
  /** An answer to each ping, in their order. `isLate`: `until` was over, and no request or cookie that came with it was taken. */
  | { readonly type: "pong"; readonly isLate?: boolean }
  | { readonly type: "data"; readonly id: number; readonly chunk: Uint8Array }
  | { readonly type: "end"; readonly id: number }
  | { readonly type: "error"; readonly id: number; readonly code: number; readonly message: string }
  /**
   * Upload: one more `body` chunk, beside those that were asked for and have not come. `taken`: bytes that have left for the
   * edge; where tunnels of before 2026-12 do not tell, all that was sent has.
   */
  | { readonly type: "body-wanted"; readonly id: number; readonly taken?: number };

/** When to post what has gathered: the first at once, with what the same turn brings; then not before a rest is over. */
export class MessageBatch {
  readonly #post: () => void;
  readonly #rest: number;
  readonly #setTimer: SetTimer;
  #isResting = false;
  #isScheduled = false;
  #isWanted = false;

  /**
   * @param post posts all that has gathered.
   * @param rest milliseconds.
   */
  constructor(post: () => void, rest: number, setTimer: SetTimer) {
    this.#post = post;
    this.#rest = rest;
    this.#setTimer = setTimer;
  }

  /** Messages have gathered. @param isUrgent not worth a wait. */
  want(isUrgent = false): void {
    this.#isWanted = true;
    if (this.#isScheduled || (this.#isResting && !isUrgent)) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    this.#isWanted = false;
    this.#post();
    if (this.#isResting) return;
    this.#isResting = true;
    this.#setTimer(() => {
      this.#isResting = false;
      if (this.#isWanted) this.want();
    }, this.#rest);
  }
}

/** The encodings of forms (HTML section 4.10.22); a boundary as RFC 2046 section 5.1.1 has it, in quotes or not. */
const FORM_TYPE =
  /^(?:application\/x-www-form-urlencoded|text\/plain|multipart\/form-data; ?boundary="?[\w'()+,./:=?-]{1,70}"?)(?:; ?charset=[\w-]{1,40})?$/i;

/**
 * What of a page's fields goes along with a form to another origin: another field, or another type, would be a request
 * across sites that no browser sends without asking the other site first.
 */
export function formFields(fields: unknown): HeaderList {
  for (const field of Array.isArray(fields) ? fields : []) {
    const [name, value] = (Array.isArray(field) ? field : []) as readonly unknown[];
    if (name === "content-type" && typeof value === "string" && FORM_TYPE.test(value)) return [["content-type", value]];
  }
  return [];
}
