import type { LinkPlatform } from "../sockets/link.ts";

/** A WebSocket whose network is played by a test. */
export class FakeSocket {
  binaryType = "blob";
  readyState: number = WebSocket.CONNECTING;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: ArrayBuffer | string }) => void) | null = null;
  onclose: ((event: { code: number; wasClean: boolean }) => void) | null = null;
  /** What it was closed with here. */
  closedWith: number | undefined;
  readonly protocols: readonly string[];
  readonly sent: (Uint8Array | string)[] = [];
  /** Given, what messages go to as they are sent. */
  onSent: ((message: Uint8Array) => void) | null = null;
  onSentText: ((text: string) => void) | null = null;
  /** Given, it is told that the socket is gone, whoever ended it. */
  onGone: (() => void) | null = null;

  constructor(protocols: readonly string[]) {
    this.protocols = protocols;
  }

  send(message: Uint8Array | string): void {
    const copy = typeof message === "string" ? message : message.slice();
    this.sent.push(copy);
    if (typeof copy === "string") this.onSentText?.(copy);
    else this.onSent?.(copy);
  }

  close(code?: number): void {
    this.closedWith ??= code;
    this.readyState = WebSocket.CLOSED;
    this.onGone?.();
  }

  open(): void {
    this.readyState = WebSocket.OPEN;
    this.onopen?.();
  }

  /** As in browsers, nothing comes any more once it was closed here. */
  receive(data: ArrayBuffer | string): void {
    if (this.readyState === WebSocket.OPEN) this.onmessage?.({ data });
  }

  lose(code = 1006, wasClean = false): void {
    this.readyState = WebSocket.CLOSED;
    this.onGone?.();
    this.onclose?.({ code, wasClean });
  }
}

/** Clock, chance and sockets as a test wants them. */
export class FakePlatform implements LinkPlatform {
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

  openSocket(_url: string, protocols: string[]): WebSocket {
    const socket = new FakeSocket(protocols);
    this.sockets.push(socket);
    return socket as unknown as WebSocket;
  }

  /** Sockets of further channels, apart from the link's. */
  readonly furtherSockets: FakeSocket[] = [];
  /** Whether they are of use. */
  takesFurtherSockets = true;

  openFurtherSocket(_url: string, protocols: string[]): WebSocket | null {
    if (!this.takesFurtherSockets) return null;
    const socket = new FakeSocket(protocols);
    this.furtherSockets.push(socket);
    return socket as unknown as WebSocket;
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
