import { ropewayPath } from "../slot-url.ts";
import { registerPersistently } from "./persistent-registration.ts";
import { workerContainer } from "./worker-container.ts";

/** Registers the slot's service worker, if need be. @returns the one that answers fetches. */
export async function slotWorkerHere(): Promise<() => ServiceWorker> {
  // The cache may answer for a while after the last look: looking costs a connection of this host's own.
  const options: RegistrationOptions = { scope: "/", updateViaCache: "all" };
  const container = workerContainer();
  const registration = await registerPersistently(
    () => container.register(ropewayPath.serviceWorker, options),
    (time) => new Promise((resolve) => setTimeout(resolve, time)),
  );
  const worker = await activeWorker(registration);
  return () => registration.active ?? worker;
}

/** Resolves when this registration's worker answers fetches. */
async function activeWorker(registration: ServiceWorkerRegistration): Promise<ServiceWorker> {
  if (registration.active !== null) return registration.active;
  const worker = registration.installing ?? registration.waiting;
  return new Promise((resolve, reject) => {
    worker?.addEventListener("statechange", () => {
      if (worker.state === "activated") resolve(worker);
      else if (worker.state === "redundant") reject(new Error("Cannot boot slot: its service worker was discarded"));
    });
  });
}
