/** Parts of bodies that come one after the other, from the first byte on: together they are the whole (RFC 9111 section 3.4). */
import type { BodyPart } from "../../../../shared/http-cache/cache-rules.ts";
import type { ResponseCopy } from "../database/new-entry.ts";

/** Bodies that wait for their next part, the oldest given up first. */
const WAITING = 4;

export interface JoinedBody {
  readonly copy: ResponseCopy;
  /** Of the request for its first part, as of `Invalidations`. */
  readonly number: number;
  /** First byte that is missing; null while a part is under way. */
  next: number | null;
}

export class JoinedParts {
  /** By what the parts of one body have in common. */
  readonly #bodies = new Map<string, JoinedBody>();

  /**
   * A part begins.
   *
   * @returns where its bytes go; null where they do not follow those before. Who gives up that copy gives up all of it.
   */
  begin(place: string, part: BodyPart, start: () => Omit<JoinedBody, "next">): JoinedBody | null {
    const key = keyOf(place, part);
    const before = this.#bodies.get(key);
    if (part.first > 0) {
      if (before?.next !== part.first) return null;
      before.next = null;
      return before;
    }
    before?.copy.body.giveUp();
    const body: JoinedBody = { ...start(), next: null };
    this.#bodies.delete(key);
    this.#bodies.set(key, body);
    const [oldest] = this.#bodies;
    if (this.#bodies.size > WAITING && oldest !== undefined) {
      this.#bodies.delete(oldest[0]);
      oldest[1].copy.body.giveUp();
    }
    return body;
  }

  /** All bytes of a part that began have come. @returns the body where that was the last part. */
  end(place: string, part: BodyPart, copy: ResponseCopy): JoinedBody | null {
    const key = keyOf(place, part);
    const body = this.#bodies.get(key);
    if (body?.copy !== copy) return null;
    body.next = part.last + 1;
    if (body.next < part.total) return null;
    this.#bodies.delete(key);
    return body;
  }
}

function keyOf(place: string, { tag, total }: BodyPart): string {
  return `${place} ${tag} ${total}`;
}
