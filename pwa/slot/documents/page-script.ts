/**
 * The script that runs first in every document of a slot: it makes the document say who it really is, keeps its
 * cookies, and sees to it that nothing it does goes past the service worker. What it cannot reach, the policy closes.
 */

import { patchRequests } from "../cookies/cookie-order.ts";
import { patchElements } from "../page/elements.ts";
import { helpAutofocus, passKeys } from "../page/focus.ts";
import { patchBlobs } from "../page/frames/blob-documents.ts";
import { askToBeAdopted, ChildWindows, patchChildWindows } from "../page/frames/child-windows.ts";
import { patchMessages } from "../page/frames/messages.ts";
import { patchIdentity } from "../page/identity.ts";
import { patchIdle } from "../page/idle.ts";
import { patchFormCharset } from "../page/links/form-charset.ts";
import { watchNavigations } from "../page/links/navigate.ts";
import { obeyShell, reportDocument } from "../page/links/report.ts";
import { patchOpen, patchTargets } from "../page/links/targets.ts";
import { patchMarkup } from "../page/markup.ts";
import { createPageContext, type Realm } from "../page/page-context.ts";
import { watchReaders } from "../page/pictures/pictures.ts";
import { reportScroll } from "../page/scroll.ts";
import { patchUploads } from "../page/uploads.ts";
import { patchViewport } from "../page/viewport.ts";
import type { CreateWebSocket } from "../page/web-socket.ts";
import { keepWindowName } from "../page/window-name.ts";
import { WorkerClient } from "../page/worker-client.ts";
import type { PageSockets } from "../page/workers.ts";
import { connectSources } from "../policy/content-security-policy.ts";
import { takeFormMark, toReal } from "../slot-url.ts";
import { type PageConfig, takeConfig } from "./page-config.ts";

/** The service worker puts it before this script (`withSockets`). */
declare const ropewaySockets: CreateWebSocket;

function start(config: PageConfig): void {
  const { url, form } = takeFormMark(location.href);
  if (form !== undefined) history.replaceState(history.state, "", url);
  const context = createPageContext(config);
  const { serviceWorker } = navigator;
  const worker = serviceWorker === undefined ? null : new WorkerClient(context, serviceWorker);
  worker?.patchCookie(Document.prototype);
  if (worker !== null) {
    patchRequests(worker);
    patchUploads(worker);
    watchReaders(() => worker.readsPixels());
  }
  const names = patchMessages(context);
  obeyShell(context, {
    port: (port) => worker?.passPort(port),
    origins: (origins, asked) => names.take(origins, asked),
  });
  watchNavigations(context, config.topLevel ? reportDocument(context) : () => {});
  if (config.topLevel) keepWindowName();
  if (config.topLevel) helpAutofocus();
  if (config.topLevel) reportScroll(context);
  passKeys(context);
  const sockets = pageSockets(config, worker);
  patchIdentity(context, sockets);
  const webSocketOf = (realm: Realm) =>
    ropewaySockets({
      realm,
      base: () => toReal(document.baseURI, config),
      origin: config.realOrigin,
      open: (request, port) => sockets.pass({ type: "socket", connect: sockets.connect(), ...request }, port),
      onCookies: (cookies) => worker?.showCookies(cookies),
    });
  const setWebSocket = (realm: Realm) =>
    Object.defineProperty(realm, "WebSocket", { value: webSocketOf(realm), configurable: true, writable: true });
  setWebSocket(window);
  patchIdle(window);
  if (config.topLevel) patchViewport();
  patchTargets(context);
  patchOpen(context);
  patchFormCharset(context);
  patchBlobs();
  patchElements(context);
  patchMarkup(context);
  patchChildWindows(new ChildWindows(context, worker, setWebSocket));
}

/** What the page's sockets, and those of its workers, need. */
function pageSockets({ connect = [] }: PageConfig, worker: WorkerClient | null): PageSockets {
  return {
    pass: (request, port) => worker?.openSocket(request, port),
    connect() {
      const metas = document.querySelectorAll<HTMLMetaElement>('meta[http-equiv="content-security-policy" i]');
      return [...connect, ...connectSources(Array.from(metas, ({ content }) => content))];
    },
  };
}

const config = takeConfig(document.currentScript instanceof HTMLScriptElement ? document.currentScript : null);
// The page is a frame of the shell; whatever is deeper is a frame of the page, even in a top-level slot.
if (config === null) askToBeAdopted();
else start({ ...config, topLevel: config.topLevel && window.parent === window.top });
