import type { LinkPlatform } from "../link.ts";

/** A WebSocket whose network is played by a test. */
export class FakeSocket {
  binaryType = "blob";
  readyState: number = WebSocket.CONNECTING;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: ArrayBuffer | string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  readonly protocols: readonly string[];
  readonly sent: (Uint8Array | string)[] = [];
  /** Given, what messages go to as they are sent. */
  onSent: ((message: Uint8Array) => void) | null = null;

  constructor(protocols: readonly string[]) {
    this.protocols = protocols;
  }

  send(message: Uint8Array | string): void {
    const copy = typeof message === "string" ? message : message.slice();
    this.sent.push(copy);
    if (typeof copy !== "string") this.onSent?.(copy);
  }

  close(): void {
    this.readyState = WebSocket.CLOSED;
  }

  open(): void {
    this.readyState = WebSocket.OPEN;
    this.onopen?.();
  }

  receive(data: ArrayBuffer | string): void {
    this.onmessage?.({ data });
  }

  lose(code = 1006): void {
    this.readyState = WebSocket.CLOSED;
    this.onclose?.({ code });
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

  now(): number {
    return this.time;
  }

  random: () => number = () => this.chance;

  setTimer(task: () => void, delay: number): () => void {
    const timer = { task, at: this.time + delay };
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
