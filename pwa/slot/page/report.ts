/** The page's conversation with the shell: where the page is, how far, its name, keys; and what the shell asks of it. */
import {
  type DocumentPhase,
  type FindOrder,
  MESSAGE_TAG,
  type ScrollPosition,
  type ShellToPage,
  type WindowNews,
} from "../../messages/page-messages.ts";
import { type AppScript, isTagged } from "../../messages/worker-messages.ts";
import { POLICY_START } from "../policy.ts";
import { isShortcut } from "../shortcuts.ts";
import { ropewayPath } from "../slot-url.ts";
import { navigationGoal } from "./navigation-rules.ts";
import type { PageContext } from "./page-context.ts";
import { patchAccessor, patchMethod } from "./patch.ts";
import { fillIn, typedFields, watchFields } from "./typed-fields.ts";

const PHASES: Readonly<Record<DocumentReadyState, DocumentPhase>> = {
  loading: "loading",
  interactive: "interactive",
  complete: "loaded",
};

/** Characters. The app shows no longer title, and no icon that has so many in its address. */
const LONGEST = 1e5;

function iconUrl(): string | null {
  const link = document.querySelector<HTMLLinkElement>("link[rel~=icon i][href]");
  if (link !== null) return link.href.slice(0, LONGEST);
  return document.documentElement instanceof HTMLElement ? `${location.origin}/favicon.ico` : null;
}

/** Pictures of a page that are looked at; pixels of the smallest that counts: smaller ones are signs and buttons. */
const [MOST_PICTURES, LEAST_AREA] = [200, 3_600];

/** The picture that takes most room on the page. The list of tabs shows it. */
function largestPicture(): string | null {
  let [found, most]: [string | null, number] = [null, LEAST_AREA];
  for (const { complete, naturalWidth, width, height, currentSrc } of [...document.querySelectorAll("img")].slice(
    0,
    MOST_PICTURES,
  )) {
    const area = width * height;
    if (complete && naturalWidth > 0 && area > most && /^http.{1,9999}$/.test(currentSrc))
      [found, most] = [currentSrc, area];
  }
  return found;
}

/** Looks for that picture a while after an address is new: pages may show it later. @returns gives the one of an address. */
function pictures(onLook: () => void): (url: string | null) => string | null {
  let [seen, picture, timer]: [string | null, string | null, number] = [null, null, 0];
  return (url) => {
    if (url === null || url === seen) return picture;
    [seen, picture] = [url, null];
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      picture = largestPicture();
      onLook();
    }, LOOK_AGAIN);
    return picture;
  };
}

/** For a page that is in no frame of another. @returns takes back that the page leaves. */
export function reportDocument(context: PageContext): () => void {
  const [timing] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  let last = "";
  const pictureAt = pictures(() => report());
  const report = (phase: DocumentPhase = PHASES[document.readyState]) => {
    const title = (document.title || (context.config.title ?? "")).slice(0, LONGEST);
    const isError = (timing?.responseStatus ?? 0) >= 400;
    const url = location.href;
    const key = context.historyKey();
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
    const picture = pictureAt(phase === "loaded" ? url : null);
    const text = JSON.stringify([message, icon, picture]);
    if (text === last) return;
    last = text;
    context.toShell({ ...message, icon, picture });
  };
  report();
  reportScroll(context);
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
  context.navigation?.addEventListener("currententrychange", () => report());
  return () => {
    context.toShell({ tag: MESSAGE_TAG, type: "staying" });
    last = "";
    report();
  };
}

/** Milliseconds between two reports. */
const PAUSE = 300;

/** Events with which a person begins to scroll. */
const HANDS = ["wheel", "touchstart", "pointerdown", "keydown"] as const;

/** Tells how far down the document is, and what the person has typed into it. */
function reportScroll(context: PageContext): void {
  let timer = 0;
  const report = () => {
    clearTimeout(timer);
    timer = 0;
    const position = { x: Math.round(window.scrollX), y: Math.round(window.scrollY) };
    const historyKey = context.historyKey();
    context.toShell({ tag: MESSAGE_TAG, type: "scrolled", historyKey, position, fields: typedFields() });
  };
  const reportSoon = () => {
    if (timer === 0) timer = window.setTimeout(report, PAUSE);
  };
  window.addEventListener("scroll", reportSoon);
  watchFields(reportSoon);
  // This may be the last event that runs.
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden" && (timer !== 0 || typedFields() !== undefined)) report();
  });
}

/** The shell's keys, which only the page sees while it has the focus. Last, so that the page's own use of them holds. */
export function passKeys(context: PageContext): void {
  window.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey, isTrusted, defaultPrevented } = event;
    const press = { key, ctrlKey, metaKey, altKey, shiftKey };
    if (!isTrusted || defaultPrevented || !isShortcut(press, /Mac|iPhone|iPad/.test(navigator.platform))) return;
    // Escape closes what the page has open, too.
    if (key !== "Escape") event.preventDefault();
    if (/f/i.test(key)) context.searchedFrom = document.activeElement;
    context.toShell({ tag: MESSAGE_TAG, type: "key", press });
  });
}

/** Milliseconds after its load: a page that is not to be seen by then may wait for what it does not get here. */
const SEEN_WITHIN = 3_000;
/** Milliseconds from one look to the next, and before the first at the pictures of an address. */
const LOOK_AGAIN = 1_000;

/** Tells the shell where the page does not work as in a browser of its own, as far as a script can see that. */
export function watchTroubles(context: PageContext): void {
  const { tell, config } = context;
  document.addEventListener("securitypolicyviolation", ({ originalPolicy, effectiveDirective }) => {
    // The policy of Ropeway, not the page's own.
    if (!originalPolicy.startsWith(POLICY_START)) return;
    if (/^(?:frame|object)-src/.test(effectiveDirective)) tell("frame");
    else if (effectiveDirective === "form-action") tell("form");
  });
  // The event does not bubble.
  document.addEventListener("error", ({ target }) => isList(target) && tell("film"), true);
  if (!config.topLevel) return;
  let isTold = false;
  const look = (): void => {
    if (isInvisible() !== isTold) {
      tell("hidden", isTold);
      isTold = !isTold;
    }
    if (isTold) setTimeout(look, LOOK_AGAIN);
  };
  window.addEventListener("load", () => setTimeout(look, SEEN_WITHIN));
}

/** Whether a film, or a source of one, is a list of parts. */
function isList(target: EventTarget | null): boolean {
  const source = target instanceof HTMLMediaElement ? target.currentSrc || target.src : "";
  return /\.m3u8?(?:[?#]|$)/i.test(target instanceof HTMLSourceElement ? target.src : source);
}

/** Whether the page has something to show, and shows nothing: as those do that show themselves where `self === top`. */
function isInvisible(): boolean {
  const { body } = document;
  if (!(body instanceof HTMLBodyElement) || body.childElementCount === 0) return false;
  if (!body.checkVisibility({ opacityProperty: true })) return true;
  // biome-ignore lint/performance/useDomNodeTextContent: what is in it may be visible all the same.
  return getComputedStyle(body).visibility === "hidden" && body.innerText.trim() === "";
}

interface ShellRequests {
  readonly window: (news: WindowNews, ports: readonly MessagePort[]) => void;
  readonly port: (port: MessagePort) => void;
  /** As of "find-script". */
  readonly giveScript: (script: string, name: AppScript) => void;
  readonly origins: (origins: Readonly<Record<string, string>>, asked: readonly string[]) => void;
}

/** Before pages may put one of their own in its place. */
const { print } = window;
const { apply } = Reflect;

/** The document is in a tab that the person does not see (Page Visibility): it may rest. */
let isBehind = false;

/** A page that nobody sees takes no focus by its elements; one that does so by other ways is told of. */
function tellFocus({ toShell }: PageContext): void {
  patchMethod(HTMLElement.prototype, "focus", (native, self, args) => (isBehind ? undefined : native(self, args)));
  window.addEventListener("focus", () => toShell({ tag: MESSAGE_TAG, type: "focus", has: true, isBehind }));
  window.addEventListener("blur", () => {
    if (!/^i?frame$/i.test(document.activeElement?.localName ?? ""))
      toShell({ tag: MESSAGE_TAG, type: "focus", has: false, isBehind });
  });
}

/** Events by which media begin or cease to be heard. */
const SOUND = ["playing", "pause", "ended", "emptied", "volumechange"] as const;

/** A tab that is heard keeps its page. Media that are in no document send their events there neither. */
function tellSound({ toShell }: PageContext): void {
  const heard = new Set<EventTarget>();
  const hear = ({ target }: Event) => {
    if (!(target instanceof HTMLMediaElement)) return;
    const wasOn = heard.size > 0;
    if (target.paused || target.ended || target.muted || target.volume === 0) heard.delete(target);
    else heard.add(target);
    const isOn = heard.size > 0;
    if (isOn !== wasOn) toShell({ tag: MESSAGE_TAG, type: "sound", isOn });
  };
  const listen = (target: EventTarget) => {
    for (const type of SOUND) target.addEventListener(type, hear, true);
  };
  listen(document);
  patchMethod(HTMLMediaElement.prototype, "play", (native, self, args) => {
    if (self instanceof HTMLMediaElement) listen(self);
    return native(self, args);
  });
}

function see(behind: boolean): void {
  if (behind === isBehind) return;
  isBehind = behind;
  document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
}

/** The shell's messages; pages do not get to see them. `origin` is read before pages may change its getter. */
export function obeyShell(context: PageContext, requests: ShellRequests): void {
  const { shellOrigin } = context.config;
  tellFocus(context);
  tellSound(context);
  for (const [name, value] of [
    ["hidden", true],
    ["visibilityState", "hidden"],
  ] as const)
    patchAccessor(Document.prototype, name, { get: (native) => (isBehind ? value : native()) });
  const getter = (name: "data" | "origin") =>
    Object.getOwnPropertyDescriptor(MessageEvent.prototype, name)?.get as () => unknown;
  const [data, origin] = [getter("data"), getter("origin")];
  const find = finder(context, requests.giveScript);
  window.addEventListener("message", (event: MessageEvent<unknown>) => {
    const said = apply(data, event, []);
    if (!isTagged(said)) return;
    const message = said as ShellToPage;
    const isShells = apply(origin, event, []) === shellOrigin && event.source === window.top;
    if (!isShells && message.type !== "find") return;
    event.stopImmediatePropagation();
    if (message.type === "find") return find(message, isShells);
    obey(message, event.ports, context, requests);
  });
}

function obey(
  message: ShellToPage,
  ports: readonly MessagePort[],
  context: PageContext,
  requests: ShellRequests,
): void {
  const [port] = ports;
  switch (message.type) {
    case "port":
      return port && requests.port(port);
    case "origins":
      return requests.origins(message.origins, message.asked);
    case "window":
      return requests.window(message, ports);
    case "stop":
      return window.stop();
    case "print":
      return print.call(window);
    case "tab":
      return see(message.isBehind);
    case "links-wanted":
      return context.toShell({ tag: MESSAGE_TAG, type: "links", urls: likelyLinks(context) });
    case "scroll":
      fillIn(message.fields ?? []);
      return scrollBack(message.position);
    case "reload":
      return reload(message, context);
  }
}

/** The text that the person searches for is the app's secret: no script of the page gets to see it. */
function finder(context: PageContext, giveScript: ShellRequests["giveScript"]) {
  const { late, toShell } = context;
  let search: Promise<typeof import("./find-text.ts")> | undefined;
  let isLoaded = false;
  return (order: FindOrder, isShells: boolean): void => {
    const { tag, id, act } = order;
    if (act.kind === "join") return toShell({ tag, type: "found", id, told: { kind: "there" } });
    if (!isShells) return;
    if (act.kind === "read") {
      giveScript(act.script, "?read");
      const reader = late<typeof import("./reader.ts")>("read");
      void reader.then(({ read }) => read({ document, tell: toShell }, id, act));
      return;
    }
    if (act.kind === "search" && !isLoaded) {
      giveScript(act.script, "?find");
      search ??= late("find");
    }
    void search?.then(
      ({ find }) => {
        isLoaded = true;
        find({ document, tell: toShell, from: context.searchedFrom, view: context.view }, order);
        if (act.kind === "end") context.searchedFrom = null;
      },
      () => {
        search = undefined;
      },
    );
  };
}

function reload({ isConfirmed, isHard }: ShellToPage & { type: "reload" }, { isPosted, toShell }: PageContext): void {
  if (isPosted && !isConfirmed) return toShell({ tag: MESSAGE_TAG, type: "reload-sends-form" });
  if (isHard) forgetLoaded();
  location.reload();
}

/**
 * Goes there as the document grows, until it has loaded or the person takes over: after the app was closed. Within one
 * life of the app the browser does that.
 */
function scrollBack({ x, y }: ScrollPosition): void {
  if (history.scrollRestoration === "manual" || (x === 0 && y === 0)) return;
  const over = new AbortController();
  const { signal } = over;
  const go = () => {
    window.scrollTo({ left: x, top: y, behavior: "instant" });
  };
  const observer = new ResizeObserver(go);
  observer.observe(document.documentElement);
  signal.addEventListener("abort", () => observer.disconnect());
  for (const hand of HANDS) window.addEventListener(hand, () => over.abort(), { signal, capture: true, passive: true });
  // A loaded document is laid out with the next frame.
  const end = () =>
    requestAnimationFrame(() => {
      if (signal.aborted) return;
      go();
      over.abort();
    });
  if (document.readyState === "complete") end();
  else window.addEventListener("load", end, { signal });
}

/** Links that the shell may warm. */
const MOST_LINKS = 3;
/** Some pages hide links that only robots find. */
const SEEN = { opacityProperty: true, visibilityProperty: true };

/**
 * Links that a person may follow next, for the shell to warm if the person has chosen that.
 *
 * @returns slot URLs of links in view, the largest first; none where the page wants its links left alone.
 */
function likelyLinks({ config }: PageContext): string[] {
  const meta = document.querySelector("meta[name=robots i]:is([content*=nofollow i], [content*=none i])");
  if (meta !== null) return [];
  const seen = new Map<string, number>();
  for (const link of document.querySelectorAll<HTMLAnchorElement>(
    "a[href]:not([download], [target], [rel~=nofollow i])",
  )) {
    const goal = navigationGoal(String(link.href), "page", config);
    if (goal.kind !== "slot" || goal.url.includes("?") || link.checkVisibility?.(SEEN) === false) continue;
    const address = goal.url.split("#", 1)[0] ?? "";
    const { left, right, top, bottom } = link.getBoundingClientRect();
    const width = Math.min(right, innerWidth) - Math.max(left, 0);
    const height = Math.min(bottom, innerHeight) - Math.max(top, 0);
    if (width <= 0 || height <= 0 || address === location.href.split("#", 1)[0]) continue;
    seen.set(address, Math.max(seen.get(address) ?? 0, width * height));
  }
  const links = [...seen].sort(([, a], [, b]) => b - a);
  return links.slice(0, MOST_LINKS).map(([url]) => url);
}

/** Before pages may put one of their own in its place. */
const { fetch: ask } = window;
const nameOf = Object.getOwnPropertyDescriptor(PerformanceEntry.prototype, "name")?.get as () => string;

/**
 * Chromium keeps loaded files in the memory of the page's process, and asks no service worker for them. It forgets a file
 * that `fetch` asks for past its cache, where the page's policy allows that request.
 */
function forgetLoaded(): void {
  // Not relative: a page's <base> may lead elsewhere.
  const referrer = location.origin + ropewayPath.forgotten;
  const init = { mode: "no-cors", referrer, referrerPolicy: "unsafe-url" } as const;
  for (const entry of performance.getEntriesByType("resource")) ask(nameOf.call(entry), init).catch(() => {});
}
