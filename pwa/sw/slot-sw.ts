/**
 * A slot's service worker, as each slot's host has it: a line that brings the worker proper from the shell's host.
 * Slots and shell are one site, so the browser's HTTP cache has it from the second slot on; a script of the slot's own
 * would cross the link for each new site.
 */
import { shellOriginOf } from "../slot/slot-url.ts";
import type { ToldHosts } from "./slot-exchange.ts";

declare const self: ServiceWorkerGlobalScope &
  ToldHosts & {
    /** Put in by the build: the file's path, which changes with what is in it. */
    readonly __SLOT_WORKER: string;
  };

self.ropewayWorker = self.__SLOT_WORKER;
try {
  self.importScripts((self.ropewayShell ?? shellOriginOf(self.location.origin)) + self.__SLOT_WORKER);
} catch {
  // Where hosts are deployed one after the other, the shell is of another release meanwhile. The worker's own never is.
  self.importScripts(self.__SLOT_WORKER);
}
