/** What a channel is made from, and what it tells. */
import type { RopewayError } from "../../errors.ts";
import type { SequencedFrame } from "../../wire/frame.ts";
import type { ArrivedSnapshot } from "./arrived-frames.ts";
import type { RetainedSnapshot, RetainedTotal } from "./retained-frames.ts";

export interface ChannelHandler {
  /** A sequenced frame of the peer, exactly once and in order. May throw a RopewayError of scope "session". */
  onFrame(frame: SequencedFrame): void;
  /** All frames of one message were handled. */
  onMessageEnd(): void;
  /** A fresh transport carries the channel now; HELLO and all that was not acknowledged is queued on it. */
  onAttached?(): void;
  /** The transport is gone, and no other has taken its place. */
  onDetached?(): void;
  /** A message, or a part of one, of another channel, which goes over this one's link. May throw as onFrame. */
  onCarried?(from: CarriedPlace, message: Uint8Array): void;
  /** The peer's HELLO: after it, what was lost with the last transport is on its way again. */
  onHello?(): void;
  onPong?(token: number): void;
  /** The channel cannot go on. Called once. */
  onFail(error: RopewayError): void;
}

/** Which channel goes over the first one's link, and the number of the link that this is to it. */
export interface CarriedPlace {
  readonly channel: number;
  readonly link: number;
}

/** What survives hibernation. Plain data, for structured clone. */
export interface ChannelSnapshot extends RetainedSnapshot, ArrivedSnapshot {}

/** Defers work to the end of the current turn; `queueMicrotask` outside tests. */
export type Defer = (task: () => void) => void;

export interface ChannelOptions {
  readonly sessionId: Uint8Array;
  /** Which of the session's channels it is. */
  readonly index: number;
  /** Phone: the number of a fresh link among all of the session. */
  readonly nextLink: () => number;
  readonly handler: ChannelHandler;
  /** `queueMicrotask` where it is left out. */
  readonly defer: Defer | undefined;
  readonly snapshot: ChannelSnapshot | undefined;
  /** What all channels of the session keep, for limits.retainedBytes. */
  readonly retained: RetainedTotal;
}
