import { LINK_DECODERS, type OpenDecoder } from "../../shared/coding/link-coding.ts";
import { ErrorCode, later, RopewayError, toErrorCode } from "../../shared/errors.ts";
import { type ClientExchange, type ResponseConsumer, startExchange } from "../../shared/http/exchange.ts";
import type { RequestHead } from "../../shared/http/heads.ts";
import { type PhoneFacts, sessionFields } from "../../shared/http/phone-traits.ts";
import * as limits from "../../shared/limits.ts";
import type { Attachment } from "../../shared/mux/pipe/channel.ts";
import { type Experiment, Session } from "../../shared/mux/session/session.ts";
import { CLOSE_CODE_BASE, endsSession } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import { DEFAULT_PRIORITY, type Priority, SESSION_ID_BYTES } from "../../shared/wire/frame.ts";
import type { LinkHint, LinkPhase, StoreStats, TunnelStats, WarmedStats } from "../messages/tunnel-messages.ts";
import { type Ask, askInOrder, type ResponseSource, type SessionTrace } from "./exchange/exchange.ts";
import type { LastingRequest, OpenedStream } from "./requests/lasting-request.ts";
import { NetworkRequests, TunnelCounters } from "./requests/network-requests.ts";
import { PushedResponses } from "./requests/pushed-responses.ts";
import { FirstSocket, type SocketPlatform } from "./sockets/first-socket.ts";
import { ChannelActivity, FurtherSockets } from "./sockets/further-sockets.ts";
import { HANDSHAKE_ROUND_TRIPS, SocketContext } from "./sockets/socket-keeper.ts";

interface TunnelHandler {
  onPhase(phase: LinkPhase): void;
  /** Counters changed; called often, so the callee samples. */
  onTraffic(): void;
  /** A request failed that may have had an effect at its origin all the same. */
  onUncertain?(head: RequestHead): void;
  /** Whether the phone has what the edge offers to send. */
  isAtHand?(head: RequestHead): boolean;
}

/** A session, and what outlives it. */
interface CarriedSession extends SessionTrace {
  readonly session: Session;
  /** When the edge was last heard in it; before that, when it was first put on a link. */
  lastCarriedAt: number;
}

/**
 * The client end of the tunnel: one session after the other over one link, and every request of the phone on it.
 * Requests wait while there is no link, for as long as the person has patience.
 */
export class Tunnel {
  readonly counters = new TunnelCounters();
  /** Answers a request. */
  readonly ask: Ask;
  /** Likewise, by the edge and nothing else. */
  readonly askEdge: Ask;

  #sockets: SocketContext;
  #first: FirstSocket;
  #further: FurtherSockets;
  #activity: ChannelActivity;
  #experiment: Experiment = {};
  #platform: SocketPlatform;
  #handler: TunnelHandler;
  #constants: TunnelConstants = { userAgent: "", acceptLanguage: "" };
  #abilities: Omit<TunnelAbilities, "takesBrotli"> = {
    slotScheme: null,
    dictionaryKey: null,
    images: null,
    blocksTrackers: false,
    savesData: false,
  };
  #current: CarriedSession | null = null;
  /** The link's, from before its socket is opened. */
  #transport: Transport | null = null;
  /** The transport's attachment to the session. */
  #attachment: Attachment | null = null;
  #online = true;
  #isRefused = false;
  #network: NetworkRequests;
  #pushed: PushedResponses;
  /** Decoders of the codings that the edge is offered. */
  #decoders: { -readonly [Coding in keyof typeof LINK_DECODERS]: (typeof LINK_DECODERS)[Coding] } = {
    ...LINK_DECODERS,
  };
  #uploads = new UploadMeter();

  /** @param sources are asked after what was pushed, before the edge is. */
  constructor(handler: TunnelHandler, platform: SocketPlatform, sources: readonly ResponseSource[] = []) {
    this.#handler = handler;
    this.#platform = platform;
    this.#pushed = new PushedResponses(platform, (head) => handler.isAtHand?.(head) === true, this.#decoders);
    this.#network = new NetworkRequests(
      {
        openStream: (priority, asker) => this.#openStream(priority, asker),
        refusal: () => (this.#isRefused ? refused() : null),
        absence: () => (this.#first.isOpen ? null : unreachable(this.#online)),
        onAsked: () => this.#asked(),
        onOver: (request, error) => this.#over(request, error),
        onDocumentLost: (name) => this.#pushed.drop(name),
      },
      platform,
      this.counters,
    );
    this.askEdge = this.#network.ask;
    this.ask = askInOrder([this.#pushed.source, ...sources], this.askEdge);
    this.#sockets = new SocketContext(platform, {
      isAwaiting: () => this.#network.areUnderWay,
      uploadDelay: () => this.#uploads.delay(this.#current?.session.channels.unacknowledgedBytes ?? 0),
    });
    this.#first = new FirstSocket(
      {
        onDialling: (transport) => this.#attach(transport),
        onOpened: (time) => {
          this.#current?.session.guessRoundTrip(time / HANDSHAKE_ROUND_TRIPS);
          this.#further.reachable(time);
          this.#uploads.opened();
          this.#updateChannels();
        },
        onMessage: (_, message) => this.#receive(this.#attachment, message),
        onClose: (transport, code, wasSilent) => {
          this.#detach(transport, code, wasSilent);
          // The network that took this socket may have taken the others.
          this.#further.check();
          this.#further.giveWay();
        },
        onPhase: (phase) => this.#showPhase(phase),
        onSpare: () => this.#further.giveWay(),
        onRefused: () => this.giveUp(),
      },
      platform,
      this.#sockets,
    );
    this.#activity = new ChannelActivity(platform, () => this.#updateChannels());
    this.#further = new FurtherSockets(
      {
        onTransport: (index, transport) => this.#currentSession().session.channels.attach(index, transport),
        onMessage: (attachment, message) => this.#receive(attachment, message),
        onClose: (index, attachment, code, isConfirmed) => this.#detachFurther(index, attachment, code, isConfirmed),
        onRetry: () => this.#updateChannels(),
        isBusy: (index) => this.#current?.session.channels.isBusy(index) ?? true,
      },
      platform,
      this.#sockets,
    );
  }

  /** Takes the constants that sessions say of this phone: before the first request, and when more is known. */
  introduce(constants: TunnelConstants): void {
    this.#constants = constants;
    this.#renew({});
  }

  /** @param key with which the edge seals what it keeps of this phone, to code against it; in base64url. */
  offerDictionaries(key: string): void {
    // Browsers may be set to run none: the decoder is wasm, and each such response would be asked for twice.
    if (!("WebAssembly" in globalThis)) return;
    this.#renew({ dictionaryKey: key });
  }

  /** @param decoder of what comes in brotli. */
  offerBrotli(decoder: OpenDecoder): void {
    this.#decoders.br = decoder;
    this.#renew({});
  }

  /** @param slotScheme scheme of the hosts that pages are on, if what they need may come before they ask, else null. */
  takePushes(slotScheme: PhoneFacts["slotScheme"]): void {
    this.#renew({ slotScheme });
  }

  /** Takes the person's choices, as of `TunnelAbilities`. */
  wish(wishes: Pick<TunnelAbilities, "images" | "blocksTrackers" | "savesData">): void {
    const { images, blocksTrackers, savesData } = this.#abilities;
    const isOther = images?.recoding !== wishes.images?.recoding || images?.most !== wishes.images?.most;
    if (isOther || blocksTrackers !== wishes.blocksTrackers || savesData !== wishes.savesData) this.#renew(wishes);
  }

  /** As of `TunnelAbilities`. */
  get savesData(): boolean {
    return this.#abilities.savesData;
  }

  /** As of `PhoneFacts`. */
  get acceptLanguage(): string {
    return this.#constants.acceptLanguage;
  }

  /** Milliseconds, as measured on this link and those before; null before the first. */
  get roundTrip(): number | null {
    return this.#sockets.rtt.smoothed;
  }

  get takesPushes(): boolean {
    return this.#abilities.slotScheme !== null;
  }

  /** Opens the link. Requests that were made before ride in its handshake. */
  start(url: string, token: string): void {
    this.#isRefused = false;
    this.#activity.renew();
    this.#first.start(url, token);
    this.#further.start(url, token);
  }

  setOnline(online: boolean): void {
    this.#online = online;
    this.#first.setOnline(online);
    this.#further.check();
  }

  hint(hint: LinkHint): void {
    this.#first.hint(hint);
    if (hint !== "navigation") this.#further.check();
    if (hint !== "network") this.#activity.renew();
    this.#updateChannels();
  }

  setExperiment(experiment: Experiment): void {
    this.#experiment = experiment;
    if (this.#current !== null) this.#current.session.experiment = experiment;
    this.#updateChannels();
  }

  /** @param waitTime milliseconds that a request waits without a link. */
  setWaitTime(waitTime: number): void {
    this.#network.setWaitTime(waitTime);
  }

  stats(): Omit<TunnelStats, "road" | keyof (StoreStats & WarmedStats)> {
    return {
      sockets: (this.#first.isOpen ? 1 : 0) + this.#further.openCount,
      ...this.counters.stats(this.#current?.session, this.#sockets.traffic),
      ...this.#pushed.stats,
    };
  }

  /**
   * Opens a page's socket, in the session of the moment and in no other. Rejects with why there is none; after that the
   * consumer hears of it.
   */
  async openSocket(
    head: RequestHead,
    body: ReadableStream<Uint8Array>,
    consumer: ResponseConsumer,
  ): Promise<ClientExchange> {
    if (this.#isRefused) throw refused();
    const { stream } = await this.#openStream(DEFAULT_PRIORITY, head.topLevelOrigin);
    const exchange = startExchange(stream, head, body, consumer);
    this.#asked();
    return exchange;
  }

  /** Whether something can be said to the edge now, as far as is known. */
  get hasLink(): boolean {
    return this.#first.isOpen;
  }

  /** The page on screen is left: pushes for it are of no use any more. */
  leavePage(): void {
    this.#pushed.drop();
  }

  /** Pushes for the origin's scripts are not the responses that they would get now. */
  outdate(origin: string | null): void {
    this.#pushed.dropOfScripts(origin);
  }

  /** Nobody waits any longer: all requests under way fail, and the next request starts a session of its own. */
  giveUp(): void {
    const error = this.#isRefused ? refused() : unreachable(this.#online);
    this.#network.fail(error);
    this.#current?.session.end(error);
  }

  /** @param asker the site of the page, or "" for the app itself. */
  #openStream(priority: Priority, asker: string): OpenedStream | Promise<OpenedStream> {
    const current = this.#currentSession();
    const { session } = current;
    const decoders = this.#decoders;
    const { streams } = session;
    if (streams.hasRoom(asker)) return { stream: streams.openNow(priority, asker), session: current, decoders };
    return streams.open(priority, asker).then((stream) => ({ stream, session: current, decoders }));
  }

  #asked(): void {
    this.#activity.renew();
    this.#updateChannels();
    this.#first.awaiting();
    this.#further.awaiting();
  }

  #over({ head, isUncertain }: LastingRequest, error: RopewayError | null): void {
    if (!this.#network.areUnderWay) this.#activity.renew();
    if (error !== null && hidesTheOutcome(error) && isUncertain) this.#handler.onUncertain?.(head);
    this.#handler.onTraffic();
  }

  #currentSession(): CarriedSession {
    const known = this.#current;
    if (known !== null && known.session.ended === null) return known;
    const session = new Session({
      role: "phone",
      sessionId: crypto.getRandomValues(new Uint8Array(SESSION_ID_BYTES)),
      experiment: this.#experiment,
      handler: {
        onEnd: () => this.#archive(session),
        onPush: (stream) => this.#pushed.accept(stream, current),
        onResumed: () => {
          this.counters.counts.resumes += 1;
        },
      },
    });
    this.#sendConstants(session);
    const current: CarriedSession = { session, wasCarried: false, lastCarriedAt: this.#platform.now() };
    this.#current = current;
    this.counters.counts.sessions += 1;
    if (this.#transport !== null) this.#carry(current, this.#transport);
    return current;
  }

  #renew(change: Partial<TunnelAbilities>): void {
    this.#abilities = { ...this.#abilities, ...change };
    const session = this.#current?.session;
    if (session !== undefined && session.ended === null) this.#sendConstants(session);
  }

  #sendConstants(session: Session): void {
    const takesBrotli = this.#decoders.br !== undefined;
    session.sendSessionHead(sessionFields({ ...this.#constants, ...this.#abilities, takesBrotli }));
  }

  #attach(transport: Transport): void {
    const known = this.#current;
    // The edge would begin it anew, and cannot know any more which of its requests it had sent.
    const isForgotten =
      known?.wasCarried === true &&
      known.session.channel.arrived.received === 0 &&
      this.#platform.now() - known.lastCarriedAt > limits.repeatWindow;
    if (isForgotten) known.session.end(sessionLost());
    this.#transport = transport;
    const current = this.#currentSession();
    if (current === known) this.#carry(current, transport);
    // The first socket is back before the others: frames that those carried go over it meanwhile.
    current.session.channels.carryStranded();
    // Requests that wait go out now, since they ride in the handshake.
    current.session.channels.flush();
    this.#updateChannels();
  }

  #carry(current: CarriedSession, transport: Transport): void {
    // A further attempt tells nothing of what the edge still knows: it may not get there.
    if (!current.wasCarried) current.lastCarriedAt = this.#platform.now();
    current.wasCarried = true;
    this.#attachment = current.session.channels.attach(0, transport);
  }

  #receive(attachment: Attachment | null, message: Uint8Array): void {
    this.counters.counts.messagesDown += 1;
    const current = this.#current;
    if (current !== null) {
      const { session } = current;
      const now = this.#platform.now();
      current.lastCarriedAt = now;
      const known = session.channels.acknowledgedBytes;
      attachment?.receive(message);
      const acknowledged = session.channels.acknowledgedBytes - known;
      this.#uploads.update(acknowledged, session.channels.unacknowledgedBytes, now, this.#sockets.rtt.smoothed ?? 0);
      this.#activity.measured();
    }
    this.#handler.onTraffic();
  }

  #detach(transport: Transport, code: number, wasSilent: boolean): void {
    if (this.#transport === transport) this.#transport = null;
    const session = this.#current?.session;
    this.#uploads.lost(wasSilent ? (session?.channels.unacknowledgedBytes ?? 0) : 0);
    if (this.#attachment?.detach() && session !== undefined) this.#endIfTold(session, code);
  }

  #detachFurther(index: number, attachment: Attachment, code: number, isConfirmed: boolean): void {
    attachment.detach();
    const session = this.#current?.session;
    if (session === undefined) return;
    session.channels.retire(index, isConfirmed);
    session.channels.carryStranded();
    this.#endIfTold(session, code);
    this.#updateChannels();
  }

  #endIfTold(session: Session, code: number): void {
    // A code of ours: the edge said why, and the session is over. Anything else is the network's doing: resume.
    if (endsSession(code)) {
      const message = "Cannot go on: the edge ended the session";
      session.end(new RopewayError(toErrorCode(code - CLOSE_CODE_BASE), "session", "peer", message));
    }
  }

  #archive(session: Session): void {
    this.counters.archive(session);
    if (this.#current?.session !== session) return;
    this.#current = null;
    // Its channels have closed them.
    this.#transport = null;
    this.#further.drop();
  }

  /** Opens and closes the sockets of further channels as it pays now. */
  #updateChannels(): void {
    const session = this.#current?.session;
    if (session === undefined || session.ended !== null) return;
    const isActive = this.#network.areUnderWay || this.#activity.isRecent;
    this.#further.update(
      isActive ? session.wantedChannels : 1,
      session.channels.stranded,
      this.#first.isOpen && !this.#first.isDialling,
      (index) => session.channels.beginRetirement(index),
    );
  }

  #showPhase(phase: LinkPhase): void {
    this.#isRefused = phase.kind === "refused";
    const isThere = phase.kind === "open" || phase.kind === "stalled";
    this.#network.showLink(isThere);
    this.#handler.onPhase(phase);
  }
}

type TunnelConstants = Pick<PhoneFacts, "userAgent" | "acceptLanguage" | "viewport" | "accept">;

/** The abilities of this phone, and its wishes. */
type TunnelAbilities = Omit<PhoneFacts, keyof TunnelConstants>;

/** Whether an origin may have had the request, and acted on it. An edge that refuses the phone has passed nothing on. */
function hidesTheOutcome({ code, scope }: RopewayError): boolean {
  if (scope === "session") return code !== ErrorCode.KEY_NOT_ACCEPTED;
  return code === ErrorCode.ALREADY_SENT || code === ErrorCode.OUTCOME_UNKNOWN;
}

/** Errors of requests that their tunnel cannot carry. */
function unreachable(isOnline: boolean): RopewayError {
  const [code, reason] = isOnline
    ? [ErrorCode.LINK_LOST, later("check the network, then try again")]
    : [ErrorCode.OFFLINE, later("this device is offline")];
  return new RopewayError(code, "session", "library", `Cannot reach the edge: ${reason}`);
}

function refused(): RopewayError {
  return new RopewayError(
    ErrorCode.KEY_NOT_ACCEPTED,
    "session",
    "peer",
    `Cannot reach the edge: ${later("it does not accept this phone any more; pair it again")}`,
  );
}

function sessionLost(): RopewayError {
  return new RopewayError(ErrorCode.LINK_LOST, "session", "library", "Cannot resume the session: it was too long ago");
}

/** Milliseconds: most that a probe's answer may lag because an upload is queued before it; 1 MiB at 140 kbit/s. */
export const UPLOAD_DRAIN_TIME = 60_000;

/** Bytes per second that any link has: GPRS, 8 kbit/s. */
const SLOWEST_RATE = 1_000;
/**
 * Bytes per second, assumed before anything was measured. Where the link is slower, it is opened anew once or twice,
 * and the upload goes on there.
 */
const ASSUMED_RATE = 8_000;
/** Bytes: fewer are through in a moment, and say nothing of a rate. */
const WORTH_MEASURING = 4 * 1024;

/**
 * How long what was handed to the socket takes to get through, from how fast the edge acknowledged so far. A phone's
 * uplink may have seconds of its own upload queued before anything that is sent now.
 */
export class UploadMeter {
  #rate = ASSUMED_RATE;
  /** Bytes acknowledged since `#since`. */
  #bytes = 0;
  #since: number | null = null;
  #isOpen = false;

  /** A link is there. */
  opened(): void {
    this.#isOpen = true;
  }

  /**
   * A link is lost, if there was one.
   *
   * @param outstanding bytes for which it may have been given up: such are expected to take longer on the next.
   */
  lost(outstanding: number): void {
    if (this.#isOpen && outstanding >= WORTH_MEASURING) this.#rate = Math.max(SLOWEST_RATE, this.#rate / 2);
    this.#isOpen = false;
    this.#since = null;
  }

  /**
   * @param acknowledged bytes that the edge has just said to have.
   * @param outstanding bytes that it has not.
   * @param roundTrip what comes within one came together.
   */
  update(acknowledged: number, outstanding: number, now: number, roundTrip: number): void {
    if (this.#since === null) [this.#since, this.#bytes] = [now, 0];
    else this.#bytes += acknowledged;
    const time = now - this.#since;
    if (this.#bytes >= WORTH_MEASURING && time > roundTrip) {
      this.#rate = Math.max(SLOWEST_RATE, (this.#rate + (this.#bytes * 1_000) / time) / 2);
      [this.#since, this.#bytes] = [now, 0];
    }
    if (outstanding < WORTH_MEASURING) this.#since = null;
  }

  /** Milliseconds until `outstanding` bytes are through. */
  delay(outstanding: number): number {
    if (outstanding < WORTH_MEASURING) return 0;
    return Math.min(UPLOAD_DRAIN_TIME, (outstanding * 1_000) / this.#rate);
  }
}
