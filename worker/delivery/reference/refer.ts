/**
 * A stage of `deliver`: where the body is the one that the phone has stored for this request, the phone gets its name
 * instead (PROTOCOL.md section 5.7). To know that the body is read whole, so one that is longer, another's, or slow goes
 * on as it is.
 */
import type { SetTimer } from "../../../shared/clock.ts";
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { BodyName, RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import { hashOfBody, NAMED_BODY_MOST } from "../../../shared/http/phone-fields.ts";
import { cacheControl } from "../../../shared/http-cache/cache-rules.ts";
import { concat } from "../../../shared/wire/frame.ts";
import type { Refer } from "../stage.ts";
import { bodyOf, readAhead } from "./read-ahead.ts";

/**
 * Milliseconds to wait for the whole body: less than a longer one takes on a slow link, and hardly noticed on a fast
 * one.
 */
const WITHIN = 300;

/** Bytes of bodies that a session may hold at once; further ones go as they are. */
const HELD_BYTES = 4 * 1024 * 1024;

export class References {
  readonly #setTimer: SetTimer;
  #held = 0;

  constructor(setTimer: SetTimer) {
    this.#setTimer = setTimer;
  }

  readonly refer: Refer = async (response, request) => {
    const { stored } = request;
    if (stored === undefined || !mayBe(stored, request, response.head)) return response;
    if (this.#held + stored.size > HELD_BYTES) return response;
    this.#held += stored.size;
    const release = (): void => {
      this.#held -= stored.size;
    };
    const read = await readAhead(response.body, stored.size, WITHIN, this.#setTimer);
    if (read.rest === "whole" && (await isNamed(read.chunks, stored))) {
      release();
      // The phone has all of it: nothing is left to go on with.
      const { resumption: _, ...head } = response.head;
      return { head: { ...head, isReference: true }, body: null };
    }
    return { head: response.head, body: bodyOf(read, release) };
  };
}

/**
 * Whether the body may be the named one, and the phone may be told so. It may not after a redirect: the page that was
 * redirected would learn by the size of the answer whether another site sends what it guessed.
 */
function mayBe({ size }: BodyName, request: RequestHead, { status, headers, redirected, continues }: ResponseHead) {
  if (request.method !== "GET" || request.delivery?.continuation != null) return false;
  if (status !== 200 || redirected || continues === true || size > NAMED_BODY_MOST) return false;
  // For another origin the edge says `no-store` also where it hides a redirect.
  if (cacheControl(headers).has("no-store")) return false;
  const length = headerValue(headers, "content-length");
  return length === null || Number(length) === size;
}

async function isNamed(chunks: readonly Uint8Array[], { hash, size }: BodyName): Promise<boolean> {
  return chunks.reduce((sum, { length }) => sum + length, 0) === size && (await hashOfBody(concat(...chunks))) === hash;
}
