/**
 * Keeps one WebSocket to the edge alive: opens it, notices that it died, opens the next with backoff and jitter. Knows
 * nothing of sessions: it hands each socket to its owner as a transport, before it is opened, so that what the owner
 * has to say rides in the handshake.
 *
 * What is silent while something is waited for may come back by itself, so another socket is opened beside it, and the
 * one that is there first goes on.
 *
 * ```
 *  idle ─start─► connecting ─open─► open ─close/dead─► waiting ─timer/hint─► connecting
 *                    └──────── close/timeout ────────────▲ │
 *                                                          └─ token refused ─► refused (until start)
 * ```
 */
import type { LinkSocket } from "../../../shared/fetch-road/fetch-socket.ts";
import { limits } from "../../../shared/limits.ts";
import { PendingTransport } from "../../../shared/pending-transport.ts";
import { endsSession, offeredProtocols } from "../../../shared/subprotocol.ts";
import type { Transport } from "../../../shared/transport.ts";
import type { LinkHint, LinkPhase } from "../../messages/link.ts";
import { attemptTime, expectedHandshake, isOnTime } from "../requests/attempt-time.ts";
import type { FurtherLinksPlatform } from "./further-links.ts";
import { LinkWatch } from "./link-watch.ts";
import { CLOSED_ABNORMALLY, HANDSHAKE_ROUND_TRIPS, sendProbe, socketTransport } from "./open-socket.ts";
import { RttEstimator } from "./rtt-estimator.ts";

export interface LinkHandler {
  /**
   * A socket is about to be opened. What is sent on `transport` before this returns begins its handshake, as far as it
   * fits; the rest follows once it is open.
   */
  onConnecting(transport: Transport): void;
  onMessage(transport: Transport, message: Uint8Array): void;
  /** The socket is open. @param time milliseconds that its handshake took. */
  onOpened(time: number): void;
  /**
   * `code` is the WebSocket close code. What was sent may have arrived or not, also if the socket never opened.
   *
   * @param wasSilent it was given up since nothing came; else the network or the edge said that it is over.
   */
  onClose(transport: Transport, code: number, wasSilent: boolean): void;
  onPhase(phase: LinkPhase): void;
  /** Another socket is opened while that one is stalled. */
  onSpare(): void;
  /** The edge knows the phone's token no more: nothing is tried until `start`. */
  onRefused(): void;
  /** Whether requests wait for the edge. */
  isAwaiting(): boolean;
  /** Milliseconds that an answer may lag because of what is queued before the question. */
  uploadDelay(): number;
}

/** Platform seams, so that tests bring their own. */
export interface LinkPlatform extends FurtherLinksPlatform {
  /** @param isSpare another is open, and may go on. */
  openSocket(url: string, protocols: string[], isSpare: boolean): LinkSocket;
  /** 0 to 1. */
  random(): number;
  /** After a failed handshake: does the edge answer, and does it know the token? */
  probe(token: string): Promise<"reachable" | "refused" | "unreachable">;
}

/** After a loss all phones of an edge come back at once, but not in the same moment. */
const REOPEN_SPREAD = 100;
const FIRST_RETRY_DELAY = 300;
/** Between the first attempts: for a few minutes somebody may look at an error page. */
const RETRY_DELAY = 4_000;
const FREQUENT_ATTEMPTS = 100;
/** A stalled link that went on by itself, and one socket more for nothing: not again for so long. */
const SPARE_REST = 30_000;
/** A handshake that is younger goes on when the person comes back. */
const FRESH_ATTEMPT = 3_000;

interface Attempt {
  readonly socket: LinkSocket;
  readonly transport: PendingTransport;
  readonly startedAt: number;
  /** Whether frames may have ridden in its handshake. */
  readonly mayCarryOpening: boolean;
  watch: LinkWatch | null;
  /** Whether frames have come. */
  isHeard: boolean;
  isStalled: boolean;
}

/** A socket that is being opened while a stalled one is still there; nobody's transport, so nothing rides in its handshake. */
interface Spare {
  readonly socket: LinkSocket;
  readonly startedAt: number;
  readonly cancelTimer: () => void;
}

export class Link {
  readonly traffic = { opened: 0, keepAliveBytesUp: 0, keepAliveBytesDown: 0 };
  readonly rtt = new RttEstimator();

  #handler: LinkHandler;
  #platform: LinkPlatform;
  #target: { url: string; token: string } | null = null;
  #attempt: Attempt | null = null;
  #spare: Spare | null = null;
  #spareRestsUntil = Number.NEGATIVE_INFINITY;
  /** Since frames last came. */
  #attempts = 0;
  /** Handshakes in a row that ended in silence. */
  #timeouts = 0;
  /** Milliseconds that one takes, null before the first. */
  #handshake: number | null = null;
  #lostAt: number;
  #cancelTimer: (() => void) | null = null;
  #online = true;
  #isProbing = false;
  /** Whether frames ride in the handshake; some proxies do not let a field that long pass. */
  #usesOpening = true;

  constructor(handler: LinkHandler, platform: LinkPlatform) {
    this.#handler = handler;
    this.#platform = platform;
    this.#lostAt = platform.now();
  }

  get open(): boolean {
    return this.#attempt?.watch != null;
  }

  /** Whether a handshake of the link's is under way. */
  get isConnecting(): boolean {
    return this.#spare !== null || (this.#attempt !== null && this.#attempt.watch === null);
  }

  start(url: string, token: string): void {
    this.#target = { url, token };
    this.#attempts = 0;
    this.#lostAt = this.#platform.now();
    this.#abandon();
    this.#connect();
  }

  setOnline(online: boolean): void {
    this.#online = online;
    if (online) this.hint("network");
    else if (this.open) this.#attempt?.watch?.check();
    else if (this.#target !== null) this.#handler.onPhase({ kind: "offline", since: this.#lostAt });
  }

  /** Makes sure of an open link, and tries at once to get one where there is none. */
  hint(hint: LinkHint): void {
    const attempt = this.#attempt;
    if (this.#target === null) return;
    // A network that has just come may not carry the first attempt.
    if (this.#attempts > 1) this.#attempts = 1;
    if (attempt === null) return this.#connect();
    if (attempt.watch !== null) {
      if (hint !== "navigation") attempt.watch.check(hint === "network");
      if (hint === "network" && this.#spare !== null && this.#spare.startedAt < this.#platform.now()) {
        // As below.
        this.#dropSpare();
        this.#openSpare();
      }
      return;
    }
    const age = this.#platform.now() - attempt.startedAt;
    // Its packets may be on their way from an address that is no longer this phone's.
    if (age === 0 || (hint !== "network" && age < FRESH_ATTEMPT)) return;
    this.#abandon();
    this.#connect();
  }

  /** A request went out. */
  awaiting(): void {
    this.#attempt?.watch?.awaiting();
    if (this.#attempt?.isStalled) this.#openSpare();
  }

  #connect(): void {
    const target = this.#target;
    if (target === null) return;
    const transport = this.#announce();
    const opening = this.#usesOpening ? transport.takeOpening(limits.openingBytes) : null;
    const socket = this.#platform.openSocket(target.url, offeredProtocols(target.token, opening), false);
    this.#follow(newAttempt(socket, transport, this.#platform.now(), true));
  }

  /** @returns the transport of the socket to come. */
  #announce(): PendingTransport {
    this.#attempts += 1;
    this.#sayWaiting({ kind: "connecting", since: this.#lostAt, attempt: this.#attempts });
    const transport = new PendingTransport();
    this.#handler.onConnecting(transport);
    return transport;
  }

  /** Makes it the attempt that counts; its time began when its socket was made. */
  #follow(attempt: Attempt): void {
    const { socket, transport, startedAt } = attempt;
    socket.binaryType = "arraybuffer";
    this.#attempt = attempt;
    const time = attemptTime(this.#handshake, this.#timeouts);
    const giveUp = (): void => {
      this.#timeouts += 1;
      this.#lose(attempt, CLOSED_ABNORMALLY, true);
    };
    this.#schedule(giveUp, startedAt + time - this.#platform.now());
    socket.onopen = () => this.#opened(attempt);
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      const isAnswer = typeof event.data === "string";
      attempt.watch?.heard(isAnswer);
      if (isAnswer) {
        this.traffic.keepAliveBytesDown += (event.data as string).length;
        return;
      }
      attempt.isHeard = true;
      this.#attempts = 0;
      this.#handler.onMessage(transport, new Uint8Array(event.data as ArrayBuffer));
    };
    socket.onclose = (event) => this.#lose(attempt, event.code, false);
  }

  #opened(attempt: Attempt): void {
    const { socket, transport, startedAt } = attempt;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.traffic.opened += 1;
    this.#timeouts = 0;
    const handshake = this.#platform.now() - startedAt;
    this.rtt.guess(handshake / HANDSHAKE_ROUND_TRIPS);
    this.#handshake = expectedHandshake(this.#handshake, handshake);
    attempt.watch = new LinkWatch(
      {
        sendProbe: () => sendProbe(socket, this.traffic),
        onStall: (since) => {
          this.#handler.onPhase(since === null ? { kind: "open" } : { kind: "stalled", since });
          attempt.isStalled = since !== null;
          if (since === null) this.#goesOn();
          else this.#openSpare();
        },
        onDead: () => this.#lose(attempt, CLOSED_ABNORMALLY, true),
        isAwaiting: () => this.#handler.isAwaiting(),
        uploadDelay: () => this.#handler.uploadDelay(),
      },
      this.#platform,
      this.rtt,
    );
    this.#handler.onPhase({ kind: "open" });
    transport.open(socketTransport(socket, (code) => this.#lose(attempt, code, false)));
    if (this.#handler.isAwaiting()) attempt.watch.awaiting();
    this.#handler.onOpened(handshake);
  }

  #lose(attempt: Attempt, code: number, wasSilent: boolean): void {
    if (attempt !== this.#attempt) return;
    const wasOpen = attempt.watch !== null;
    // A link was gone from when nothing came on it any more.
    if (attempt.watch !== null) this.#lostAt = wasSilent ? attempt.watch.lastHeard : this.#platform.now();
    this.#drop();
    this.#handler.onClose(attempt.transport, code, wasSilent);
    if (this.#attempt !== null || this.#target === null) return;
    if (this.#spare !== null && this.#isPromising(this.#spare)) return this.#useSpare(this.#spare);
    this.#dropSpare();
    // An edge that takes sockets, but no session.
    const isTurnedAway = !attempt.isHeard && endsSession(code);
    const isPatient = isTurnedAway || this.#attempts >= FREQUENT_ATTEMPTS;
    const delayMax = isPatient ? limits.reconnectDelayMax : RETRY_DELAY;
    this.#retryLater((wasOpen && !isTurnedAway) || wasSilent ? null : delayMax);
    if (!wasOpen && !wasSilent) void this.#askWhy(attempt.mayCarryOpening);
  }

  /** The link is stalled. */
  #openSpare(): void {
    const target = this.#target;
    const isPointless = !this.#online || !this.#handler.isAwaiting() || this.#platform.now() < this.#spareRestsUntil;
    if (target === null || isPointless || this.#spare !== null) return;
    this.#handler.onSpare();
    const socket = this.#platform.openSocket(target.url, offeredProtocols(target.token, null), true);
    const cancelTimer = this.#platform.setTimer(() => this.#dropSpare(), attemptTime(this.#handshake, 0));
    const spare = { socket, startedAt: this.#platform.now(), cancelTimer };
    this.#spare = spare;
    socket.onopen = () => {
      const stalled = this.#attempt;
      if (stalled !== null) this.#lose(stalled, CLOSED_ABNORMALLY, true);
    };
    socket.onclose = () => this.#dropSpare();
  }

  /** One whose first SYNs were lost sends the next later than a new one would its first, and brings no frames with it. */
  #isPromising({ socket, startedAt }: Spare): boolean {
    return socket.readyState === WebSocket.OPEN || isOnTime(this.#handshake, this.#platform.now() - startedAt);
  }

  /** The stalled link is gone: the spare one is the attempt, or the link, if it is open. */
  #useSpare({ socket, startedAt, cancelTimer }: Spare): void {
    cancelTimer();
    this.#spare = null;
    const attempt = newAttempt(socket, this.#announce(), startedAt, false);
    this.#follow(attempt);
    if (socket.readyState === WebSocket.OPEN) this.#opened(attempt);
  }

  /** What was stalled goes on. */
  #goesOn(): void {
    if (this.#spare === null) return;
    this.#spareRestsUntil = this.#platform.now() + SPARE_REST;
    this.#dropSpare();
  }

  #dropSpare(): void {
    const spare = this.#spare;
    this.#spare = null;
    if (spare === null) return;
    spare.cancelTimer();
    close(spare.socket);
  }

  /** @param delayMax what fails fast is tried less and less often, down to this; null: silence took its time already. */
  #retryLater(delayMax: number | null): void {
    const chance = this.#platform.random();
    const delay =
      delayMax === null
        ? REOPEN_SPREAD * chance
        : Math.min(delayMax, FIRST_RETRY_DELAY * 2 ** this.#attempts) * (0.5 + chance / 2);
    this.#sayWaiting({ kind: "waiting", since: this.#lostAt, retryAt: this.#platform.now() + delay });
    this.#schedule(() => this.#connect(), delay);
  }

  /** A browser does not say why a handshake failed. */
  async #askWhy(mayBlameOpening: boolean): Promise<void> {
    const target = this.#target;
    if (this.#isProbing || target === null) return;
    this.#isProbing = true;
    const result = await this.#platform.probe(target.token).catch(() => "unreachable" as const);
    this.#isProbing = false;
    if (target !== this.#target || this.open) return;
    if (result === "reachable" && mayBlameOpening) this.#usesOpening = !this.#usesOpening;
    if (result !== "refused") return;
    this.#target = null;
    this.#abandon();
    this.#handler.onPhase({ kind: "refused" });
    this.#handler.onRefused();
  }

  #sayWaiting(phase: LinkPhase): void {
    this.#handler.onPhase(this.#online ? phase : { kind: "offline", since: this.#lostAt });
  }

  /** Gives the socket up, whatever it was about to become. */
  #abandon(): void {
    const attempt = this.#attempt;
    this.#dropSpare();
    this.#drop();
    if (attempt !== null) this.#handler.onClose(attempt.transport, CLOSED_ABNORMALLY, false);
  }

  #drop(): void {
    const attempt = this.#attempt;
    this.#attempt = null;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (attempt === null) return;
    attempt.watch?.stop();
    close(attempt.socket);
  }

  #schedule(task: () => void, delay: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#platform.setTimer(task, delay);
  }
}

function newAttempt(
  socket: LinkSocket,
  transport: PendingTransport,
  startedAt: number,
  mayCarryOpening: boolean,
): Attempt {
  return { socket, transport, startedAt, mayCarryOpening, watch: null, isHeard: false, isStalled: false };
}

/** Nothing is heard of it any more. */
function close(socket: LinkSocket): void {
  socket.onopen = socket.onmessage = socket.onclose = null;
  socket.close();
}
