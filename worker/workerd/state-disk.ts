/**
 * The disk under the objects of a local workerd; Cloudflare has none that runs full. A write that finds no room there
 * breaks its object with all sessions in it, and nothing can catch that (the platform's output gate), so room is made
 * sure of before each write.
 */
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { COOKIE_PARTITION_BYTES } from "../upstream/cookie-jar.ts";

/** Kept below the state's directory while there is room, so that a new phone finds some when there is none. */
export const RESERVE_FILE = "reserve";

/** workerd's disk service, as far as it is used. */
interface Disk {
  fetch(
    url: string,
    init: { readonly method: string; readonly body: Uint8Array<ArrayBuffer> | null },
  ): Promise<{ readonly ok: boolean }>;
}

export interface StateDiskBinding {
  /** Over the directory of the state. */
  readonly STATE_DISK?: Disk;
}

/** Bytes that a write may take: a partition as UTF-16, the pages of SQLite around it, and the log before them. */
const ROOM = new Uint8Array(4 * COOKIE_PARTITION_BYTES);

export class StateDisk {
  #disk: Disk | undefined;
  /** When it was last required. */
  #hadRoom = true;

  constructor({ STATE_DISK }: StateDiskBinding) {
    this.#disk = STATE_DISK;
  }

  /** @param bytes of a value that is longer than others: the log and the database take it, one after the other. */
  async hasRoom(bytes = 0): Promise<boolean> {
    if (this.#disk === undefined) return true;
    const room = bytes === 0 ? ROOM : new Uint8Array(ROOM.length + 2 * bytes);
    const hasRoom = await this.#ask("PUT", "room", room);
    await this.#ask("DELETE", "room");
    return hasRoom;
  }

  /** @throws RopewayError where a write would find no room. The log has it once. */
  async requireRoom(): Promise<void> {
    const hadRoom = this.#hadRoom;
    this.#hadRoom = await this.hasRoom();
    if (this.#hadRoom) return;
    const message = "Cannot store what belongs to a phone: the disk of the edge is full; free some room there";
    if (hadRoom) console.error(message);
    throw new RopewayError(ErrorCode.INTERNAL_ERROR, "stream", "library", message);
  }

  /** @returns whether there was any. */
  releaseReserve(): Promise<boolean> {
    return this.#ask("DELETE", RESERVE_FILE);
  }

  async #ask(method: "PUT" | "DELETE", name: string, body: Uint8Array<ArrayBuffer> | null = null): Promise<boolean> {
    const answer = await this.#disk?.fetch(`http://state/${name}`, { method, body }).catch(() => null);
    return answer?.ok ?? false;
  }
}
