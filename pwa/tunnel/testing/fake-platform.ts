import type { PhoneSocket, SocketListener, SocketOffer } from "../../../shared/phone-socket.ts";
import { offeredProtocols } from "../../../shared/subprotocol.ts";
import type { SocketPlatform } from "../sockets/first-socket.ts";

/** A socket whose network is played by a test. */
export class FakeSocket implements PhoneSocket {
  readyState: number = WebSocket.CONNECTING;
  /** What it was closed with here. */
  closedWith: number | undefined;
  /** As a WebSocket would offer them in its handshake. */
  readonly protocols: readonly string[];
  readonly sent: (Uint8Array | string)[] = [];
  /** Given, what messages go to as they are sent. */
  onSent: ((message: Uint8Array) => void) | null = null;
  onSentText: ((text: string) => void) | null = null;
  /** Given, it is told that the socket is gone, whoever ended it. */
  onGone: (() => void) | null = null;

  readonly #listener: SocketListener;
  #isClosedHere = false;

  constructor({ token, opening }: SocketOffer, listener: SocketListener) {
    this.protocols = offeredProtocols(token, opening);
    this.#listener = listener;
  }

  send(message: Uint8Array | string): boolean {
    if (this.readyState !== WebSocket.OPEN) return false;
    const copy = typeof message === "string" ? message : message.slice();
    this.sent.push(copy);
    if (typeof copy === "string") this.onSentText?.(copy);
    else this.onSent?.(copy);
    return true;
  }

  close(code?: number): void {
    this.closedWith ??= code;
    this.readyState = WebSocket.CLOSED;
    this.#isClosedHere = true;
    this.onGone?.();
  }

  open(): void {
    this.readyState = WebSocket.OPEN;
    if (!this.#isClosedHere) this.#listener.onOpen();
  }

  /** Nothing comes any more once it was closed here. */
  receive(message: Uint8Array | ArrayBuffer | string): void {
    if (this.readyState !== WebSocket.OPEN || this.#isClosedHere) return;
    this.#listener.onMessage(message instanceof ArrayBuffer ? new Uint8Array(message) : message);
  }

  lose(code = 1006, isClean = false): void {
    this.readyState = WebSocket.CLOSED;
    this.onGone?.();
    if (!this.#isClosedHere) this.#listener.onClose(code, isClean);
  }
}

/** Clock, chance and sockets as a test wants them. */
export class FakePlatform implements SocketPlatform {
  time = 0;
  chance = 0;
  probed: "reachable" | "refused" | "unreachable" = "reachable";
  /** Whether what is asked after a failed handshake is answered at all. */
  answersProbes = true;
  probes = 0;
  readonly sockets: FakeSocket[] = [];
  #timers = new Set<{ task: () => void; at: number }>();

  get socket(): FakeSocket {
    const socket = this.sockets.at(-1);
    if (socket === undefined) throw new Error("Cannot use the socket: none was opened");
    return socket;
  }

  dial(offer: SocketOffer, listener: SocketListener): FakeSocket {
    const socket = new FakeSocket(offer, listener);
    this.sockets.push(socket);
    return socket;
  }

  /** Sockets of further channels, apart from the first one's. */
  readonly furtherSockets: FakeSocket[] = [];
  /** Whether they are of use. */
  takesFurtherSockets = true;

  dialFurther(offer: SocketOffer, listener: SocketListener): FakeSocket | null {
    if (!this.takesFurtherSockets) return null;
    const socket = new FakeSocket(offer, listener);
    this.furtherSockets.push(socket);
    return socket;
  }

  now(): number {
    return this.time;
  }

  random: () => number = () => this.chance;

  setTimer(task: () => void, delay: number): () => void {
    const timer = { task, at: this.time + Math.max(0, delay) };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  probe(): Promise<"reachable" | "refused" | "unreachable"> {
    this.probes += 1;
    return this.answersProbes ? Promise.resolve(this.probed) : new Promise(() => {});
  }

  /** Time passes in which nothing runs; timers that were due then run afterwards, each once. */
  sleep(time: number): void {
    this.time += time;
    const due = [...this.#timers].filter(({ at }) => at <= this.time).sort((a, b) => a.at - b.at);
    for (const timer of due) {
      if (this.#timers.delete(timer)) timer.task();
    }
  }

  /** Lets time pass; timers run when they are due. */
  pass(time: number): void {
    const end = this.time + time;
    for (;;) {
      const next = [...this.#timers].sort((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > end) break;
      this.#timers.delete(next);
      this.time = next.at;
      next.task();
    }
    this.time = end;
  }
}
