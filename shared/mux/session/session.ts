/**
 * All streams of one phone over one channel or several: PROTOCOL.md sections 4.5, 5 and 6. Symmetric but for who opens
 * streams (the phone) and the limits on credit. Knows no HTTP: heads are field lists, bodies are bytes.
 *
 * A session puts its parts together and passes between them what happens on its channels. Frames, header tables and stream
 * ids are each channel's; a stream stays on the channel that its first head went on.
 */
import { monotonicClock } from "../../clock.ts";
import type { RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";
import type { EncodableField } from "../../wire/hpack/field.ts";
import { initialStreamCredit, mostSessionCredit } from "../credit/initial-credit.ts";
import { SessionWindow } from "../credit/session-window.ts";
import type { Channel } from "../pipe/channel.ts";
import { wantedChannels } from "../pipe/channel-policy.ts";
import { ChannelSet } from "../pipe/channel-set.ts";
import type { CarriedPlace } from "../pipe/channel-types.ts";
import { assertHeadFits } from "../stream/head-limits.ts";
import { PeerSettings, Setting } from "./peer-settings.ts";
import type { ChannelOwner, SessionChannel } from "./session-channel.ts";
import { SessionReceiver } from "./session-receiver.ts";
import { SessionRest } from "./session-rest.ts";
import { SessionSender } from "./session-sender.ts";
import { SessionStreams } from "./session-streams.ts";
import type { Experiment, SessionHandler, SessionOptions } from "./session-types.ts";

export type { SessionHandler, SessionOptions, SessionSnapshot } from "./session-types.ts";

export class Session implements ChannelOwner {
  /** May change at any time. */
  experiment: Experiment;
  readonly role: "phone" | "edge";
  readonly handler: SessionHandler;
  readonly channels: ChannelSet;
  readonly streams: SessionStreams;
  readonly sender: SessionSender;
  readonly receiver: SessionReceiver;
  readonly peer: PeerSettings;

  /** Round trip of the link in ms, guessed, as long as none was measured. */
  #roundTripGuess: number | null = null;
  #rest: SessionRest;
  #ended: RopewayError | null = null;

  constructor(options: SessionOptions) {
    const { role, handler, snapshot, now, setTimer } = { ...monotonicClock, ...options };
    this.role = role;
    this.handler = handler;
    this.experiment = options.experiment ?? {};
    this.peer = new PeerSettings(initialStreamCredit(role).send, snapshot);
    const initial = this.experiment.credit ?? options.initialCredit ?? limits.initialSessionCreditBytes;
    const window = new SessionWindow({
      initial,
      isFixed: this.experiment.credit !== undefined,
      ...mostSessionCredit(role),
      now,
      ...(snapshot ? { outstanding: snapshot.grantedCredit } : {}),
    });
    this.channels = new ChannelSet({ sessionId: options.sessionId, owner: this, defer: options.defer, snapshot });
    this.receiver = new SessionReceiver(this.channels, window);
    // The edge spreads what it sends over all channels that the phone has opened; an upload stays on its own.
    const credit = snapshot?.sendCredit ?? limits.initialSessionCreditBytes;
    this.sender = new SessionSender(this.channels, credit, role === "edge", options.takesData);
    this.streams = new SessionStreams(this, () => {
      if (this.streams.count === 0) window.rest();
      this.#rest.check();
    });
    this.#rest = new SessionRest(this.channels, this.streams, role === "phone" ? setTimer : null);
    if (snapshot === undefined) this.#set(initial);
  }

  /** The first channel, which is always there. */
  get channel(): Channel {
    return this.channels.first.channel;
  }

  get ended(): RopewayError | null {
    return this.#ended;
  }

  /** How many channels pay now. New streams go on no more than that; opening and closing their transports is the owner's. */
  get wantedChannels(): number {
    const { estimate } = this.receiver.window;
    return wantedChannels({
      ...estimate,
      fixed: this.experiment.channels ?? null,
      attached: this.channels.choice.attached.length,
      minRtt: estimate.minRtt ?? this.#roundTripGuess,
    });
  }

  /** @param time milliseconds, as opening the link lets one think. */
  guessRoundTrip(time: number): void {
    this.#roundTripGuess = time;
  }

  /**
   * Phone: fields that hold for all requests of the session, sent once before the first request.
   *
   * @throws RopewayError ENHANCE_YOUR_CALM of scope "stream" when they are above the limits on heads.
   */
  sendSessionHead(fields: readonly EncodableField[]): void {
    assertHeadFits(fields);
    this.channels.first.sendSessionHead(fields);
  }

  /** Ends the session and all its streams; tells the peer why. */
  end(error: RopewayError): void {
    this.channel.fail(error);
  }

  // ChannelOwner

  messageEnd(from: SessionChannel): void {
    this.receiver.messageEnd(from);
    this.sender.pump();
    this.#rest.check();
  }

  channelAttached(channel: SessionChannel): void {
    this.receiver.attached(channel);
    if (this.streams.count > 0) this.receiver.measure(channel);
    this.sender.pump();
  }

  channelGreeted(channel: SessionChannel): void {
    this.channels.greeted();
    this.receiver.strand();
    this.channels.choice.heard(channel);
    // How far the edge is decides how many channels pay: better known before there is much to fetch.
    if (this.role === "phone") this.receiver.measure(channel);
    this.handler.onResumed?.();
  }

  carried(from: CarriedPlace, message: Uint8Array): void {
    if (this.role === "edge") this.handler.onCarried?.(from, message);
    else this.channels.receiveCarried(from, message);
  }

  pong(from: SessionChannel, token: number): void {
    if (!this.receiver.window.pong(token, from.index)) this.handler.onPong?.(token);
  }

  failed(error: RopewayError): void {
    if (this.#ended !== null) return;
    this.#ended = error;
    this.#rest.stop();
    this.sender.stop();
    this.channels.fail(error);
    this.streams.fail(error);
    this.handler.onEnd(error);
  }

  /** Tells the peer what its credit is at first, where that is not what it takes it to be. */
  #set(sessionCredit: number): void {
    const entries: [number, number][] = [];
    if (this.role === "phone") entries.push([Setting.INITIAL_STREAM_CREDIT, limits.firstStreamCreditBytes]);
    if (sessionCredit !== limits.initialSessionCreditBytes) entries.push([Setting.SESSION_CREDIT, sessionCredit]);
    if (entries.length > 0) this.channel.send({ type: "settings", entries });
  }
}
