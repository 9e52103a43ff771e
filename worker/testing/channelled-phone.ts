import type { Attachment } from "../../shared/mux/pipe/channel.ts";
import { CLOSED_NORMALLY } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import type { ConnectionSnapshot } from "../session/served-session.ts";
import type { TunnelServer } from "../session/tunnel-server.ts";
import { PhoneSession } from "./phone-session.ts";
import type { Wire } from "./wired-phone.ts";

/** A phone of several channels, whose sockets are a function call away: messages arrive in a later microtask, in order. */
export class ChannelledPhone extends PhoneSession {
  /** By the number of their channel. */
  readonly wires = new Map<number, Wire>();
  #mine = new Map<number, Attachment>();

  /** A socket for the channel, in place of the one that it had. */
  connect(server: TunnelServer, index: number): Wire {
    const isOpen = (): boolean => this.wires.get(index) === wire;
    const mine: Transport = {
      send: (message) => {
        if (isOpen()) queueMicrotask(() => wire.connection.receive(message));
        return isOpen();
      },
      close: () => {},
    };
    let attachment: Attachment | null = null;
    const transport: Transport = {
      send: (message) => {
        if (isOpen()) queueMicrotask(() => attachment?.receive(message));
        return isOpen();
      },
      close: (code, reason) => {
        wire.closed ??= { code, reason };
      },
    };
    const wire: Wire = { transport, connection: server.connect(transport), closed: null };
    this.wires.set(index, wire);
    this.session.experiment = { channels: Math.max(index + 1, ...this.wires.keys()) };
    attachment = this.session.channels.attach(index, mine);
    this.#mine.set(index, attachment);
    return wire;
  }

  /** The channel's socket, and the edge's end of it, are gone. */
  cut(index: number): void {
    const wire = this.#detach(index);
    wire?.connection.closed();
  }

  /**
   * Ends the channel's socket in the orderly way.
   *
   * @param isConfirmed whether the edge hears that its close has come.
   */
  async retire(index: number, isConfirmed = true): Promise<void> {
    this.session.channels.beginRetirement(index);
    const wire = this.wires.get(index);
    await Promise.resolve();
    wire?.connection.finish();
    await Promise.resolve();
    this.#detach(index);
    this.session.channels.retire(index, wire?.closed?.code === CLOSED_NORMALLY);
    wire?.connection.closed(isConfirmed);
  }

  /** The edge's memory is gone and comes back as `server`; the sockets stay, in this order. */
  restore(
    server: TunnelServer,
    snapshots: ReadonlyMap<Transport, ConnectionSnapshot | null>,
    order = [...this.wires.keys()],
  ): void {
    const wires = order.flatMap((index) => this.wires.get(index) ?? []);
    const sockets = wires.map(
      ({ transport }) => [transport, structuredClone(snapshots.get(transport) ?? null)] as const,
    );
    for (const [position, connection] of server.restore(sockets).entries()) {
      const wire = wires[position];
      if (wire !== undefined) wire.connection = connection;
    }
  }

  #detach(index: number): Wire | undefined {
    const [wire, mine] = [this.wires.get(index), this.#mine.get(index)];
    this.wires.delete(index);
    this.#mine.delete(index);
    mine?.detach();
    return wire;
  }
}
