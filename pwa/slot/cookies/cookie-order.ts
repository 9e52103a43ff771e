/** Requests of scripts go after the cookies that scripts set before them. */
import { patchMethod } from "../page/patch.ts";
import type { WorkerClient } from "../page/worker-client.ts";

/** The page may go at once, and with it whatever waits. */
function isKeptAlive([input, init]: readonly unknown[]): boolean {
  return (init as RequestInit | undefined)?.keepalive ?? (input instanceof Request && input.keepalive);
}

export function patchRequests(worker: WorkerClient): void {
  patchMethod(window, "fetch", (native, self, args) => {
    const taken = isKeptAlive(args) ? null : worker.cookies.whenTaken();
    return taken === null ? native(self, args) : taken.then(() => native(self, args));
  });
  const waiting = new WeakMap<object, Promise<void>>();
  patchMethod(XMLHttpRequest.prototype, "send", (native, self, args) => {
    const taken = worker.cookies.whenTaken();
    if (taken === null || !(self instanceof XMLHttpRequest) || self.readyState !== XMLHttpRequest.OPENED)
      return native(self, args);
    waiting.set(self, taken);
    void taken.then(() => {
      if (waiting.get(self) !== taken) return;
      waiting.delete(self);
      native(self, args);
    });
    return undefined;
  });
  for (const name of ["open", "abort"])
    patchMethod(XMLHttpRequest.prototype, name, (native, self, args) => {
      waiting.delete(self as object);
      return native(self, args);
    });
}
