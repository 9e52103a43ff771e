import { sha256 } from "@noble/hashes/sha2.js";
import { toHex } from "../../../../shared/base-encodings.ts";

type Hasher = ReturnType<typeof sha256.create>;

/** SHA-256 of a body of one block or many. The browser's own takes no streams, and is 30 times as fast for what is whole. */
export class BodyHash {
  #many: Hasher | null = null;

  /** A block that others follow. */
  update(block: Uint8Array): void {
    this.#many ??= sha256.create();
    this.#many.update(block);
  }

  /** @returns in hexadecimal. */
  async end(last: Uint8Array<ArrayBuffer>): Promise<string> {
    return this.#many === null ? blockHash(last) : toHex(this.#many.update(last).digest());
  }
}

/** SHA-256 of what is whole, in hexadecimal. */
export async function blockHash(block: Uint8Array<ArrayBuffer>): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", block)));
}
