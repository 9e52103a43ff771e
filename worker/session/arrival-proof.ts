/**
 * What of the bytes handed to a socket its phone has proved to have read. Credit and acknowledgements prove nothing: a
 * hostile phone gives both for what it leaves in its connection, and then it piles up here, where workerd does not say
 * how much it has queued. So from time to time a PING goes along whose token only one who reads it can know (PROTOCOL.md
 * section 3.9): its PONG proves all that went before.
 */
import * as limits from "../../shared/limits.ts";
import type { Transport } from "../../shared/transport.ts";
import { concat, encodeFrame, isHello } from "../../shared/wire/frame.ts";

export class ArrivalProof {
  /**
   * Bytes that were handed to the socket so far, that are proved to have arrived, and that went before the last PING.
   */
  #sent: number;
  #proved = 0;
  #pinged = 0;
  /** Bytes that went before each PING that is not answered, by the PING's token, oldest first. */
  #pings = new Map<number, number>();

  /** @param unproved bytes that were not proved when the edge forgot everything else: it asks for proof anew. */
  constructor(unproved = 0) {
    this.#sent = unproved;
  }

  get unproved(): number {
    return this.#sent - this.#proved;
  }

  /** @returns what is to be sent in place of a message. */
  mark(message: Uint8Array): Uint8Array {
    const isDue = this.#sent - this.#pinged >= limits.proofStepBytes && !isHello(message);
    // In front: of several PINGs in a message a phone may answer the last only, and others measure the link.
    const marked = isDue ? concat(this.#ping(), message) : message;
    this.#sent += marked.length;
    return marked;
  }

  /** @returns false when the token is none of its own. */
  pong(token: number): boolean {
    const proved = this.#pings.get(token);
    if (proved === undefined) return false;
    this.#proved = proved;
    for (const [earlier, bytes] of this.#pings) if (bytes <= proved) this.#pings.delete(earlier);
    return true;
  }

  #ping(): Uint8Array {
    const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
    // 2^52 and above, below 2^53: all are integers of eight bytes, and far from those that are counted up.
    const token = 2 ** 52 + (high % 2 ** 20) * 2 ** 32 + low;
    this.#pinged = this.#sent;
    this.#pings.set(token, this.#sent);
    return encodeFrame({ type: "ping", token });
  }
}

/**
 * The proofs of all sockets of a phone, until the sockets end: one that was given up still holds what is queued on it.
 */
export class PhoneProofs {
  #proofs = new Map<Transport, ArrivalProof>();

  /** Bytes that may be queued for the phone. */
  get unproved(): number {
    let sum = 0;
    for (const proof of this.#proofs.values()) sum += proof.unproved;
    return sum;
  }

  of(transport: Transport): ArrivalProof {
    const known = this.#proofs.get(transport);
    if (known !== undefined) return known;
    return this.adopt(transport, 0);
  }

  /** For a socket that outlived the edge's memory of what was sent on it. */
  adopt(transport: Transport, unproved: number): ArrivalProof {
    const proof = new ArrivalProof(unproved);
    this.#proofs.set(transport, proof);
    return proof;
  }

  /** The socket has ended. */
  delete(transport: Transport): void {
    this.#proofs.delete(transport);
  }
}
