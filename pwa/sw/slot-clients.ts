import { BoundedMap } from "../../shared/bounded-map.ts";
import type { ScriptCookie } from "../../shared/http/heads.ts";
import type { ImageNote } from "../../shared/http/phone-fields.ts";
import { RESERVED_PATH } from "../../shared/subprotocol.ts";
import { MESSAGE_TAG, type SlotCondition } from "../messages/page-messages.ts";
import type { WorkerToPage } from "../messages/worker-messages.ts";
import { ropewayPath } from "../slot/slot-url.ts";
import { TunnelPort } from "./tunnel-port.ts";

declare const self: ServiceWorkerGlobalScope;

/** A page that does not answer within this is gone, or has no page script. */
const ACKNOWLEDGE_TIMEOUT = 250;
/** The shell answers at once; a page that is still loading needs its script first, and a busy one has no time. */
const PORT_TIMEOUT = 3_000;
/** A page that is there and does not answer within this has no page script. */
const ASKING_TIME = 60_000;
/** Pages whose port is remembered. */
const PAGES_KEPT = 256;
/** Bodies that last longer than this need keep-alives. */
const LONG_BODY = 10_000;
/** Well below the 30 s of silence after which Chromium stops a service worker. */
const KEEP_ALIVE_INTERVAL = 15_000;
const DOCUMENTS_KNOWN = 64;
/** Milliseconds between two looks at whether whoever waits for an answer is still there. */
const LOOK_TIME = 5_000;

/** Of `Document-Isolation-Policy`; undefined for none. */
type Isolation = "require-corp" | "credentialless" | undefined;

/**
 * What a slot's service worker asks of the slot's pages, which outlive it: a port to the tunnel of their window, and
 * signs of life while a long response streams, since a browser stops an idle worker after half a minute.
 *
 * Each window of the app has a tunnel, and what is under way in one is not in another: a request goes through the port
 * of the window that its page is in.
 */
export class SlotClients {
  /** Ports by the id of the page that brought them, or whose document came through them; the latest last. */
  #ports = new BoundedMap<string, TunnelPort>(PAGES_KEPT);
  /**
   * URL that a boot page goes on to, by the id of the boot page, which is there until that page has come; null for a boot
   * page of the release before, which does not tell.
   */
  #goals = new BoundedMap<string, string | null>(PAGES_KEPT);
  /** Questions under way, by the id of the page that was asked for its port. */
  #asked = new Map<string, { readonly port: Promise<TunnelPort | null>; readonly take: (port: TunnelPort) => void }>();
  /** Ports that have open bodies. */
  #busyPorts = new Set<MessagePort>();
  #acknowledged = new Map<number, () => void>();
  /** By client; a client's URL is the one that it was created with (Service Workers section 4.2.1). */
  #documentUrls = new BoundedMap<string, string>(DOCUMENTS_KNOWN);
  /** By client, of documents that the worker has given since it was started. */
  readonly #isolations = new BoundedMap<string, { readonly isolation: Isolation }>(PAGES_KEPT);
  #latestIsolation: Isolation;
  #nextId = 1;
  #busyTimer: ReturnType<typeof setTimeout> | null = null;
  #keepingAlive = false;
  #savesData = false;

  /** Whether origins get `Save-Data: on`, by the last port that has said it. */
  get savesData(): boolean {
    return this.#savesData;
  }

  /**
   * @param page that brings it.
   * @param goal as of the message.
   */
  takePort(port: MessagePort, page: Pick<Client, "id" | "url">, goal?: string | null): void {
    const tunnelPort = new TunnelPort(
      port,
      (bodies) => this.#setBusy(port, bodies > 0),
      (isOn) => this.#setSavesData(isOn),
    );
    if (goal != null) this.#goals.set(page.id, withoutFragment(goal));
    else if (goal === undefined && isBootPage(page)) this.#goals.set(page.id, null);
    this.#remember(page.id, tunnelPort);
    this.#asked.get(page.id)?.take(tunnelPort);
  }

  /**
   * The port of the window that asks. Null when no page can get one, or when it is a navigation in one of several
   * windows and nobody says in which: the boot page finds out.
   */
  async portFor({ request, clientId, resultingClientId }: FetchEvent): Promise<TunnelPort | null> {
    const isGuessed = request.mode !== "navigate" || request.method !== "GET";
    const port = (await this.#ownPort(clientId)) ?? (await this.#anyPort(isGuessed ? null : request.url));
    if (port !== null && resultingClientId !== "") this.#remember(resultingClientId, port);
    return port;
  }

  /** The port of a page's window, or another's where that cannot be had. */
  async portOf(pageId: string): Promise<TunnelPort | null> {
    return (await this.#ownPort(pageId)) ?? this.#anyPort(null);
  }

  /** Asks the page if need be. Null when it has none to give. */
  async #ownPort(pageId: string): Promise<TunnelPort | null> {
    const known = this.#ports.get(pageId);
    if (known?.isOpen === true) return known;
    const page = pageId === "" ? undefined : await self.clients.get(pageId);
    const brought = this.#ports.get(pageId);
    if (brought !== known && brought !== undefined) return brought;
    this.#ports.delete(pageId);
    // Workers, and documents without an address of their own, have no page script.
    if (page?.type !== "window" || !page.url.startsWith(self.location.origin)) return null;
    return soon(this.#ask(page));
  }

  /** @param navigatedTo URL of a navigation that the boot page can make anew; null where any port will do. */
  async #anyPort(navigatedTo: string | null): Promise<TunnelPort | null> {
    let ports = [...new Set(this.#ports.values())].reverse().filter(({ isOpen }) => isOpen);
    if (ports.length === 0) {
      const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
      const pages = windows.filter(({ url }) => !url.startsWith(self.location.origin + ropewayPath.meeting));
      // A GET navigation that gets none goes by way of the boot page; anything else would fail.
      const asked = pages.map((page) => (navigatedTo === null ? this.#ask(page) : soon(this.#ask(page))));
      ports = await firstAnswers(asked);
    }
    const [latest = null] = ports;
    if (latest === null || navigatedTo === null) return latest;
    if (new Set(await Promise.all(ports.map((port) => port.tunnel))).size === 1) return latest;
    // Where a browser does not say which page a navigation comes from.
    return this.#portOfBootPage(navigatedTo);
  }

  /** The port of a boot page that goes on to the URL. */
  async #portOfBootPage(url: string): Promise<TunnelPort | null> {
    for (const [pageId, goal] of [...this.#goals].reverse()) {
      if ((await self.clients.get(pageId)) === undefined) this.#goals.delete(pageId);
      else if (goal === null || goal === withoutFragment(url)) return this.#ports.get(pageId) ?? null;
    }
    return null;
  }

  /** Until it brings one, or is gone. */
  #ask(page: Client): Promise<TunnelPort | null> {
    const asked = this.#asked.get(page.id);
    if (asked !== undefined) return asked.port;
    const { promise, resolve } = Promise.withResolvers<TunnelPort | null>();
    this.#asked.set(page.id, { port: promise, take: resolve });
    const askedAt = Date.now();
    const tell = (): void => this.#tell([page], { tag: MESSAGE_TAG, type: "port-wanted" });
    const timer = setInterval(async () => {
      const isThere = (await self.clients.get(page.id)) !== undefined;
      if (isThere && Date.now() - askedAt < ASKING_TIME) tell();
      else resolve(null);
    }, PORT_TIMEOUT);
    void promise.then(() => {
      clearInterval(timer);
      this.#asked.delete(page.id);
    });
    tell();
    return promise;
  }

  #remember(pageId: string, port: TunnelPort): void {
    this.#ports.set(pageId, port);
  }

  /** Shows cookies to the slot's pages, and waits until they have them: a script may read them next. */
  async showCookies(cookies: readonly ScriptCookie[]): Promise<void> {
    const pages = await self.clients.matchAll({ type: "window" });
    await Promise.all(
      pages.filter(hasPageScript).map((page) => {
        const id = this.#nextId++;
        return new Promise<void>((resolve) => {
          this.#acknowledged.set(id, resolve);
          setTimeout(resolve, ACKNOWLEDGE_TIMEOUT);
          this.#tell([page], { tag: MESSAGE_TAG, type: "cookies", id, cookies });
        }).then(() => this.#acknowledged.delete(id));
      }),
    );
  }

  async showPicture(clientId: string, url: string, note: ImageNote): Promise<void> {
    const page = await self.clients.get(clientId);
    if (page !== undefined) this.#tell([page], { tag: MESSAGE_TAG, type: "picture", url, ...note });
  }

  /** Where a client came from, asked of the browser once: it stays as it is, and each question costs a turn there. */
  async documentUrl(clientId: string): Promise<string | null> {
    const known = this.#documentUrls.get(clientId);
    if (known !== undefined) return known;
    const url = (await self.clients.get(clientId))?.url ?? null;
    if (url === null) return null;
    this.#documentUrls.set(clientId, url);
    return url;
  }

  /**
   * Chromium (156) tells no worker that a document which waits for the head of an answer is gone, and would let it wait for
   * minutes. Clients whose address was never known may be there without being told of: for those nothing is done.
   *
   * @param ask is to stop by the signal: the client is gone, or wants it no more. Beacons are sent by documents that go.
   */
  whileThere<Answer>(
    { clientId, request }: Pick<FetchEvent, "clientId" | "request">,
    ask: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const { signal, keepalive, mode } = request;
    if (!this.#documentUrls.has(clientId) || keepalive || mode === "navigate") return ask(signal);
    const left = new AbortController();
    const timer = setInterval(async () => {
      if ((await self.clients.get(clientId)) === undefined) left.abort();
    }, LOOK_TIME);
    return ask(AbortSignal.any([signal, left.signal])).finally(() => clearInterval(timer));
  }

  /** @param clientId of a document that the worker gives. */
  noteDocument(clientId: string, { headers }: Response): void {
    const policy = /^isolate-and-(require-corp|credentialless)/.exec(headers.get("document-isolation-policy") ?? "");
    const isolation = policy?.[1] as Isolation;
    this.#isolations.set(clientId, { isolation });
    this.#latestIsolation = isolation ?? this.#latestIsolation;
  }

  /** Blank frames and workers are taken to be an isolated document's, where there is such a document. */
  isolationOf(clientId: string): Isolation {
    const known = this.#isolations.get(clientId);
    return known === undefined ? this.#latestIsolation : known.isolation;
  }

  acknowledge(id: number): void {
    this.#acknowledged.get(id)?.();
  }

  #setBusy(port: MessagePort, isBusy: boolean): void {
    if (isBusy) this.#busyPorts.add(port);
    else this.#busyPorts.delete(port);
    const busy = this.#busyPorts.size > 0;
    if (busy === (this.#busyTimer !== null)) return;
    if (this.#busyTimer !== null) clearTimeout(this.#busyTimer);
    this.#busyTimer = null;
    if (busy) this.#busyTimer = setTimeout(() => this.#keepAlive(KEEP_ALIVE_INTERVAL), LONG_BODY);
    else if (this.#keepingAlive) this.#keepAlive(0);
  }

  /** A page keeps the worker running. Where the worker that wanted that was ended since, the page may stop. */
  hearKeepAlive(page: { postMessage(message: WorkerToPage): void } | null): void {
    if (!this.#keepingAlive) page?.postMessage({ tag: MESSAGE_TAG, type: "keep-alive", interval: 0 });
  }

  #keepAlive(interval: number): void {
    this.#keepingAlive = interval > 0;
    this.#tellAll({ tag: MESSAGE_TAG, type: "keep-alive", interval });
  }

  #setSavesData(isOn: boolean): void {
    if (isOn !== this.#savesData) this.#tellAll({ tag: MESSAGE_TAG, type: "saves-data", isOn });
    this.#savesData = isOn;
  }

  #tellAll(message: WorkerToPage): void {
    void self.clients
      .matchAll({ type: "window", includeUncontrolled: true })
      .then((pages) => this.#tell(pages, message));
  }

  #tell(pages: readonly Client[], message: WorkerToPage): void {
    for (const page of pages) page.postMessage(message);
  }
}

/** Boot pages and placeholders of frames stay for a while, or for good, and do not answer. */
function hasPageScript({ url }: Client): boolean {
  const { origin } = self.location;
  return url.startsWith(`${origin}/`) && !url.startsWith(origin + RESERVED_PATH);
}

function isBootPage({ url }: Pick<Client, "url">): boolean {
  return url.startsWith(self.location.origin + ropewayPath.boot);
}

function withoutFragment(url: string): string {
  return url.split("#", 1)[0] ?? url;
}

/** The answer, or null where that takes long. */
function soon<T>(promise: Promise<T>): Promise<T | null> {
  return Promise.race([promise, new Promise<null>((resolve) => setTimeout(() => resolve(null), PORT_TIMEOUT))]);
}

/** The answers that are there a moment after the first. */
async function firstAnswers(asked: readonly Promise<TunnelPort | null>[]): Promise<TunnelPort[]> {
  const ports: TunnelPort[] = [];
  await new Promise<void>((resolve) => {
    const all = asked.map(async (answer) => {
      const port = await answer;
      if (port !== null) ports.push(port);
      if (port !== null) setTimeout(resolve, ACKNOWLEDGE_TIMEOUT);
    });
    void Promise.all(all).then(() => resolve());
  });
  return ports;
}

/** Features that no browser grants without a question. */
const ASKED_FOR =
  "camera clipboard-read geolocation idle-detection local-fonts microphone midi notifications window-management";

/**
 * The state of a host of a list, by which the shell decides whether another origin may have it (decision 30).
 *
 * @param askerId client that asks.
 * @param isBusy something is under way for a page, which may be there no more.
 */
export async function slotCondition(askerId: string, isBusy: boolean): Promise<SlotCondition> {
  // Also clients without a worker: a page could have unregistered it.
  const clients = await self.clients.matchAll({ type: "all", includeUncontrolled: true });
  const isAlone = !isBusy && clients.every(({ id }) => id === askerId);
  return { isAlone, permissions: await grantedPermissions(self.navigator.permissions) };
}

async function grantedPermissions(permissions: Permissions): Promise<readonly string[]> {
  const states = await Promise.all(
    ASKED_FOR.split(" ").map(async (name) => {
      // A browser without such a thing has no name for it.
      const status = await permissions.query({ name: name as PermissionName }).catch(() => null);
      return { name, isGranted: status?.state === "granted" };
    }),
  );
  return states.filter(({ isGranted }) => isGranted).map(({ name }) => name);
}
