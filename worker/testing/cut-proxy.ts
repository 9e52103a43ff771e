/** A TCP proxy between phones and an edge that treats connections as a bad link does. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Random } from "../../shared/testing/random.ts";

/** What may happen to all connections of the moment. */
export type Cut =
  /** Both ends are told. */
  | "reset"
  /** Both ends are told, politely. */
  | "end"
  /** Nothing passes any more, and nobody is told. */
  | "half-open"
  /** The edge is told, the phone is not. */
  | "edge-only"
  /** Nothing passes for a while, then everything does. */
  | "stall";

/** Bytes on their way in one direction of one connection. */
const BUFFER = 256 * 1024;

interface Pair {
  readonly phone: Socket;
  readonly edge: Socket;
  isSilent: boolean;
  stalledUntil: number;
}

export interface CutProxy {
  readonly port: number;
  /** Where new connections go. */
  edgePort: number;
  /** New connections are refused; those of the moment stay. */
  isDown: boolean;
  /**
   * @param most connections that it may hit, chosen at random; all by default.
   * @returns how many it hit.
   */
  cut(kind: Cut, stall?: number, most?: number): number;
  close(): Promise<void>;
}

/** @param maxDelay milliseconds that a piece takes at most in each direction; order is kept. */
export async function startCutProxy(edgePort: number, random: Random, maxDelay: number): Promise<CutProxy> {
  const pairs = new Set<Pair>();
  const server = createServer((phone) => {
    phone.on("error", () => {});
    if (proxy.isDown) return void phone.resetAndDestroy();
    const edge = connect({ host: "127.0.0.1", port: proxy.edgePort });
    edge.on("error", () => {});
    const pair: Pair = { phone, edge, isSilent: false, stalledUntil: 0 };
    pairs.add(pair);
    carry(pair, phone, edge);
    carry(pair, edge, phone);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: CutProxy = {
    port: (server.address() as AddressInfo).port,
    edgePort,
    isDown: false,
    cut(kind, stall = 0, most = Number.POSITIVE_INFINITY) {
      const hit = [...pairs].filter(({ isSilent }) => !isSilent);
      while (hit.length > most) hit.splice(random.below(hit.length), 1);
      for (const pair of hit) {
        if (kind === "stall") pair.stalledUntil = performance.now() + stall;
        else pair.isSilent = true;
        if (kind === "reset") for (const socket of [pair.phone, pair.edge]) socket.resetAndDestroy();
        if (kind === "end") for (const socket of [pair.phone, pair.edge]) socket.destroy();
        if (kind === "edge-only") pair.edge.resetAndDestroy();
      }
      return hit.length;
    },
    async close() {
      for (const { phone, edge } of pairs) for (const socket of [phone, edge]) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return proxy;

  /** Pieces wait in a queue, so that a stall keeps their order. */
  function carry(pair: Pair, from: Socket, to: Socket): void {
    const queue: { readonly piece: Buffer; readonly due: number }[] = [];
    let waiting = 0;
    let isScheduled = false;
    const schedule = (delay: number): void => {
      if (isScheduled) return;
      isScheduled = true;
      setTimeout(run, delay);
    };
    const run = (): void => {
      isScheduled = false;
      for (let next = queue[0]; next !== undefined && !pair.isSilent; next = queue[0]) {
        const rest = Math.max(next.due, pair.stalledUntil) - performance.now();
        if (rest > 0) {
          schedule(rest);
          return;
        }
        queue.shift();
        waiting -= next.piece.length;
        if (to.writable) to.write(next.piece);
      }
      if (waiting <= BUFFER && !from.destroyed) from.resume();
      if (from.destroyed && !pair.isSilent) to.end();
    };
    from.setNoDelay(true);
    from.on("data", (piece) => {
      if (pair.isSilent) return;
      const before = queue.at(-1)?.due ?? 0;
      queue.push({ piece, due: Math.max(before, performance.now() + random.below(maxDelay + 1)) });
      waiting += piece.length;
      if (waiting > BUFFER) from.pause();
      schedule(0);
    });
    from.on("close", () => {
      if (pair.phone.destroyed && pair.edge.destroyed) pairs.delete(pair);
      else if (!pair.isSilent) schedule(0);
    });
  }
}
