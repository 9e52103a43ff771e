/**
 * Workers of pages: the script that goes before their own, on its first line, and their way to the tunnel. A worker cannot
 * reach the slot's service worker, so the page that started it does that in its place.
 */
import { fromBase64 } from "../../shared/base-encodings.ts";
import { MESSAGE_TAG } from "../messages/page-messages.ts";
import type { PageSocketRequest } from "../messages/socket-messages.ts";
import { isTagged } from "../messages/worker-messages.ts";
import { ropewayPath } from "./slot-url.ts";

/** Facts that the script that runs first in a worker is told. */
export interface WorkerConfig {
  /** Serialized real origin. */
  readonly origin: string;
  /** Real URL; "" where the worker's own address says it. */
  readonly base: string;
  /** As of `GovernedSocketRequest`. */
  readonly connect: readonly string[];
}

/** A directive that is no directive behind something else (ECMAScript section 11.2.1). */
const STRICT = /^\ufeff?(?:\s|\/\/[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(["'])use strict\1/;

/** Two scripts as one. @param common the text of `realm-script.ts`. */
export function withCommon(common: string, script: string): string {
  return `{let ropewayCommon;${common.trim()}${script.trim()}}`;
}

/** Globals that the script uses: a module may have a class of such a name, which is not there yet when the script runs. */
const USED =
  "ArrayBuffer,Event,EventTarget,Map,Math,MessageChannel,Number,Object,Promise,Proxy,Reflect,RegExp,Request,Set,String,Symbol,TextDecoder,TextEncoder,URL,Uint8Array,WeakMap,WeakSet,console,decodeURI,self,setTimeout";

/** @param script the text of `worker-script.ts`, with the script that goes before it. */
export function workerPrelude(script: string, config: WorkerConfig): string {
  return `(({${USED}})=>{const ropewayWorker=${JSON.stringify(config)};${script}})(globalThis);`;
}

/** @param start of the script, as much of it as is there. */
export function beforeScript(prelude: string, start: string): string {
  return STRICT.test(start) ? `"use strict";${prelude}` : prelude;
}

/** The address of the same for a script that nobody answers: one in a blob. */
function preludeUrl(slotOrigin: string, config: WorkerConfig): string {
  return JSON.stringify(`${slotOrigin}${ropewayPath.workerScript}?${encodeURIComponent(JSON.stringify(config))}`);
}

/** Globals that the script puts others in place of. */
const REPLACED = ["WebSocket", "WebSocketStream", "Worker", "Request", "fetch", "location"];

/** For a script in a blob. A classic one that is no shared worker's loads it when it first wants one of these. */
export function blobPrelude(
  slotOrigin: string,
  config: WorkerConfig,
  isModule: boolean,
  kind: "Worker" | "SharedWorker",
): string {
  if (isModule) return `import${preludeUrl(slotOrigin, config)};`;
  const load = `importScripts(${preludeUrl(slotOrigin, config)})`;
  if (kind === "SharedWorker") return `try{${load}}catch{}`;
  const restore = `for(const[k,d]of own){own.delete(k);d&&!/^WebS/.test(k)?Object.defineProperty(self,k,d):delete self[k]}`;
  const get = `get(){${restore}try{${load}}catch{}return self[k]}`;
  const set = `set(value){own.delete(k);Object.defineProperty(self,k,{value,writable:true,configurable:true})}`;
  const each = `own.set(k,Object.getOwnPropertyDescriptor(self,k)),Object.defineProperty(self,k,{configurable:true,${get},${set}})`;
  return `{const own=new Map;for(const k of ${JSON.stringify(REPLACED)})if(k in self)${each}}`;
}

/**
 * The script in a `data:` URL (RFC 2397), whatever type it says, or null. Worker scripts are UTF-8 (HTML section 8.1.4.2).
 * No service worker controls a worker that was made from such a URL (Chromium 156).
 */
export function dataScript(url: string): string | null {
  const match = /^\s*data:([^,]*),([^#]*)/i.exec(url);
  if (match === null) return null;
  const [, type = "", data = ""] = match;
  try {
    const text = decodeURIComponent(data);
    if (!/;\s*base64\s*$/i.test(type)) return text;
    return new TextDecoder().decode(fromBase64(text));
  } catch {
    return null;
  }
}

type WorkerToStarter =
  /** A worker wants a socket. The port of that socket comes along. */
  | (PageSocketRequest & { readonly tag: typeof MESSAGE_TAG })
  /** A socket did not open. */
  | { readonly tag: typeof MESSAGE_TAG; readonly type: "unopened" };

/** The first message to a shared worker from each page: carries the port on which it may ask for sockets. */
type PageToShared = { readonly tag: typeof MESSAGE_TAG; readonly type: "sockets" };

/** Sockets that a page has for its workers. */
export interface PageSockets extends SocketServices {
  /** As of `GovernedSocketRequest`, now. */
  readonly connect: () => readonly string[];
}

/** The services of a page for its workers. */
interface SocketServices {
  readonly pass: (request: PageSocketRequest, port: MessagePort) => void;
  /** As of `SocketHost`. */
  readonly onUnopened: () => void;
}

/** Passes on the sockets that a worker asks for. Its page gets to see nothing of that. */
export function serveWorker(worker: object, { pass, onUnopened }: SocketServices): void {
  const take = ({ data, ports: [port] }: MessageEvent<WorkerToStarter>): void => {
    if (data.type === "unopened") onUnopened();
    else if (port !== undefined) pass(data, port);
  };
  if (worker instanceof EventTarget && !("port" in worker))
    worker.addEventListener("message", (event) => {
      const asked = event as MessageEvent<unknown>;
      if (!isTagged(asked.data)) return;
      event.stopImmediatePropagation();
      take(asked as MessageEvent<WorkerToStarter>);
    });
  else if ("port" in worker) {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = take;
    (worker.port as MessagePort).postMessage({ tag: MESSAGE_TAG, type: "sockets" } satisfies PageToShared, [port2]);
  }
}

/** A worker's global; only that of a dedicated one has `postMessage`. */
interface Scope extends EventTarget {
  postMessage?(message: unknown, transfer: Transferable[]): void;
}

/** In a worker: the services of the page that has started it. */
export function askStarter(scope: Scope): SocketServices {
  const send = wayToStarter(scope);
  return {
    pass: (request, port) => send({ tag: MESSAGE_TAG, ...request }, [port]),
    onUnopened: () => send({ tag: MESSAGE_TAG, type: "unopened" }, []),
  };
}

function wayToStarter(scope: Scope): (message: WorkerToStarter, transfer: Transferable[]) => void {
  const post = scope.postMessage?.bind(scope);
  if (post !== undefined) return post;
  const pages = new Set<MessagePort>();
  const waiting: (() => void)[] = [];
  scope.addEventListener("connect", (event) => {
    const [client] = (event as MessageEvent).ports;
    client?.addEventListener("message", (message: MessageEvent<unknown>) => {
      const [page] = message.ports;
      if (!isTagged(message.data) || page === undefined) return;
      message.stopImmediatePropagation();
      pages.add(page);
      page.addEventListener("close", () => pages.delete(page));
      page.start();
      for (const send of waiting.splice(0)) send();
    });
  });
  return function send(message, transfer) {
    const page = [...pages].at(-1);
    if (page === undefined) waiting.push(() => send(message, transfer));
    else page.postMessage(message, transfer);
  };
}
