/** The dictionaries of one phone: what its responses are coded against, and what of them is kept to be one (PROTOCOL.md section 5.3). */
import type { SetTimer } from "../../../shared/clock.ts";
import { DICTIONARY_LEAST, DICTIONARY_MOST, isDictionary } from "../../../shared/coding/link-coding.ts";
import type { Room } from "../../../shared/fair-shares.ts";
import { contentLength, headerValue } from "../../../shared/http/head-fields.ts";
import type { RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import { concat } from "../../../shared/wire/frame.ts";
import { isCompressible } from "../coding/compressible.ts";
import type { DecodedResponse, DictionaryStages } from "../stage.ts";
import { codeAgainst, type Hold } from "./code-against.ts";
import type { DictionaryCompressor } from "./dictionary-compressor.ts";
import { dictionaryPlace, mayShareContext } from "./dictionary-place.ts";
import { KeptBodies } from "./kept-bodies.ts";
import type { SealedBodyStore } from "./sealed-body-store.ts";

/** Milliseconds after which bodies are sealed and written: by then a page has mostly loaded. */
const KEPT_AFTER = 1500;

interface Waiting {
  readonly kept: KeptBodies;
  readonly place: string;
  readonly url: string;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Name of the body that was there before. */
  readonly replaces: string | null;
}

export class PhoneDictionaries {
  readonly #store: SealedBodyStore;
  readonly #compressor: DictionaryCompressor;
  readonly #room: Room;
  readonly #setTimer: SetTimer;
  /** By the key that the phone's last session brought: one phone has one. */
  #kept: { readonly key: string; readonly bodies: KeptBodies } | null = null;
  #waiting: Waiting[] = [];
  /** Grows when all is forgotten: of what was asked for before nothing is kept. */
  #era = 0;
  /** What is being written. */
  #keeping: Promise<void> = Promise.resolve();

  /** @param room for what deliveries hold, of all phones in the process. */
  constructor(store: SealedBodyStore, compressor: DictionaryCompressor, room: Room, setTimer: SetTimer) {
    this.#store = store;
    this.#compressor = compressor;
    this.#room = room;
    this.#setTimer = setTimer;
  }

  /** @returns null for a request whose response shares a context with no other. @param key of `readDictionaryKey`. */
  stagesFor(key: Uint8Array<ArrayBuffer>, head: RequestHead): DictionaryStages | null {
    const place = dictionaryPlace(head);
    if (place === null) return null;
    const kept = this.#keptBy(key);
    const { url, stored } = head;
    const named = stored?.hash;
    const era = this.#era;
    let replaces: string | null = null;
    return {
      keep: (response) => this.#keep(response, (body) => this.#add({ kept, place, url, body, replaces }, era)),
      code: async (response) => {
        const hold = named === undefined || !isText(response.head) ? null : this.#hold(response.head);
        if (named === undefined || hold === null) return response;
        try {
          // Not earlier: while the origin is being asked, nothing is held.
          const dictionary = await kept.find(place, named);
          if (dictionary !== null && hold.grow(dictionary.bytes.length)) {
            // A sibling's stays: the phone has both.
            if (await kept.isOf(dictionary, url)) replaces = named;
            const coder = { compressor: this.#compressor, setTimer: this.#setTimer };
            return await codeAgainst(response, dictionary, coder, hold);
          }
        } catch (error) {
          hold.release();
          throw error;
        }
        hold.release();
        return response;
      },
    };
  }

  /** For a body that is to be coded. @returns null where too much is held already. */
  #hold({ headers }: ResponseHead): (Hold & { grow(bytes: number): boolean }) | null {
    const taker = {};
    const grow = (bytes: number) => this.#room.take(taker, bytes);
    if (!grow(contentLength(headers) ?? DICTIONARY_MOST)) return null;
    const release = () => this.#room.give(taker);
    const shrink = (bytes: number): void => {
      release();
      grow(bytes);
    };
    return { grow, shrink, release };
  }

  /** All that is kept of this phone. */
  async forget(): Promise<void> {
    this.#era += 1;
    for (const { body } of this.#waiting.splice(0)) this.#room.give(body);
    await this.#keeping;
    await this.#store.clear();
  }

  #keptBy(key: Uint8Array<ArrayBuffer>): KeptBodies {
    const text = key.join();
    if (this.#kept?.key !== text) this.#kept = { key: text, bodies: new KeptBodies(this.#store, key) };
    return this.#kept.bodies;
  }

  #keep({ head, body }: DecodedResponse, onWhole: (body: Uint8Array<ArrayBuffer>) => void): DecodedResponse {
    if (!isText(head)) return { head, body };
    return { head, body: copied(body, this.#room, onWhole) };
  }

  #add(waiting: Waiting, era: number): void {
    if (era !== this.#era || !isDictionary(waiting.body)) return this.#room.give(waiting.body);
    this.#waiting.push(waiting);
    if (this.#waiting.length === 1) this.#setTimer(() => this.#keepAll(), KEPT_AFTER);
  }

  #keepAll(): void {
    const bodies = this.#waiting.splice(0);
    this.#keeping = this.#keeping.then(async () => {
      // One after the other: requests that come meanwhile find the processor between two.
      for (const each of bodies) await this.#keepOne(each);
    });
  }

  async #keepOne({ kept, place, url, body, replaces }: Waiting): Promise<void> {
    try {
      const name = await kept.keep(place, url, body);
      if (replaces !== null && replaces !== name) await kept.drop(place, replaces);
    } catch {
      // It is no dictionary then.
    }
    this.#room.give(body);
  }
}

/** Whether the body is worth a dictionary, and may have one. */
function isText(head: ResponseHead): boolean {
  if (!mayShareContext(head) || !isCompressible(headerValue(head.headers, "content-type"))) return false;
  const length = contentLength(head.headers);
  return length === null || (length >= DICTIONARY_LEAST && length <= DICTIONARY_MOST);
}

/** Hands a body on, and what it was at its end: by then that has taken its bytes of the room. */
function copied(
  source: ReadableStream<Uint8Array>,
  room: Room,
  onWhole: (body: Uint8Array<ArrayBuffer>) => void,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let chunks: Uint8Array[] | null = [];
  let size = 0;
  const giveUp = (): void => {
    room.give(giveUp);
    chunks = null;
  };
  const copy = (chunk: Uint8Array): void => {
    if (chunks === null) return;
    if (size + chunk.length > DICTIONARY_MOST || !room.take(giveUp, chunk.length)) return giveUp();
    size += chunk.length;
    chunks.push(chunk.slice());
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await reader.read();
          if (!done) {
            copy(value);
            return controller.enqueue(value);
          }
        } catch (error) {
          giveUp();
          throw error;
        }
        const whole = chunks && (concat(...chunks) as Uint8Array<ArrayBuffer>);
        giveUp();
        if (whole !== null && room.take(whole, whole.length)) onWhole(whole);
        controller.close();
      },
      cancel(reason) {
        giveUp();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
