/**
 * The script that runs first in every document of a slot: it makes the document say who it really is, keeps its
 * cookies, and lets none of its requests go past the service worker. The policy closes the ways that the script cannot reach.
 */

import { patchBlobs } from "../page/blob-documents.ts";
import { askToBeAdopted, ChildWindows } from "../page/child-windows.ts";
import { patchElements } from "../page/elements.ts";
import { patchAskers, patchIdentity } from "../page/identity.ts";
import { actAsTab } from "../page/like-a-tab.ts";
import { patchMessages } from "../page/messages.ts";
import { resolved } from "../page/navigation-rules.ts";
import { watchNavigations } from "../page/navigations.ts";
import { OpenedWindows } from "../page/opened-windows.ts";
import { createPageContext, type PageContext, type Realm } from "../page/page-context.ts";
import { keepListeners } from "../page/patch.ts";
import { watchReaders } from "../page/pictures.ts";
import { answerReads } from "../page/reads.ts";
import { obeyShell, passKeys, reportDocument, watchTroubles } from "../page/report.ts";
import { patchUploads, WorkerClient } from "../page/worker-client.ts";
import type { PageSockets } from "../page-workers.ts";
import { POLICIES_ASKED } from "../policy.ts";
import { takeFormMark, toReal } from "../slot-url.ts";
import { type PageConfig, takeConfig } from "./page-config.ts";
import type { Common } from "./realm-script.ts";

/** The service worker puts it before this script (`withCommon`). */
declare const ropewayCommon: Common;

function start(config: PageConfig): void {
  const listening = keepListeners();
  const { url, form } = takeFormMark(location.href);
  if (form !== undefined) history.replaceState(history.state, "", url);
  const context = createPageContext(config);
  const { serviceWorker } = navigator;
  const worker = serviceWorker === undefined ? null : new WorkerClient(context, serviceWorker);
  if (worker !== null) {
    worker.cookies.patchWindow();
    patchUploads(worker, () => context.tell("sync"));
    watchReaders(() => worker.readsPixels());
  }
  const messages = patchMessages(context);
  const opened = new OpenedWindows(context);
  obeyShell(context, {
    window: (news, ports) => opened.hear(news, ports),
    port: (port) => worker?.passPort(port),
    giveScript: (script, name) => worker?.passScript(script, name),
    origins: (origins, asked) => messages.names.take(origins, asked),
  });
  watchNavigations(context, opened, config.topLevel ? reportDocument(context) : () => {});
  actAsTab(context);
  if (config.topLevel || config.viewed === PDF) document.addEventListener("DOMContentLoaded", () => showView(context));
  passKeys(context);
  watchTroubles(context);
  const sockets = pageSockets(context, worker);
  const own = ropewayCommon.ownOrigin(config, (text) => resolved(text, document));
  patchIdentity(context, own, sockets);
  answerReads(context, own, messages, opened);
  const setSockets = (realm: Realm) => {
    const classes = ropewayCommon.createSockets({
      realm,
      real: own.toReal,
      base: () => toReal(document.baseURI, config),
      origin: config.realOrigin,
      policies: sockets.connect,
      open: (request, port) => sockets.pass({ type: "socket", ...request }, port),
      onCookies: (cookies) => worker?.cookies.show(cookies),
      onUnopened: sockets.onUnopened,
    });
    for (const [name, value] of Object.entries(classes))
      Object.defineProperty(realm, name, { value, configurable: true, writable: true });
  };
  setSockets(window);
  patchBlobs();
  patchElements(context);
  const { patchFrames } = messages;
  const shared = {
    setSockets,
    patchFrames,
    patchAskers: (child: Realm) => patchAskers(child, config, own, sockets),
  };
  new ChildWindows(context, worker, shared).watchFrames(window);
  listening();
}

/** The browser's own viewer is not there for it, in frames neither. */
const PDF = "application/pdf";
/** Documents of these types are shown as people read them, but in frames. */
const VIEWED = /[/+](?:json|pdf)$|\/(?:(?:rss|atom)\+)?xml$|^image\/(?!svg)/;
/** Text in which a server sends RSS or Atom; Chromium itself calls some XML text. */
const FEED = /^\s*<(?:\?xml|rss|feed|rdf)/i;

function showView(context: PageContext): void {
  const text = document.contentType === "text/plain" ? document.querySelector("pre")?.firstChild?.nodeValue : "";
  if (!VIEWED.test(document.contentType) && !FEED.test(text ?? "")) return;
  const view = context.late<typeof import("../view/view.ts")>("view");
  void view.then(async ({ show }) => {
    context.view = await show(context.realUrl());
  });
}

/** Sockets of the page and of its workers. Answers placeholders of frames by the same policies. */
function pageSockets({ config, policies, tell }: PageContext, worker: WorkerClient | null): PageSockets {
  addEventListener(POLICIES_ASKED, (event) => {
    const held = policies();
    if (held.length === 0) return;
    event.preventDefault();
    (event as CustomEvent<string[]>).detail.push(config.realOrigin, ...held);
  });
  return {
    onUnopened: () => tell("socket"),
    pass(request, port) {
      const { port1, port2 } = new MessageChannel();
      addEventListener("pagehide", () => port1.postMessage(0));
      worker?.openSocket(request, [port, port2]);
    },
    connect: policies,
  };
}

const config = takeConfig(document.currentScript instanceof HTMLScriptElement ? document.currentScript : null);
// The page is a frame of the shell; deeper frames are frames of the page, even in a top-level slot.
if (config === null) askToBeAdopted();
else start({ ...config, topLevel: config.topLevel && window.parent === window.top });
