/**
 * Buffers of DATA frames, used again once the peer has acknowledged what was in them. Without it a large download
 * leaves its whole size behind as garbage, faster than collectors that count only their own heap care to run.
 */
import * as limits from "../../limits.ts";

/** Frame buffers a channel keeps for reuse: 2 MiB, about what is unacknowledged on a fast link. */
const POOLED_BUFFERS = 64;

/** Room for a frame's type, stream id and length beside its payload. */
const FRAME_HEADER_BYTES = 17;

export class BufferPool {
  #free: ArrayBuffer[] = [];

  /** An array of exactly `length` bytes with anything in it. */
  take(length: number): Uint8Array {
    if (!isPooled(length)) return new Uint8Array(length);
    return new Uint8Array(this.#free.pop() ?? new ArrayBuffer(CAPACITY), 0, length);
  }

  /** Takes an array of `take` back: nobody may read it any more. Others are left to the collector. */
  give(bytes: Uint8Array): void {
    if (bytes.buffer.byteLength !== CAPACITY || this.#free.length >= POOLED_BUFFERS) return;
    this.#free.push(bytes.buffer as ArrayBuffer);
  }

  /** Leaves all that is free to the collector: nothing large is to be sent for a while. */
  clear(): void {
    this.#free = [];
  }

  /** Bytes that are kept for reuse. */
  get freeBytes(): number {
    return this.#free.length * CAPACITY;
  }
}

const CAPACITY = limits.batchBytes + FRAME_HEADER_BYTES;

/** Small frames are cheaper to allocate than to keep large buffers for. */
function isPooled(length: number): boolean {
  return length > CAPACITY / 4 && length <= CAPACITY;
}
