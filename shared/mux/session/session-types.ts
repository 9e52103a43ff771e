/** What a session is made from, and what it tells. */
import type { Clock } from "../../clock.ts";
import type { RopewayError } from "../../errors.ts";
import type { HeaderField } from "../../wire/hpack/field.ts";
import type { CarriedPlace, Defer } from "../pipe/channel-types.ts";
import type { MuxStream } from "../stream/stream.ts";
import type { PeerSettingsSnapshot } from "./peer-settings.ts";
import type { SessionChannelSnapshot } from "./session-channel.ts";

export interface SessionHandler {
  /** Edge: the phone opened a stream; its head follows at once. The callee sets `stream.handler`. */
  onStream?(stream: MuxStream): void;
  /**
   * Phone: the edge opened a stream for a push; the head of the request that it answers follows at once. The callee sets
   * `stream.handler`. Without it pushes are a violation of the protocol.
   */
  onPush?(stream: MuxStream): void;
  /** Edge: fields that hold for all requests of the session (a HEAD on stream 0). */
  onSessionHead?(fields: readonly HeaderField[]): void;
  /** The session is over; all streams have failed. Called once. */
  onEnd(error: RopewayError): void;
  /** A stream was opened or closed. */
  onStreamsChanged?(): void;
  onPong?(token: number): void;
  /** Edge: a message of a channel that the phone has put on the first one's link. May throw a RopewayError. */
  onCarried?(from: CarriedPlace, message: Uint8Array): void;
  /** A channel goes on after a reconnect. */
  onResumed?(): void;
}

/** What survives hibernation of an idle session, its channel 0 first. Plain data, for structured clone. */
export interface SessionSnapshot extends SessionChannelSnapshot, PeerSettingsSnapshot {
  /** Channels beyond the first. */
  readonly more: readonly (SessionChannelSnapshot & { readonly index: number })[];
  readonly sendCredit: number;
  /** Credit that the peer has of us. */
  readonly grantedCredit: number;
}

/** The one hook of tests and the bench: what a session takes for granted, whatever is measured. Empty in the product. */
export interface Experiment {
  /** Bytes of credit that the peer has from the start. */
  readonly credit?: number;
  /** How many channels pay. */
  readonly channels?: number;
  /** Whether the phone names what it has learned that pages ask for; it does by default. */
  readonly namesLearned?: boolean;
}

/** Its clock never goes back. */
export interface SessionOptions extends Partial<Clock> {
  readonly role: "phone" | "edge";
  readonly sessionId: Uint8Array;
  readonly handler: SessionHandler;
  readonly defer?: Defer;
  readonly snapshot?: SessionSnapshot;
  /** Whether the owner takes DATA now, besides what credit allows. Asked again after each message of the peer. */
  readonly takesData?: () => boolean;
  /** What an earlier session on this link came to, instead of limits.initialSessionCreditBytes. */
  readonly initialCredit?: number;
  readonly experiment?: Experiment;
}
