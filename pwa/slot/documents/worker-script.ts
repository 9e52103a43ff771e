/** The script that runs first in every worker of a slot's pages: the worker's sockets go by way of the tunnel. */
import type { CreateWebSocket } from "../page/web-socket.ts";
import { askStarter, serveWorker, type WorkerConfig } from "../page-workers.ts";

/** `workerPrelude` puts these around this script. */
declare const ropewayWorker: WorkerConfig;
declare const ropewaySockets: CreateWebSocket;

interface WorkerRealm extends EventTarget {
  WebSocket: typeof WebSocket;
  Worker?: typeof Worker;
  WebSocketStream?: unknown;
}

function start(scope: WorkerRealm, { origin, base, connect }: WorkerConfig): void {
  const open = askStarter(scope, connect);
  scope.WebSocket = ropewaySockets({
    realm: globalThis,
    base: () => base || location.href,
    origin,
    open,
    onCookies: () => {},
  });
  delete scope.WebSocketStream;
  const { Worker: native } = scope;
  if (native === undefined) return;
  scope.Worker = new Proxy(native, {
    construct(target, args, newTarget) {
      const worker = Reflect.construct(target, args, newTarget);
      serveWorker(worker, (request, port) => open(request, port));
      return worker;
    },
  });
}

start(self as unknown as WorkerRealm, ropewayWorker);
