import { type AddressInfo, createConnection, createServer, type Server, type Socket } from "node:net";
import { LinkDirection } from "./link-direction.ts";
import { type WatchedRequest, watchRequests } from "./request-watch.ts";

export type { WatchedRequest } from "./request-watch.ts";

export interface ShaperOptions {
  /** Where the browser connects. Port 0 takes a free one. Both loopback addresses, as `localhost` means either. */
  readonly listen: { readonly port: number; readonly hosts?: readonly string[] };
  /** Where the edge listens. */
  readonly target: { readonly host: string; readonly port: number };
  /** Milliseconds one way; a round trip takes twice that. */
  readonly delay?: number;
  /** Kilobits per second towards the browser. */
  readonly downKbit?: number;
  /** Kilobits per second towards the edge. */
  readonly upKbit?: number;
  /** Bytes a connection may have waiting in each direction, beyond what fills the link. */
  readonly buffer?: number;
}

export interface Shaper {
  readonly port: number;
  /** Bytes that arrived at the edge. */
  readonly bytesUp: number;
  /** Bytes that arrived at the browser. */
  readonly bytesDown: number;
  /** Connections that browsers opened so far. */
  readonly connections: number;
  readonly openConnections: number;
  /** Requests in the order seen, WebSocket upgrades among them. */
  readonly requests: readonly WatchedRequest[];
  readonly webSockets: number;
  /** Kills every connection and drops what is under way, as a lost radio link does in the end. */
  cut(): void;
  /** What is connected now gets nothing through any more and is told nothing, as with an address that was left. */
  strand(): void;
  /** Nothing moves until `resume`; connections stay. */
  pause(): void;
  resume(): void;
  /** Cuts, and refuses new connections until `online`. */
  offline(): void;
  online(): void;
  close(): Promise<void>;
}

const BUFFER = 64 * 1024;

/**
 * Starts a TCP proxy that stands for a slow, far link. All connections share the link.
 *
 * A new connection costs one round trip before its first byte moves, as TCP's handshake would. No loss: TCP in user
 * space cannot show it.
 */
export async function startShaper(options: ShaperOptions): Promise<Shaper> {
  const delay = options.delay ?? 0;
  const up = new LinkDirection(delay, options.upKbit ?? Number.POSITIVE_INFINITY);
  const down = new LinkDirection(delay, options.downKbit ?? Number.POSITIVE_INFINITY);
  const open = new Set<Socket>();
  const stranded = new WeakSet<Socket>();
  const requests: WatchedRequest[] = [];
  let connections = 0;
  let refusing = false;

  const servers: Server[] = [];
  let port = options.listen.port;
  const hosts = options.listen.hosts ?? ["127.0.0.1", "::1"];
  for (const [index, host] of hosts.entries()) {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, accept);
    const failure = await listen(server, host, port);
    if (failure && (index === 0 || failure.code !== "EADDRNOTAVAIL")) throw failure;
    if (failure) continue;
    port = (server.address() as AddressInfo).port;
    servers.push(server);
  }

  const cut = (): void => {
    up.clear();
    down.clear();
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    port,
    get bytesUp() {
      return up.delivered;
    },
    get bytesDown() {
      return down.delivered;
    },
    get connections() {
      return connections;
    },
    get openConnections() {
      return Math.ceil(open.size / 2);
    },
    requests,
    get webSockets() {
      return requests.filter(({ webSocket }) => webSocket).length;
    },
    cut,
    strand: () => {
      for (const socket of open) {
        stranded.add(socket);
        socket.pause();
      }
    },
    pause: () => {
      up.pause();
      down.pause();
    },
    resume: () => {
      up.resume();
      down.resume();
    },
    offline: () => {
      refusing = true;
      cut();
    },
    online: () => {
      refusing = false;
    },
    close: async () => {
      cut();
      await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
    },
  };

  function accept(browser: Socket): void {
    browser.on("error", () => {});
    if (refusing) {
      browser.resetAndDestroy();
      return;
    }
    connections++;
    const edge = createConnection({ ...options.target, allowHalfOpen: true });
    edge.on("error", () => {});
    for (const socket of [browser, edge]) {
      open.add(socket);
      socket.setNoDelay(true);
    }
    breakWith(browser, edge);
    breakWith(edge, browser);
    browser.on(
      "data",
      watchRequests((request) => requests.push(request)),
    );
    carry(browser, edge, up, performance.now() + 2 * delay);
    carry(edge, browser, down, 0);
  }

  /** When one side goes without having said its end, the other is reset; an end travels as data does. */
  function breakWith(gone: Socket, other: Socket): void {
    let ended = false;
    gone.on("end", () => {
      ended = true;
    });
    gone.on("close", () => {
      open.delete(gone);
      if (!ended) other.resetAndDestroy();
    });
  }

  /** Stops reading while more than the buffer is on the way, so neither side can fill this process. */
  function carry(from: Socket, to: Socket, direction: LinkDirection, notBefore: number): void {
    const limit = (options.buffer ?? BUFFER) + direction.bytesInFlight;
    let waiting = 0;
    from.on("data", (data: Buffer) => {
      waiting += data.length;
      if (waiting >= limit) from.pause();
      direction.send(
        data,
        (piece) => {
          if (to.destroyed || stranded.has(to)) return;
          to.write(piece, () => {
            waiting -= piece.length;
            if (waiting < limit && !from.destroyed && !stranded.has(from)) from.resume();
          });
        },
        notBefore,
      );
    });
    from.on("end", () => direction.sendEnd(() => stranded.has(to) || to.end()));
    from.resume();
  }
}

function listen(server: Server, host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    server.once("error", resolve);
    server.listen(port, host, () => resolve(undefined));
  });
}
