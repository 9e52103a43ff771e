/** Tells the shell where the page is, how far it is, and what it is called; does what the shell asks. */

import { type DocumentPhase, MESSAGE_TAG, type ShellToPage } from "../../../messages/page-messages.ts";
import { isTagged } from "../../../messages/worker-messages.ts";
import { ropewayPath } from "../../slot-url.ts";
import type { PageContext } from "../page-context.ts";
import { patchMethod } from "../patch.ts";
import { scrollBack } from "../scroll.ts";
import { historyKey, navigationApi } from "./history-key.ts";
import { likelyLinks } from "./likely-links.ts";

const PHASES: Readonly<Record<DocumentReadyState, DocumentPhase>> = {
  loading: "loading",
  interactive: "interactive",
  complete: "loaded",
};

function iconUrl(): string | null {
  const link = document.querySelector<HTMLLinkElement>("link[rel~=icon i][href]");
  if (link !== null) return link.href;
  return document.contentType === "text/html" ? `${location.origin}/favicon.ico` : null;
}

/** @returns takes back that the page leaves. */
export function reportDocument(context: PageContext): () => void {
  const [timing] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  let last = "";
  const report = (phase: DocumentPhase = PHASES[document.readyState]) => {
    const { title } = document;
    const isError = (timing?.responseStatus ?? 0) >= 400;
    const url = location.href;
    const key = historyKey();
    const { isPosted } = context;
    const message = {
      tag: MESSAGE_TAG,
      type: "document",
      phase,
      url,
      title,
      historyKey: key,
      isError,
      isPosted,
    } as const;
    const icon = phase === "loading" ? null : iconUrl();
    const text = JSON.stringify([message, icon]);
    if (text === last) return;
    last = text;
    context.toShell({ ...message, icon });
  };
  report();
  document.addEventListener("DOMContentLoaded", () => {
    report("interactive");
    // Scripts change the title at any time, by the element or by its text.
    if (document.head !== null)
      new MutationObserver(() => report()).observe(document.head, {
        childList: true,
        subtree: true,
        characterData: true,
      });
  });
  window.addEventListener("load", () => report("loaded"));
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    last = "";
    report("loaded");
  });
  // WebKit says nothing of the first two to the Navigation API either.
  for (const name of ["pushState", "replaceState"])
    patchMethod(History.prototype, name, (native, self, args) => {
      native(self, args);
      report();
    });
  for (const type of ["popstate", "hashchange"]) window.addEventListener(type, () => report());
  navigationApi?.addEventListener("currententrychange", () => report());
  return () => {
    context.toShell({ tag: MESSAGE_TAG, type: "staying" });
    last = "";
    report();
  };
}

export interface ShellRequests {
  readonly port: (port: MessagePort) => void;
  readonly origins: (origins: Readonly<Record<string, string>>, asked: readonly string[]) => void;
}

/** The shell's messages; pages do not get to see them. `origin` is read before pages may change its getter. */
export function obeyShell(context: PageContext, requests: ShellRequests): void {
  const { shellOrigin } = context.config;
  const origin = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "origin")?.get;
  window.addEventListener("message", (event: MessageEvent<unknown>) => {
    if (!isTagged(event.data) || origin?.call(event) !== shellOrigin || event.source !== window.top) return;
    event.stopImmediatePropagation();
    const message = event.data as ShellToPage;
    const [port] = event.ports;
    if (message.type === "port" && port !== undefined) requests.port(port);
    else if (message.type === "origins") requests.origins(message.origins, message.asked);
    else if (message.type === "stop") window.stop();
    else if (message.type === "links-wanted")
      context.toShell({ tag: MESSAGE_TAG, type: "links", urls: likelyLinks(context) });
    else if (message.type === "scroll") scrollBack(message.position);
    else if (message.type === "reload") {
      if (context.isPosted && !message.isConfirmed) context.toShell({ tag: MESSAGE_TAG, type: "reload-sends-form" });
      else {
        if (message.isHard) forgetLoaded();
        location.reload();
      }
    }
  });
}

/** Before pages may put one of their own in its place. */
const { fetch: ask } = window;

/**
 * Chromium keeps in the memory of the page's process what the page has loaded, and asks no service worker for it. It
 * forgets what something else asks for, where the page's policy lets that ask.
 */
function forgetLoaded(): void {
  // Not relative: a page's <base> may lead elsewhere.
  const referrer = location.origin + ropewayPath.forgotten;
  const init = { mode: "no-cors", referrer, referrerPolicy: "unsafe-url" } as const;
  for (const { name } of performance.getEntriesByType("resource")) ask(name, init).catch(() => {});
}
