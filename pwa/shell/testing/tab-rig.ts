import {
  type DocumentPhase,
  MESSAGE_TAG,
  type PageToShell,
  type ScrollPosition,
} from "../../messages/page-messages.ts";
import type { LinkPhase } from "../../messages/tunnel-messages.ts";
import { App, type AppOptions } from "../app/app.ts";
import { SettingsStore } from "../app/settings.ts";
import type { BrowserState } from "../app/state.ts";
import type { Slot } from "../frames/places.ts";
import type { SlotFrames } from "../frames/slot-frames.ts";
import { SlotPlaces } from "../frames/slot-frames.ts";
import type { Activation } from "../frames/slot-services.ts";
import type { TunnelEvent } from "../link/tunnel-client.ts";
import { PageFrame } from "../tab/page-frame.ts";
import type { KeptEntry } from "../tab/session-history.ts";
import { Tab } from "../tab/tab.ts";
import { MapStorage } from "./map-storage.ts";

/** An app on an open link. Its tunnel does nothing but write down what it is told. @param recent pages that were visited. */
export function openApp(recent: readonly string[] = [], link: LinkPhase = { kind: "open" }) {
  const log: string[] = [];
  let navigations = 0;
  const tunnel = {
    navigate: (_tab: number, { url, method }: { url: string; method: string }) => {
      navigations += 1;
      log.push(`${method === "GET" ? "ask" : method} ${navigations} ${url}`);
      return navigations;
    },
    tell: ({ kind, id = 0 }: { kind?: string; id?: number }) => {
      if (kind === "abandon") log.push(`abandon ${id}`);
    },
    set: ({ reloadedPage }: { reloadedPage?: string | null }) => {
      if (reloadedPage !== undefined) log.push(`hard reload ${reloadedPage ?? "ends"}`);
    },
    tellSettings() {},
    signIn: async () => {},
    stats: async () => ({}),
    askStore: async ({ kind, urls }: { kind: string; urls: readonly string[] }) => {
      log.push(`${kind} ${urls}`);
      return urls.slice(0, 1);
    },
    icon: async () => null,
    clearSiteData: async () => null,
  };
  const storage = new MapStorage();
  const visited: string[] = [];
  const app = new App({
    tunnel,
    sites: {
      recent: recent.map((url) => ({ url })),
      pinned: [],
      visit: ({ url }: { url: string }) => void visited.push(url),
      forget() {},
      remember() {},
    },
    settings: new SettingsStore(new MapStorage()),
    totals: { current: null, add: () => null },
    storage,
    demoUrl: null,
    openLink() {},
    phone: () => null,
    forgetSlots() {},
    forgetSlotsOf: (isOf: (origin: string) => boolean) =>
      void log.push(`forget slots ${["https://a.example", "https://b.example"].filter(isOf)}`),
    forgetHistory(isOf: (url: string) => boolean, closes: boolean) {
      const gone = ["https://a.example", "https://b.example"].filter(isOf);
      log.push(`${gone} ${closes ? "close" : "stay"}`);
      return () => void log.push(`${gone} are kept again`);
    },
    draw() {},
  } as unknown as AppOptions);
  const hear = (event: TunnelEvent) => app.onTunnelEvent(event);
  hear({ type: "link", link });
  return { app, log, hear, storage, visited };
}

/** A frame that does nothing but write down what it is told. */
export function createFakeFrame(log: string[]) {
  const here = { href: "/blank" };
  const step = (_state: null, _unused: string, url: string) => {
    here.href = url;
  };
  const contentWindow = {
    history: {
      replaceState: step,
      pushState: step,
      go: (delta: number) => void log.push(`go ${delta}`),
    },
    location: {
      replace: (url: string) => void log.push(`replace ${url}`),
      get href() {
        return here.href;
      },
    },
    length: 0,
    postMessage: (
      message: { type: string; isConfirmed?: boolean; isBehind?: boolean; position?: ScrollPosition },
      target: string,
    ) => {
      const { type, isConfirmed = false, isBehind, position } = message;
      const hearers = target === "*" ? "" : `${target} `;
      const place = isBehind === undefined ? "" : isBehind ? " behind" : " in front";
      const confirmed = isConfirmed ? " confirmed" : "";
      log.push(`tell ${hearers}${type}${confirmed}${place}${position === undefined ? "" : ` ${position.y}`}`);
    },
  };
  /** A document comes into the frame. */
  let load = () => {};
  const element = {
    contentWindow,
    contentDocument: null as object | null,
    set src(url: string) {
      log.push(`src ${url}`);
    },
    title: "",
    inert: false,
    name: "",
    classList: { toggle() {} },
    remove: () => void log.push("frame goes"),
    addEventListener(_type: "load", listener: () => void) {
      load = listener;
    },
  };
  return { element, contentWindow, load: () => load() };
}

/** Slots that are there at once. */
export function createFakeSlots(log: string[]) {
  const slots = new Map<string, Slot>();
  const slotFor = (origin: string): Slot => {
    const slot = slots.get(origin) ?? { label: origin, origin, topLevelOrigin: origin, topLevel: true };
    slots.set(origin, slot);
    return slot;
  };
  /** Origins for which no host is free. */
  const homeless = new Set<string>();
  /** Origins whose slots' workers are there. */
  const booted = new Set<string>();
  const slotFrames = {
    slotFor: (origin: string) => (homeless.has(origin) ? null : slotFor(origin)),
    pageUrl: (_slot: Slot, url: string, isAgain: boolean) => (isAgain ? `again ${url}` : url),
    leave() {},
    originOf: ({ origin }: Slot) => origin,
    meet: () => null,
    isBooted: ({ origin }: Slot) => booted.has(origin),
    find: (origin: string) => slots.get(origin) ?? (booted.has(origin) ? slotFor(origin) : null),
    needsBootPage: () => true,
    standIn({ origin }: Slot) {
      log.push(`stand in ${origin}`);
      return true;
    },
    endStandIns() {},
  };
  return { slotFor, homeless, booted, slots: slotFrames as unknown as SlotFrames };
}

/** A tab with the start page. Its frame does nothing but write down what it is told. */
export function openTab(
  { app, log }: Pick<ReturnType<typeof openApp>, "app" | "log">,
  id = 1,
  resumed: readonly KeptEntry[] = [],
) {
  const { slotFor, homeless, booted, slots } = createFakeSlots(log);
  const { element, contentWindow, load } = createFakeFrame(log);
  /** What was kept of the history, each time. */
  const kept: (readonly KeptEntry[])[] = [];
  const tab = new Tab({
    id,
    app,
    frame: new PageFrame(
      element as unknown as HTMLIFrameElement,
      new SlotPlaces(slots),
      (entries) => void kept.push(entries),
    ),
    onCommit() {},
    isInFront: () => true,
    anchor: () => void log.push("anchor"),
    openOtherApp: (url, origin, isOwn = true) =>
      void log.push(`open ${url} for ${origin}${isOwn ? "" : ", which has not led there"}`),
  });
  const source = contentWindow as unknown as Window;
  /** @param origin of the slot that speaks; null for the start document. */
  const hearPage = (message: PageToShell, origin: string | null, activation?: Activation) =>
    tab.onPageMessage(message, origin === null ? null : slotFor(origin), source, activation);
  /** A document in the frame says how far it is. */
  const report = (url: string, phase: DocumentPhase, historyKey: string, title = "") => {
    const { origin } = new URL(url, "https://ropeway.example");
    const sent = { isPosted: false, icon: null };
    const message = { tag: MESSAGE_TAG, type: "document", phase, url, title, historyKey, ...sent } as const;
    hearPage(message, url.startsWith("/") ? null : origin);
  };
  const say = (origin: string, type: "leaving" | "staying" | "booting" | "slot-ready") =>
    hearPage({ tag: MESSAGE_TAG, type, url: `${origin}/` }, origin);
  const show = (url: string, historyKey: string) => {
    report(url, "loading", historyKey);
    report(url, "loaded", historyKey);
  };
  /** What the chrome draws. */
  const shown = (): BrowserState => ({
    ...app.state,
    ...tab.state,
    openedBy: null,
    tabs: [],
    question: null,
    hasUpdate: false,
  });
  if (resumed.length > 0) tab.resume(resumed);
  report("/blank", "loaded", "start");
  return {
    homeless,
    booted,
    kept,
    tab,
    hearPage,
    report,
    say,
    show,
    shown,
    load: (isStart = false) => {
      element.contentDocument = isStart ? {} : null;
      load();
    },
  };
}

/** An app with one tab. */
export function openBrowser(resumed: readonly KeptEntry[] = []) {
  const opened = openApp();
  return { ...opened, ...openTab(opened, 1, resumed) };
}

/** A link, or a script, leads to a URL. */
export function sendsTo(url: string): PageToShell {
  const request = { url, method: "GET", headers: [], body: null, referrer: "", replace: false };
  return { tag: MESSAGE_TAG, type: "navigate", ...request };
}
