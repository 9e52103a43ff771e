/**
 * Keeps one WebSocket to the edge alive: opens it, notices that it died, opens the next with backoff and jitter. Knows
 * nothing of sessions: it hands each socket to its owner as a transport, before it is opened, so that what the owner
 * has to say rides in the handshake.
 *
 * ```
 *  idle ─start─► connecting ─open─► open ─close/dead─► waiting ─timer/hint─► connecting
 *                    └──────── close/timeout ────────────▲ │
 *                                                          └─ token refused ─► refused (until start)
 * ```
 */
import type { LinkSocket } from "../../shared/fetch-road/fetch-socket.ts";
import { limits } from "../../shared/limits.ts";
import { PendingTransport } from "../../shared/pending-transport.ts";
import { offeredProtocols } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import type { LinkPhase } from "../shell/browser-state.ts";
import { attemptTime, expectedHandshake } from "./attempt-time.ts";
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
  /** `code` is the WebSocket close code. What was sent may have arrived or not, also if the socket never opened. */
  onClose(transport: Transport, code: number): void;
  onPhase(phase: LinkPhase): void;
  /** The edge knows the phone's token no more: nothing is tried until `start`. */
  onRefused(): void;
  /** Whether requests wait for the edge. */
  isAwaiting(): boolean;
  /** Milliseconds that an answer may lag because of what is queued before the question. */
  uploadDelay(): number;
}

/** Platform seams, so that tests bring their own. */
export interface LinkPlatform extends FurtherLinksPlatform {
  openSocket(url: string, protocols: string[]): LinkSocket;
  /** 0 to 1. */
  random(): number;
  /** After a failed handshake: does the edge answer, and does it know the token? */
  probe(token: string): Promise<"reachable" | "refused" | "unreachable">;
}

/**
 * Why a link may be worth another look: another network, or the person looks at the app again. Or the person is about to
 * go somewhere, and what can be made ready for that should be.
 */
export type LinkHint = "network" | "visible" | "navigation";

/** After a loss all phones of an edge come back at once, but not in the same moment. */
const REOPEN_SPREAD = 100;
const FIRST_RETRY_DELAY = 300;
/** A handshake that is younger goes on when the person comes back. */
const FRESH_ATTEMPT = 3_000;

interface Attempt {
  readonly socket: LinkSocket;
  readonly transport: PendingTransport;
  readonly startedAt: number;
  watch: LinkWatch | null;
}

export class Link {
  readonly traffic = { opened: 0, keepAliveBytesUp: 0, keepAliveBytesDown: 0 };
  readonly rtt = new RttEstimator();

  #handler: LinkHandler;
  #platform: LinkPlatform;
  #target: { url: string; token: string } | null = null;
  #attempt: Attempt | null = null;
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
    if (attempt === null) return this.#connect();
    if (attempt.watch !== null) return hint === "navigation" ? undefined : attempt.watch.check(hint === "network");
    const age = this.#platform.now() - attempt.startedAt;
    // Its packets may be on their way from an address that is no longer this phone's.
    if (age === 0 || (hint !== "network" && age < FRESH_ATTEMPT)) return;
    this.#abandon();
    this.#connect();
  }

  /** A request went out. */
  awaiting(): void {
    this.#attempt?.watch?.awaiting();
  }

  #connect(): void {
    const target = this.#target;
    if (target === null) return;
    this.#attempts += 1;
    this.#sayWaiting({ kind: "connecting", since: this.#lostAt, attempt: this.#attempts });
    const transport = new PendingTransport();
    this.#handler.onConnecting(transport);
    const opening = this.#usesOpening ? transport.takeOpening(limits.openingBytes) : null;
    const socket = this.#platform.openSocket(target.url, offeredProtocols(target.token, opening));
    socket.binaryType = "arraybuffer";
    const attempt: Attempt = { socket, transport, startedAt: this.#platform.now(), watch: null };
    this.#attempt = attempt;
    this.#schedule(
      () => {
        this.#timeouts += 1;
        this.#lose(attempt, CLOSED_ABNORMALLY, true);
      },
      attemptTime(this.#handshake, this.#timeouts),
    );
    socket.onopen = () => this.#opened(attempt);
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      const isAnswer = typeof event.data === "string";
      attempt.watch?.heard(isAnswer);
      if (isAnswer) this.traffic.keepAliveBytesDown += (event.data as string).length;
      else this.#handler.onMessage(transport, new Uint8Array(event.data as ArrayBuffer));
    };
    socket.onclose = (event) => this.#lose(attempt, event.code, false);
  }

  #opened(attempt: Attempt): void {
    const { socket, transport, startedAt } = attempt;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.traffic.opened += 1;
    this.#attempts = 0;
    this.#timeouts = 0;
    const handshake = this.#platform.now() - startedAt;
    this.rtt.guess(handshake / HANDSHAKE_ROUND_TRIPS);
    this.#handshake = expectedHandshake(this.#handshake, handshake);
    attempt.watch = new LinkWatch(
      {
        sendProbe: () => sendProbe(socket, this.traffic),
        onStall: (since) => this.#handler.onPhase(since === null ? { kind: "open" } : { kind: "stalled", since }),
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
    this.#handler.onClose(attempt.transport, code);
    if (this.#attempt !== null || this.#target === null) return;
    this.#retryLater(wasOpen || wasSilent);
    if (!wasOpen && !wasSilent) void this.#askWhy();
  }

  /** @param soon silence took its time already; only what fails fast is tried less and less often. */
  #retryLater(soon: boolean): void {
    const ceiling = Math.min(limits.reconnectDelayMax, FIRST_RETRY_DELAY * 2 ** this.#attempts);
    const chance = this.#platform.random();
    const delay = soon ? REOPEN_SPREAD * chance : ceiling * (0.5 + chance / 2);
    this.#sayWaiting({ kind: "waiting", since: this.#lostAt, retryAt: this.#platform.now() + delay });
    this.#schedule(() => this.#connect(), delay);
  }

  /** A browser does not say why a handshake failed. */
  async #askWhy(): Promise<void> {
    const target = this.#target;
    if (this.#isProbing || target === null) return;
    this.#isProbing = true;
    const result = await this.#platform.probe(target.token).catch(() => "unreachable" as const);
    this.#isProbing = false;
    if (target !== this.#target || this.open) return;
    if (result === "reachable") this.#usesOpening = !this.#usesOpening;
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
    this.#drop();
    if (attempt !== null) this.#handler.onClose(attempt.transport, CLOSED_ABNORMALLY);
  }

  #drop(): void {
    const attempt = this.#attempt;
    this.#attempt = null;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (attempt === null) return;
    attempt.watch?.stop();
    const { socket } = attempt;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  #schedule(task: () => void, delay: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#platform.setTimer(task, delay);
  }
}
