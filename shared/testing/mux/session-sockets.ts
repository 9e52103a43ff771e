import type { RopewayError } from "../../errors.ts";
import type { Attachment } from "../../mux/pipe/channel.ts";
import { adoptChannel, resumeChannel } from "../../mux/session/channel-set.ts";
import { Session, type SessionOptions, type SessionSnapshot, snapshotOf } from "../../mux/session/session.ts";
import type { Transport } from "../../transport.ts";
import { type ChannelFrame, decodeMessage } from "../../wire/frame.ts";
import { Turns } from "../turns.ts";
import { carriedReceiver } from "./carried.ts";
import { TEST_SESSION_ID } from "./linked-sessions.ts";
import { StreamLog } from "./stream-log.ts";

interface Socket {
  readonly index: number;
  readonly edge: Transport;
  readonly up: Uint8Array[];
  readonly down: Uint8Array[];
  phoneEnd: Attachment | null;
  /** From the phone's HELLO on. */
  edgeEnd: Attachment | null;
}

/** A phone's and an edge's session with a socket for each channel, which a test opens, delivers on and cuts. */
export class SessionSockets {
  readonly phone: Session;
  edge: Session;
  /** Streams that the edge was given, in order. */
  readonly accepted: StreamLog[] = [];
  readonly ended: { phone: RopewayError | null; edge: RopewayError | null } = { phone: null, edge: null };
  #turns = new Turns();
  /** With a clock that stands: what a test sees does not depend on the machine's speed. */
  readonly #common = { sessionId: TEST_SESSION_ID, defer: this.#turns.defer, now: () => 0 };
  #sockets = new Map<number, Socket>();

  constructor(options: Partial<SessionOptions> = {}) {
    const handler = {
      onEnd: (error: RopewayError): void => {
        this.ended.phone = error;
      },
    };
    this.phone = new Session({ ...this.#common, ...options, role: "phone", handler });
    this.edge = this.#edge();
  }

  /** A new socket for a channel; one that is open is lost first. */
  connect(index: number): void {
    this.cut(index);
    const up: Uint8Array[] = [];
    const down: Uint8Array[] = [];
    const transport = (queue: Uint8Array[]): Transport => ({
      send: (message) => {
        const isOpen = this.#sockets.get(index)?.up === up;
        if (isOpen) queue.push(message.slice());
        return isOpen;
      },
      close() {},
    });
    const socket: Socket = { index, up, down, edge: transport(down), phoneEnd: null, edgeEnd: null };
    this.#sockets.set(index, socket);
    socket.phoneEnd = this.phone.channels.attach(index, transport(up));
  }

  /** The socket is gone with all that is under way, which both sides learn. */
  cut(index: number): void {
    const socket = this.#sockets.get(index);
    if (socket === undefined) return;
    this.#sockets.delete(index);
    socket.phoneEnd?.detach();
    socket.edgeEnd?.detach();
  }

  /** Channels without a socket go on over the first one's. */
  carry(): void {
    this.phone.channels.carryStranded();
  }

  /** The phone closes the socket of a channel that carries nothing, and the edge confirms that. */
  retire(index: number): void {
    const socket = this.#sockets.get(index);
    const open = this.phone.channels.by(index)?.streams.size ?? 0;
    if (socket === undefined || index === 0 || open > 0) return;
    this.phone.channels.beginRetirement(index);
    this.turn();
    while (this.deliver(index, "up"));
    this.edge.channels.beginRetirement(index);
    socket.edgeEnd?.detach();
    while (this.deliver(index, "down"));
    this.#sockets.delete(index);
    socket.phoneEnd?.detach();
    this.phone.channels.retire(index, true);
  }

  turn(): void {
    this.#turns.run();
  }

  /** Hands over one message of a channel, if any is under way. */
  deliver(index: number, direction: "up" | "down"): boolean {
    const socket = this.#sockets.get(index);
    const message = socket?.[direction].shift();
    if (socket === undefined || message === undefined) return false;
    if (direction === "down") socket.phoneEnd?.receive(message);
    else {
      socket.edgeEnd ??= resumeChannel(this.edge.channels, socket.edge, helloOf(message));
      socket.edgeEnd.receive(message);
    }
    return true;
  }

  /** Bytes of the message that is handed over next. */
  waiting(index: number, direction: "up" | "down"): number {
    return this.#sockets.get(index)?.[direction][0]?.length ?? 0;
  }

  /** Lets everything flow until nothing is under way. */
  flow(): void {
    let moved = true;
    while (moved) {
      this.#turns.run();
      moved = false;
      for (const index of [...this.#sockets.keys()]) {
        while (this.deliver(index, "up") || this.deliver(index, "down")) moved = true;
      }
    }
  }

  /** Stores the idle edge's state, forgets the edge, and goes on from the stored state on the same sockets. */
  hibernateEdge(): void {
    this.edge.channels.flush();
    const snapshot = structuredClone(snapshotOf(this.edge));
    this.edge = this.#edge(snapshot);
    for (const socket of this.#sockets.values()) {
      if (socket.edgeEnd !== null) socket.edgeEnd = adoptChannel(this.edge.channels, socket.index, socket.edge);
    }
  }

  #edge(snapshot?: SessionSnapshot): Session {
    return new Session({
      ...this.#common,
      role: "edge",
      ...(snapshot ? { snapshot } : {}),
      handler: {
        onStream: (stream) => this.accepted.push(new StreamLog(stream, true)),
        onCarried: carriedReceiver(() => this.edge),
        onEnd: (error) => {
          this.ended.edge = error;
        },
      },
    });
  }
}

/** @throws Error when the first frame of the message is not HELLO. */
export function helloOf(message: Uint8Array): ChannelFrame & { type: "hello" } {
  const hello = decodeMessage(message).next().value;
  if (hello?.type !== "hello") throw new Error("Cannot resume: the phone's first frame is not HELLO");
  return hello;
}
