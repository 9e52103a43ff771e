import type { Channel } from "../../mux/pipe/channel.ts";
import type { Transport } from "../../transport.ts";
import { decodeMessage } from "../../wire/frame.ts";

/** One socket's life: both ends' transports and what is under way between them. */
interface Connection {
  readonly phone: Transport;
  readonly edge: Transport;
  readonly up: Uint8Array[];
  readonly down: Uint8Array[];
  open: boolean;
  /** The edge has seen the HELLO of this socket. */
  greeted: boolean;
}

export interface MemoryLinkOptions {
  readonly phone: Channel;
  readonly edge: Channel;
  /** Calls back for each message sent; given `queueMicrotask`, messages flow by themselves. */
  readonly schedule?: (deliver: () => void) => void;
}

/**
 * Phone and edge with a link between them that a test delivers message by message, and cuts with whatever is under way.
 * Plays the part of the servers' entry code: a socket's first message resumes the edge's channel.
 */
export class MemoryLink {
  readonly phone: Channel;
  /** Replaced when a test lets the edge hibernate. */
  edge: Channel;
  readonly bytes = { up: 0, down: 0 };
  #schedule: ((deliver: () => void) => void) | null;
  #connection: Connection | null = null;

  constructor(options: MemoryLinkOptions) {
    this.phone = options.phone;
    this.edge = options.edge;
    this.#schedule = options.schedule ?? null;
  }

  get connected(): boolean {
    return this.#connection !== null;
  }

  /** Messages under way. */
  get inFlight(): { up: number; down: number } {
    return { up: this.#connection?.up.length ?? 0, down: this.#connection?.down.length ?? 0 };
  }

  /** A new socket; one that is open is lost first. */
  connect(): void {
    this.cut();
    const up: Uint8Array[] = [];
    const down: Uint8Array[] = [];
    const connection: Connection = {
      up,
      down,
      phone: this.#end(up, () => this.#deliver(connection, "up")),
      edge: this.#end(down, () => this.#deliver(connection, "down")),
      open: true,
      greeted: false,
    };
    this.#connection = connection;
    this.phone.attach(connection.phone);
  }

  /**
   * The socket is gone with all that is under way.
   *
   * @param noticedBy ends that learn of it now; an edge that does not learns of it by the next HELLO.
   */
  cut(noticedBy: "both" | "phone" = "both"): void {
    const connection = this.#connection;
    if (connection === null) return;
    this.#connection = null;
    connection.open = false;
    connection.up.length = 0;
    connection.down.length = 0;
    this.phone.detach(connection.phone);
    if (noticedBy === "both") this.edge.detach(connection.edge);
  }

  /** Hands over one message, if any is under way. */
  deliver(direction: "up" | "down"): boolean {
    return this.#connection !== null && this.#deliver(this.#connection, direction);
  }

  /** Lets the edge go on as another object on the same socket, as after hibernation. */
  adopt(edge: Channel): void {
    this.edge = edge;
    if (this.#connection !== null) edge.adopt(this.#connection.edge);
  }

  #deliver(connection: Connection, direction: "up" | "down"): boolean {
    const message = connection[direction].shift();
    if (message === undefined) return false;
    this.bytes[direction] += message.length;
    if (direction === "down") {
      this.phone.receive(message, connection.phone);
      return true;
    }
    if (!connection.greeted) {
      connection.greeted = true;
      const hello = decodeMessage(message).next().value;
      if (hello?.type !== "hello") throw new Error("Cannot resume: the phone's first frame is not HELLO");
      this.edge.resume(connection.edge, hello);
    }
    this.edge.receive(message, connection.edge);
    return true;
  }

  #end(queue: Uint8Array[], deliver: () => void): Transport {
    const isOpen = (): boolean =>
      this.#connection?.open === true && [this.#connection.up, this.#connection.down].includes(queue);
    return {
      send: (message) => {
        if (!isOpen()) return false;
        queue.push(message);
        this.#schedule?.(deliver);
        return true;
      },
      // What was sent before is still delivered, as by a WebSocket.
      close: () => {},
    };
  }
}
