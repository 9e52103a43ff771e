/** What whoever owns a transport tells the channel that it was attached to. */
export interface Attachment {
  /**
   * A message of the peer. Ignored once another transport has taken this one's place.
   *
   * @param isCounted its bytes are not those of another channel's message already.
   */
  receive(message: Uint8Array, isCounted?: boolean): void;
  /** The transport is gone. @returns false when it carried the channel no more. */
  detach(): boolean;
}
