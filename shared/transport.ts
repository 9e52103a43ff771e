/**
 * The narrowest thing a session needs from a link: ordered, reliable, message-based, both ways.
 * A WebSocket is one; a streaming fetch with batched POSTs is another; tests script a third.
 */
export interface Transport {
  /**
   * Hands one message to the link. The bytes stay as they are until the peer has acknowledged them and are used again
   * afterwards: a transport that keeps a message longer than it takes to send it copies it.
   *
   * @returns false when the link is closed and the message was not taken.
   */
  send(message: Uint8Array): boolean;
  /** Closes the link with a WebSocket close code (RFC 6455 section 7.4) and a reason of at most 123 bytes. Idempotent. */
  close(code: number, reason: string): void;
}
