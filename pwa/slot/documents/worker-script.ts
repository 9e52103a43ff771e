/** The script that runs first in every worker of a slot's pages: its sockets go by way of the tunnel, its place is the real one. */
import { parseUrl } from "../../../shared/web/origin.ts";
import { READ_HOOK } from "../../../shared/web/read-marks.ts";
import { askStarter, serveWorker, type WorkerConfig } from "../page-workers.ts";
import type { Common } from "./realm-script.ts";

/** `workerPrelude` puts these around this script. */
declare const ropewayWorker: WorkerConfig;
declare const ropewayCommon: Common;

interface WorkerRealm extends EventTarget {
  Worker?: typeof Worker;
}

function start(scope: WorkerRealm, { origin, base, connect }: WorkerConfig): void {
  const { location: place } = self;
  const slot = { slotOrigin: place.origin, realOrigin: origin };
  const own = ropewayCommon.ownOrigin(slot, (text) => parseUrl(text, place.href)?.href);
  showPlace(place, origin);
  Object.defineProperty(scope, READ_HOOK, { value: own.real, writable: true });
  own.patchRequests(scope);
  const { pass, onUnopened } = askStarter(scope);
  const classes = ropewayCommon.createSockets({
    realm: globalThis,
    real: own.toReal,
    base: () => base || self.location.href,
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
    construct(target, [url, ...rest], newTarget) {
      const worker = Reflect.construct(target, [own.onSlot(url), ...rest], newTarget);
      serveWorker(worker, { pass, onUnopened });
      return worker;
    },
  });
}

const PARTS = ["href", "origin", "protocol", "host", "hostname", "port", "pathname", "search", "hash"] as const;

/** A worker's `location` can be replaced, unlike a window's. */
function showPlace(native: Location, origin: string): void {
  const place = new URL(native.href.replace(native.origin, origin));
  const text = { value: () => place.href, enumerable: true };
  const parts = PARTS.map((part) => [part, { get: () => place[part], enumerable: true }] as const);
  const shown = Object.create(Object.getPrototypeOf(native), { ...Object.fromEntries(parts), toString: text });
  Object.defineProperty(self, "location", { get: () => shown, configurable: true, enumerable: true });
}

// Each module of a worker has this script before it.
if (!Reflect.get(self, READ_HOOK)) start(self as unknown as WorkerRealm, ropewayWorker);
