/** Entry of the shell's dedicated worker: the tunnel, its slots' ports, and what the shell asks for. */
import { toBase64 } from "../../shared/base-encodings.ts";
import { epochClock, setTimer, steadyClock } from "../../shared/clock.ts";
import { later, RopewayError } from "../../shared/errors.ts";
import type { ResponseConsumer } from "../../shared/http/exchange.ts";
import { headerValue, headerValues, withoutUserInfo } from "../../shared/http/head-fields.ts";
import type { RequestHead, ResponseHead } from "../../shared/http/heads.ts";
import { type AcceptTable, withDefaultAccept } from "../../shared/http/phone-fields.ts";
import type { Experiment } from "../../shared/mux/session/session.ts";
import { dialWebSocket, FetchSocket } from "../../shared/phone-socket.ts";
import { EdgeRequest, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { HELD_RESPONSE_TIME } from "../messages/port-messages.ts";
import type { SocketToPage } from "../messages/socket-messages.ts";
import {
  DOWNLOADS_DIRECTORY,
  isAway,
  type LinkPhase,
  type NavigationRequest,
  type ShellToTunnel,
  siteName,
  type TunnelQuestion,
  type TunnelSettings,
  type TunnelToShell,
} from "../messages/tunnel-messages.ts";
import { importAgain } from "../platform/platform.ts";
import {
  type Answer,
  askInOrder,
  edgeRequest,
  type PhoneRequest,
  passingOn,
  type ResponseSource,
  readWhole,
} from "./exchange/exchange.ts";
import type { PageSockets } from "./page-sockets.ts";
import { FrameStarts, PageStarts, SlotPort, type SlotPortHost } from "./port/slot-port.ts";
import type { Downloads } from "./requests/downloads.ts";
import { HeldResponse, HeldResponses, heldNavigations, holdNavigation, remindOf } from "./requests/held-responses.ts";
import type { SignIns } from "./requests/sign-ins.ts";
import { abandon, beginPage, dropFormer, isKeptFrom, type Tabs } from "./requests/tabs.ts";
import { WarmedPages } from "./requests/warmed-pages.ts";
import { Wishes } from "./requests/wishes.ts";
import type { SocketPlatform } from "./sockets/first-socket.ts";
import { Roads } from "./sockets/roads.ts";
import { SOCKET_OPEN_TIMEOUT } from "./sockets/socket-keeper.ts";
import { DISK_TIME, emptyStore, Store, type StorePlatform, whyNotForgotten } from "./store/store.ts";
import { Tunnel } from "./tunnel.ts";

declare const self: DedicatedWorkerGlobalScope & {
  /** Path of the store's script; the build puts it here. */
  readonly __STORE: string;
  /** Path of the script that undoes brotli. */
  readonly __BROTLI: string;
  /** Path of the script for pages' sockets. */
  readonly __PAGE_SOCKETS: string;
  /** Path of the script for servers that ask for a name and a password. */
  readonly __SIGN_INS: string;
  /** Path of the script for files that are kept. */
  readonly __DOWNLOADS: string;
};

/** Milliseconds after the link's opening until scripts are fetched that no page waits for, if the phone does not have them yet. */
const LATER = 5000;

/** Icons above this are not shown; they are decoration. */
const ICON_BYTES = 64 * 1024;
const PROGRESS_INTERVAL = 100;

/** Slots are below the shell's host. */
const slotScheme = self.location.protocol === "https:" ? "https" : "http";

/** https://wicg.github.io/netinfo/, where it is there. */
const { connection } = navigator as { readonly connection?: { readonly type?: string; readonly rtt?: number } };

const experiment: Experiment = self.name === "" ? {} : JSON.parse(self.name);

const clock = {
  now: steadyClock(Date.now, () => performance.now()),
  random: Math.random,
  setTimer,
};

const roads = new Roads({
  dial: (road, offer, listener) =>
    road === "fetch" ? new FetchSocket(offer, listener) : dialWebSocket(offer, listener),
  ...clock,
  network: () => connection?.type ?? "",
  roundTrip: () => connection?.rtt ?? null,
});

const platform: SocketPlatform = {
  dial: (offer, listener, isSpare) => roads.dial(offer, listener, isSpare),
  dialFurther: (offer, listener) => (roads.takesWebSockets ? dialWebSocket(offer, listener) : null),
  ...clock,
  async probe(token) {
    try {
      const response = await fetch(TUNNEL_PATH, {
        headers: { authorization: `Bearer ${token}` },
        cache: "no-store",
        signal: AbortSignal.timeout(SOCKET_OPEN_TIMEOUT),
      });
      return response.status === 401 ? "refused" : "reachable";
    } catch {
      return "unreachable";
    }
  },
};

let phase: LinkPhase = { kind: "unpaired" };
const isLinkAway = () => isAway(phase);

/** How much may be stored. The shell says so before it says anything else. */
let storeBytes = 0;
const store = new Store({
  async load() {
    const { openStoredSource } = await importAgain<typeof import("./store/store-chunk.ts")>(self.__STORE);
    const parts: StorePlatform = {
      ...epochClock,
      isAway: isLinkAway,
      savesData: () => tunnel.savesData,
      acceptLanguage: () => tunnel.acceptLanguage,
      namesLearned: () => tunnel.takesPushes && experiment.namesLearned !== false,
      namesBodies: () => experiment.namesBodies !== false,
      onChange: (origin) => tunnel.outdate(origin),
      onStoredPage: (page) => tell({ type: "document", kind: "stored", ...page }),
      onNewerPage: (url) => tell({ type: "document", kind: "newer", url }),
      onDictionaryKey: (key) => tunnel.offerDictionaries(key),
      failure: (code, message) => new RopewayError(code, "stream", "library", message),
    };
    return openStoredSource(parts, () => storeBytes);
  },
  deleteStored: emptyStore,
  isAway: isLinkAway,
  setTimer,
});
const brotliChunk = () => importAgain<typeof import("./coding/brotli-chunk.ts")>(self.__BROTLI);
/** True also when the script is loaded. */
let isBrotliLoading = false;

// Where the app is installed, they are at hand.
void caches.match(self.__STORE, { ignoreSearch: true }).then((kept) => {
  if (kept !== undefined) loadScripts();
});

const warmedPages: WarmedPages = new WarmedPages({
  ask(request, consumer) {
    const { marksReads } = wishes.marked({ ...request.head, mode: "navigate" });
    return tunnel.ask({ ...request, head: { ...request.head, ...(marksReads && { marksReads }) } }, consumer);
  },
  hasNoCookies: (head) => store.loaded?.hasNoCookies(head) === true,
  setTimer,
});
const tunnel = new Tunnel(
  {
    onPhase: (link) => {
      phase = link;
      tell({ type: "link", link });
      if (isAway(link)) store.loaded?.linkLeft();
      else store.loaded?.linkBack();
      if (link.kind === "open") {
        setTimer(loadScripts, LATER);
        void downloads.loaded?.then((files) => files.linkOpened());
      }
      if (link.kind === "refused") void store.load().then((source) => source?.unpaired());
    },
    onTraffic: () => reportProgress(),
    onUncertain: (head) => {
      // Nobody asks what became of a beacon.
      if (head.mode !== "no-cors") tell({ type: "uncertain", url: head.url });
    },
    isAtHand: (head) => store.loaded?.isAtHand(head) === true,
  },
  platform,
  [
    warmedPages.source,
    countedSource(store.source),
    (request, consumer, next) => {
      const answer = next(request, consumer);
      hasAsked = true;
      takeOff();
      return answer;
    },
  ],
);
/** Whether the edge was ever asked for something. */
let hasAsked = false;
/** Opens the link once the first request can ride along: it may have to wait for what is stored. */
let takeOff = (): void => {};
const tabs: Tabs = new Map();
const held = new HeldResponses(clock, HELD_RESPONSE_TIME);
const wishes = new Wishes({
  setTimer: clock.setTimer,
  roundTrip: () => tunnel.roundTrip,
  pageBytes: () => Math.min(...[...tabs.values()].map(({ progress }) => progress().linkBytesDown)),
});
const host: { -readonly [Part in keyof SlotPortHost]: SlotPortHost[Part] } = {
  ask: askInOrder([heldNavigations(held), wishes.source], askSignedIn),
  held,
  frameStarts: new FrameStarts(),
  pageStarts: new PageStarts(),
  onNavigationMoved: (id, url) => tell({ type: "navigation", kind: "moved", id, url }),
  isPageKept: (url) => isKeptFrom(tabs, url),
  onDocumentFailed: tell,
  onNoDocument: (document) => tell({ type: "document", kind: "none", ...document }),
  onSilentDocument: tell,
  onReadsPixels(origin) {
    wishes.addReader(origin);
    tell({ type: "reads-pixels", origin });
  },
  onBrokenDocument: tell,
  onSocket(request, binding) {
    pageSockets.load().then(
      (sockets) => sockets.connect(request, binding),
      () =>
        request.port.postMessage({ type: "failed", message: "a part of the app is missing" } satisfies SocketToPage),
    );
  },
  savesData: () => tunnel.savesData,
  onFile: null,
  ports: new Set(),
  setTimer,
};

let signIns: SignIns | null = null;

/** Requests in place of one whose server asks for names and passwords: as many as redirects are followed. */
const MOST_AGAIN = 20;

/**
 * With the name and the password that the person has given. The server of a page may ask for them, and for the same with a
 * new nonce, or elsewhere: then the request goes out once more, unless its body is not at hand.
 */
function askSignedIn(request: PhoneRequest, consumer: ResponseConsumer, left = MOST_AGAIN): Answer {
  const head = signIns?.marked(request.head) ?? request.head;
  const { body, bodyAgain = body === null ? () => null : undefined } = request;
  let answer: Answer | null = null;
  const onHead = (response: ResponseHead): void => {
    const again = (response.status === 401 && left > 0 && signIns?.again(response, head, request.head)) || null;
    if (again !== null && bodyAgain !== undefined) {
      answer?.cancel();
      const redirected = { onHead: (later: ResponseHead) => consumer.onHead({ ...later, redirected: true }) };
      const heard = again === request.head ? consumer : passingOn(consumer, redirected);
      answer = askSignedIn({ ...request, head: again, body: bodyAgain() }, heard, left - 1);
      return;
    }
    consumer.onHead(response);
    if (response.status === 401 && again === null) void tellSignIn(response, head, request.head);
  };
  answer = tunnel.ask({ ...request, head }, passingOn(consumer, { onHead }));
  return { cancel: () => answer?.cancel() };
}

/** Where the script for it cannot be had, the page says what the server says. */
async function tellSignIn(response: ResponseHead, sent: RequestHead, request: RequestHead): Promise<void> {
  if (!/\b(?:basic|digest)\b/i.test(headerValues(response.headers, "www-authenticate").join())) return;
  const { SignIns } = await importAgain<typeof import("./requests/sign-ins.ts")>(self.__SIGN_INS);
  signIns ??= new SignIns();
  const isDocument = request.mode === "navigate" && request.destination === "document";
  const asked = signIns.ask(response, sent, isDocument ? null : request);
  if (asked !== null) tell({ type: "sign-in", ...asked });
}

/** A part whose script loads late. Where it cannot be had, it is asked for anew the next time. */
class LatePart<Part> {
  /** Null while nobody has asked for it. */
  loaded: Promise<Part> | null = null;
  readonly #open: () => Promise<Part>;

  constructor(open: () => Promise<Part>) {
    this.#open = open;
  }

  load(): Promise<Part> {
    this.loaded ??= this.#open().catch((error: unknown) => {
      this.loaded = null;
      throw error;
    });
    return this.loaded;
  }
}

/** Sockets of the pages of all slots. */
const pageSockets = new LatePart<PageSockets>(async () => {
  const { PageSockets } = await importAgain<typeof import("./page-sockets.ts")>(self.__PAGE_SOCKETS);
  return new PageSockets({
    open(head, body, consumer) {
      const wished = wishes.marked(head);
      return tunnel.openSocket(signIns?.marked(wished) ?? wished, body, consumer);
    },
    hasLink: () => tunnel.hasLink,
    setTimer,
  });
});

const downloads = new LatePart<Downloads>(async () => {
  const { openDownloads } = await importAgain<typeof import("./requests/downloads.ts")>(self.__DOWNLOADS);
  return openDownloads({
    ask(request, consumer) {
      // A file is kept as its site sends it.
      const { marksReads: _, ...head } = wishes.marked(request.head);
      return tunnel.askEdge({ ...request, head: signIns?.marked(head) ?? head }, consumer);
    },
    isAway: isLinkAway,
    tell: (download) => tell({ type: "document", kind: "download", download }),
    clock: epochClock,
  });
});
const filesRoot = openFiles();

/** @returns null where the phone has no place for files: in private windows of some browsers. */
async function openFiles(): Promise<FileSystemDirectoryHandle | null> {
  if (!("locks" in navigator && "FileSystemSyncAccessHandle" in self)) return null;
  const root = await navigator.storage.getDirectory().catch(() => null);
  if (root === null) return null;
  host.onFile = (file) =>
    downloads
      .load()
      .then((files) => files.take(file))
      .catch(() => file.response.cancel());
  for (const port of host.ports) port.introduce();
  return root;
}

/** Goes on with the files in the list. Nothing is loaded where no file was begun. */
async function goOnWithFiles(): Promise<void> {
  const directory = await (await filesRoot)?.getDirectoryHandle(DOWNLOADS_DIRECTORY).catch(() => null);
  if (directory) await downloads.load();
}

/**
 * Forgets files, and what the list alone has: those that were only asked about, or have failed.
 *
 * @returns "", or why there are still some.
 */
async function forgetFiles(isOf: (url: string) => boolean): Promise<string> {
  try {
    if ((await filesRoot) !== null) await (await downloads.load()).forget(isOf);
    return "";
  } catch {
    return `Cannot delete all downloads: ${later("some files are still there. Try again")}`;
  }
}

let progressScheduled = false;
let accept: AcceptTable = {};

tunnel.setExperiment(experiment);

self.onmessage = ({ data: message, ports }: MessageEvent<ShellToTunnel>) => {
  switch (message.type) {
    case "settings":
      return heed(message.settings);
    case "link":
      return actOnLink(message);
    case "store":
      return actOnStore(message);
    case "bind":
      for (const port of ports) new SlotPort(port, message.binding, host);
      return;
    case "frame-starts":
      return startFrame(message);
    case "navigation":
      return actOnNavigation(message);
    case "ask":
      return answerWith(message.id, answer(message.question));
  }
};

function actOnLink(order: ShellToTunnel & { type: "link" }): void {
  if (order.kind === "give-up") return tunnel.giveUp();
  if (order.kind === "start") {
    if (order.lastOpening !== null) roads.expectOpening(order.lastOpening);
    takeOff = () => {
      takeOff = () => {};
      tunnel.start(order.url, order.token);
    };
    if (order.flies) roads.flyFirst();
    if (!order.flies || hasAsked) takeOff();
    else setTimer(() => takeOff(), DISK_TIME);
    return;
  }
  if (order.hint === "network") roads.networkChanged();
  tunnel.hint(order.hint);
}

function actOnStore(order: ShellToTunnel & { type: "store" }): void {
  if (order.kind === "write-down") {
    store.loaded?.writeDown();
    void downloads.loaded?.then((files) => files.writeDown());
  } else if (order.kind === "forget") void store.load().then((source) => source?.forget(order));
  else for (const emptied of [store.empty(), forgetFiles(() => true)]) void emptied.catch(() => {});
}

function actOnNavigation(order: ShellToTunnel & { type: "navigation" }): void {
  if (order.kind === "begin") navigate(order);
  else if (order.kind === "abandon") abandon(tabs, order.id);
  else if (order.kind === "links") warmedPages.warm(order.page, order.links);
  else if (order.kind === "closed") tabs.delete(order.tab);
  else {
    if (order.url !== null && order.isAgain !== true) host.pageStarts.forget(order.url);
    leavePage(order.tab, order.url);
  }
}

function heed(settings: Partial<TunnelSettings>): void {
  const { phone, isOnline, waitTime, takesPushes, storeBytes: bytes, known, reloadedPage, sparedPage } = settings;
  if (phone !== undefined) {
    accept = phone.accept ?? {};
    tunnel.introduce(phone);
  }
  if (isOnline === true) roads.networkChanged();
  if (isOnline !== undefined) tunnel.setOnline(isOnline);
  if (waitTime !== undefined) tunnel.setWaitTime(waitTime);
  if (takesPushes !== undefined) tunnel.takePushes(takesPushes && experiment.takesPushes !== false ? slotScheme : null);
  if (bytes !== undefined) {
    storeBytes = bytes;
    void store.loaded?.makeRoom();
  }
  if (known !== undefined) store.setKnown(known);
  if (reloadedPage !== undefined) wishes.reload(reloadedPage);
  if (sparedPage !== undefined) wishes.spare(sparedPage);
  wishes.set(settings);
  const isWish = settings.pictures !== undefined || settings.trackers !== undefined || settings.savesData !== undefined;
  const { savesData } = tunnel;
  if (isWish) tunnel.wish(wishes.ofSession);
  if (tunnel.savesData !== savesData) for (const port of host.ports) port.introduce();
}

/** Loads the scripts that no page waits for. */
function loadScripts(): void {
  void store.load();
  void goOnWithFiles().catch(() => {});
  if (isBrotliLoading) return;
  isBrotliLoading = true;
  brotliChunk()
    .then(async ({ brotliDecoder }) => tunnel.offerBrotli(await brotliDecoder()))
    .catch(() => {
      // The next call tries again; until then all bodies come in deflate.
      isBrotliLoading = false;
    });
}

async function answer(question: TunnelQuestion): Promise<unknown> {
  if (question.kind === "stats") return stats();
  if (question.kind === "icon") return fetchIcon(question.url, question.topLevelOrigin);
  if (question.kind === "site-data") return clearSiteData();
  if (question.kind === "sign-in") return signIns?.give(question.origin, question);
  if (question.kind === "downloads" || question.kind === "download" || question.kind === "save")
    return (await downloads.load()).answer(question);
  if (question.kind === "forget") return forgetSite(question);
  // Null where the store cannot be had.
  return (await store.load())?.answer(question, tunnel.ask) ?? null;
}

/** Where something cannot be deleted, the rest goes all the same. @returns as of the question. */
async function forgetSite(question: Extract<TunnelQuestion, { kind: "forget" }>): Promise<unknown> {
  const left = await forgetFiles((url) => siteName(url) === question.site);
  const why: unknown = (await store.load())?.answer(question, tunnel.ask) ?? null;
  return (await why) === "" ? left : why;
}

/** @returns null, or why something is still there. */
async function clearSiteData(): Promise<string | null> {
  const { origin } = self.location;
  const message = { method: "DELETE", url: EdgeRequest.SITE_DATA, headers: [], origin: null, topLevelOrigin: origin };
  try {
    const left = await forgetFiles(() => true);
    const { response } = await readWhole(tunnel.ask, edgeRequest(message), 0);
    if (response.status === 204) return left || null;
    const answered = later("some of it is still there: your edge answers {number}");
    return `Cannot clear site data: ${answered.replace("{number}", String(response.status))}`;
  } catch (error) {
    return `Cannot clear site data: ${whyNotForgotten(error)}`;
  }
}

function stats() {
  return { ...tunnel.stats(), ...store.stats, ...warmedPages.stats, road: roads.current };
}

/** As of `PageProgress`. */
function openRoundTrip(): number {
  return phase.kind === "open" ? (tunnel.roundTrip ?? 0) : 0;
}

function pageCounters() {
  const { expectedBytes } = tunnel.counters;
  return { ...stats(), waiting: wishes.waiting, expectedBytes, roundTrip: openRoundTrip() };
}

/** @param url as of "by-page". @param navigation as of `beginPage`. @param keepsPage as of "begin". */
function leavePage(tab: number, url: string | null, navigation?: HeldResponse, keepsPage = true): void {
  tunnel.leavePage();
  wishes.begin(url);
  tunnel.wish(wishes.ofSession);
  beginPage(tabs, tab, pageCounters, keepsPage ? url : null, navigation);
}

function navigate({ tab, id, request, keepsPage }: ShellToTunnel & { type: "navigation"; kind: "begin" }): void {
  const url = withoutUserInfo(request.url);
  // The history of a tab that leads to a page asks as its first visit did.
  const start = request.cache === "force-cache" ? host.pageStarts.find(url) : null;
  const response = new HeldResponse((start ?? request).referrer, id, request.method);
  dropFormer(tabs, tab, held);
  leavePage(tab, url, response, keepsPage);
  void response.settled.then((outcome) => {
    takeOff();
    if (outcome instanceof RopewayError) {
      const { code, message } = outcome;
      return tell({ type: "navigation", kind: "failed", id, url: request.url, code, message });
    }
    host.pageStarts.note(head, outcome.url, outcome.redirected);
    const answered = () => tell({ type: "navigation", kind: "answered", id });
    answered();
    remindOf(held, response, clock, answered);
  });
  const bodyAgain = () => (request.body === null ? null : new Response(request.body).body);
  const head = wishes.marked({ ...navigationHead(request), ...start });
  host.pageStarts.note(head, url);
  const { download } = request;
  const answer =
    download === undefined
      ? askSignedIn({ head, body: bodyAgain(), bodyAgain, push: null }, response)
      : show(download, response);
  response.setExchange(answer);
  holdNavigation(held, head.topLevelOrigin, url, response);
}

/** @param id of a file in the list. */
function show(id: string, response: HeldResponse): Answer {
  const stop = new AbortController();
  downloads.load().then(
    (files) => files.show(id, response, stop.signal),
    () => response.cancel(),
  );
  return { cancel: () => stop.abort() };
}

/** The frame's form goes out at once, and its answer waits for the frame's slot. */
function startFrame(message: ShellToTunnel & { type: "frame-starts" }): void {
  const { binding, url, start, form: named } = message;
  host.frameStarts.add(binding, url, start);
  const form = host.frameStarts.takeForm(message);
  if (form === null) return;
  const { destination, headers, body } = form;
  const request = { url, method: "POST", headers, body: null, ...start };
  const { topLevelOrigin } = binding;
  const head: RequestHead = { ...navigationHead(request), destination, redirect: "same-origin", topLevelOrigin };
  const response = new HeldResponse(start.referrer);
  response.setExchange(host.ask({ head, body, push: null }, response));
  holdNavigation(held, topLevelOrigin, url, response, named?.name);
}

function navigationHead(request: NavigationRequest): RequestHead {
  return {
    method: request.method,
    url: request.url,
    headers: request.headers,
    destination: "document",
    mode: "navigate",
    credentials: "include",
    redirect: "follow",
    ...(request.cache === undefined ? {} : { cache: request.cache }),
    ...(request.isUnasked && { isUnasked: true }),
    referrer: request.referrer,
    origin: request.initiator,
    topLevelOrigin: new URL(request.url).origin,
  };
}

/** @returns a data: URL, or null when there is no usable icon. */
async function fetchIcon(url: string, topLevelOrigin: string): Promise<string | null> {
  const head = {
    method: "GET",
    url,
    headers: withDefaultAccept([], "image", accept),
    destination: "image",
    mode: "no-cors",
    credentials: "include",
    redirect: "follow",
    referrer: "",
    origin: topLevelOrigin,
    topLevelOrigin,
  } satisfies RequestHead;
  const { response, body } = await readWhole(tunnel.ask, wishes.marked(head, true), ICON_BYTES);
  const type = headerValue(response.headers, "content-type") ?? "image/x-icon";
  if (response.status !== 200 || !type.startsWith("image/")) return null;
  return `data:${type.replaceAll(" ", "")};base64,${toBase64(body)}`;
}

function answerWith(id: number, value: Promise<unknown>): void {
  value.then(
    (result) => tell({ type: "answer", id, value: result }),
    () => tell({ type: "answer", id, value: null }),
  );
}

/** Answers of the store are no traffic, and count for the page. */
function countedSource(source: ResponseSource): ResponseSource {
  return (request, consumer, next) => {
    const onEnd = () => {
      reportProgress();
      consumer.onEnd();
    };
    return source(request, passingOn(consumer, { onEnd }), next);
  };
}

function reportProgress(): void {
  if (progressScheduled) return;
  progressScheduled = true;
  setTimeout(() => {
    progressScheduled = false;
    for (const [tab, { progress }] of tabs) tell({ type: "progress", tab, progress: progress() });
  }, PROGRESS_INTERVAL);
}

function tell(message: TunnelToShell): void {
  self.postMessage(message);
}
