/** What goes before a worker's own script, on its first line. */
import { ropewayPath } from "../slot-url.ts";

/** What the script that runs first in a worker is told. */
export interface WorkerConfig {
  /** Serialized real origin. */
  readonly origin: string;
  /** Real URL; "" where the worker's own address says it. */
  readonly base: string;
  /** As of `PageSocketRequest`. */
  readonly connect: readonly string[];
}

/** A directive that is no directive behind something else (ECMAScript section 11.2.1). */
const STRICT = /^\ufeff?(?:\s|\/\/[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(["'])use strict\1/;

/** Two scripts as one, of which the first gives the other its sockets. @param sockets that of `sockets-script.ts`. */
export function withSockets(sockets: string, script: string): string {
  return `{let ropewaySockets;${sockets.trim()}${script.trim()}}`;
}

/** @param script that of `worker-script.ts`, with its sockets. */
export function workerPrelude(script: string, config: WorkerConfig): string {
  return `{const ropewayWorker=${JSON.stringify(config)};${script}}`;
}

/** @param start of the script, as much of it as is there. */
export function beforeScript(prelude: string, start: string): string {
  return STRICT.test(start) ? `"use strict";${prelude}` : prelude;
}

/** The address of the same for a script that nobody answers: one in a blob. */
function preludeUrl(slotOrigin: string, config: WorkerConfig): string {
  return JSON.stringify(`${slotOrigin}${ropewayPath.workerScript}?${encodeURIComponent(JSON.stringify(config))}`);
}

/** For a script in a blob. A classic one that is no shared worker's loads it when it first wants a socket. */
export function blobPrelude(
  slotOrigin: string,
  config: WorkerConfig,
  isModule: boolean,
  kind: "Worker" | "SharedWorker",
): string {
  if (isModule) return `import${preludeUrl(slotOrigin, config)};`;
  const load = `importScripts(${preludeUrl(slotOrigin, config)})`;
  if (kind === "SharedWorker") return `try{${load}}catch{}`;
  const get = `get(){delete self.WebSocket;try{${load}}catch{}return self.WebSocket}`;
  const set = `set(value){Object.defineProperty(self,"WebSocket",{value,writable:true,configurable:true})}`;
  return `Object.defineProperty(self,"WebSocket",{configurable:true,${get},${set}});`;
}
