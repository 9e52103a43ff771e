/** The script that runs first in every worker of a slot's pages: its sockets go by way of the tunnel, its place is the real one. */
import type { CreateSockets } from "../page/web-socket.ts";
import { askStarter, serveWorker, type WorkerConfig } from "../page-workers.ts";
import { replaceSlotOrigin } from "../slot-url.ts";

/** `workerPrelude` puts these around this script. */
declare const ropewayWorker: WorkerConfig;
declare const ropewaySockets: CreateSockets;

interface WorkerRealm extends EventTarget {
  Worker?: typeof Worker;
}

function start(scope: WorkerRealm, { origin, base, connect }: WorkerConfig): void {
  const slot = { slotOrigin: self.location.origin, realOrigin: origin };
  showPlace(origin);
  const { pass, onUnopened } = askStarter(scope);
  const classes = ropewaySockets({
    realm: globalThis,
    real: (url) => replaceSlotOrigin(url, slot),
    base: () => base || location.href,
    origin,
    policies: () => connect,
    open: (request, port) => pass({ type: "socket", ...request }, port),
    onCookies: () => {},
    onUnopened,
  });
  for (const [name, value] of Object.entries(classes))
    Object.defineProperty(scope, name, { value, configurable: true, writable: true });
  const { Worker: native } = scope;
  if (native === undefined) return;
  scope.Worker = new Proxy(native, {
    construct(target, args, newTarget) {
      const worker = Reflect.construct(target, args, newTarget);
      serveWorker(worker, { pass, onUnopened });
      return worker;
    },
  });
}

const PARTS = ["href", "origin", "protocol", "host", "hostname", "port", "pathname", "search", "hash"] as const;

/** A worker's `location` can be replaced, unlike a window's. One in a blob keeps its own. */
function showPlace(origin: string): void {
  const { location: native } = self;
  if (!native.protocol.startsWith("http")) return;
  const place = new URL(native.href.slice(native.origin.length), origin);
  const text = { value: () => place.href, enumerable: true };
  const parts = PARTS.map((part) => [part, { get: () => place[part], enumerable: true }] as const);
  const shown = Object.create(Object.getPrototypeOf(native), { ...Object.fromEntries(parts), toString: text });
  Object.defineProperty(self, "location", { get: () => shown, configurable: true, enumerable: true });
}

start(self as unknown as WorkerRealm, ropewayWorker);
