import type { Transport } from "../../shared/transport.ts";
import type { ConnectionSnapshot } from "../session/served-session.ts";
import type { Connection, TunnelServer } from "../session/tunnel-server.ts";
import { PhoneSession } from "./phone-session.ts";

/** What a test knows of the edge's end of a socket. */
export interface Wire {
  /** The edge's. */
  readonly transport: Transport;
  connection: Connection;
  /** How the edge closed it, once it did. */
  closed: { readonly code: number; readonly reason: string } | null;
}

/** A phone whose socket is a function call away: messages arrive in a later microtask, in order. */
export class WiredPhone extends PhoneSession {
  wire: Wire | null = null;
  /** What the edge sends is lost. */
  isDeaf = false;
  #mine: Transport | null = null;

  connect(server: TunnelServer): Wire {
    const mine: Transport = {
      send: (message) => {
        if (this.wire !== wire) return false;
        queueMicrotask(() => wire.connection.receive(message));
        return true;
      },
      close: () => {},
    };
    const transport: Transport = {
      send: (message) => {
        if (this.wire !== wire) return false;
        if (!this.isDeaf) queueMicrotask(() => this.session.channel.receive(message, mine));
        return true;
      },
      close: (code, reason) => {
        wire.closed ??= { code, reason };
      },
    };
    const wire: Wire = { transport, connection: server.connect(transport), closed: null };
    this.wire = wire;
    this.#mine = mine;
    this.session.channel.attach(mine);
    return wire;
  }

  /** The edge's memory is gone and comes back as `server`; the socket stays. */
  restore(server: TunnelServer, snapshot: ConnectionSnapshot | null): void {
    if (this.wire === null) return;
    const [connection] = server.restore([[this.wire.transport, structuredClone(snapshot)]]);
    if (connection !== undefined) this.wire.connection = connection;
  }

  /** @param noticedBy whether the edge learns of it. */
  cut(noticedBy: "both" | "phone" = "both"): void {
    const { wire } = this;
    this.wire = null;
    if (this.#mine !== null) this.session.channel.detach(this.#mine);
    if (noticedBy === "both") wire?.connection.closed();
  }
}
