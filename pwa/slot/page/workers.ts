/**
 * Workers of pages. A worker cannot reach the slot's service worker, so whoever started it does that in its place: it gets
 * what the worker asks for, and passes it on.
 */
import { MESSAGE_TAG } from "../../messages/page-messages.ts";
import type { PageSocketRequest, SocketRequest } from "../../messages/socket-messages.ts";
import { isTagged } from "../../messages/worker-messages.ts";

/** A worker wants a socket. It goes with the port. */
export type WorkerToStarter = PageSocketRequest & { readonly tag: typeof MESSAGE_TAG };

/** The first message to a shared worker from each page: carries the port on which it may ask for sockets. */
type PageToShared = { readonly tag: typeof MESSAGE_TAG; readonly type: "sockets" };

/** What a page has for its workers. */
export interface PageSockets {
  readonly pass: PassSocket;
  /** As of `PageSocketRequest`, now. */
  readonly connect: () => readonly string[];
}

type PassSocket = (request: PageSocketRequest, port: MessagePort) => void;

/** Passes on what the worker asks for. Its page gets to see nothing of that. */
export function serveWorker(worker: object, pass: PassSocket): void {
  const take = ({ data, ports: [port] }: MessageEvent<WorkerToStarter>): void => {
    if (port !== undefined) pass(data, port);
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

/** In a worker: leads ports to whoever has started it. */
export function askStarter(
  scope: Scope,
  connect: readonly string[],
): (request: SocketRequest, port: MessagePort) => void {
  const post = scope.postMessage?.bind(scope);
  const ask = (request: SocketRequest): WorkerToStarter => ({ tag: MESSAGE_TAG, type: "socket", connect, ...request });
  if (post !== undefined) return (request, port) => post(ask(request), [port]);
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
  return function send(request, port) {
    const page = [...pages].at(-1);
    if (page === undefined) waiting.push(() => send(request, port));
    else page.postMessage(ask(request), [port]);
  };
}
