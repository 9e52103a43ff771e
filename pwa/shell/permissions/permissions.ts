/**
 * What sites ask of the person: location, clipboard, camera, microphone. The browser asks once, for the app, and then lets it
 * have them for good. So the app asks for each site, in its own words, and passes on no more than the person allows. Places
 * and what was copied come from here: no page holds the browser's grant. A camera or a microphone cannot be passed on, so the
 * frame's policy lets the host of that one site have it, from the next document on. Loads late, with the first question.
 */
import { later } from "../../../shared/errors.ts";
import { opensOtherApp } from "../../../shared/web/origin.ts";
import type { Ask, AskAnswer, AskedFeature } from "../../messages/page-messages.ts";
import type { App } from "../app/app.ts";
import { t } from "../app/language.ts";
import type { KeyValueStorage } from "../app/settings.ts";
import { ANSWERS_KEY, type AskedOfPerson, answerTo, keepAnswer, siteAnswers } from "../app/site-answers.ts";
import type { Question } from "../app/state.ts";
import type { Slot } from "../frames/places.ts";
import type { SlotFrames } from "../frames/slot-frames.ts";
import type { FrameNote, PageMessage, SlotServices } from "../frames/slot-services.ts";
import type { Tabs } from "../tab/tabs.ts";
import type { AppWindow } from "../tab/windows.ts";

/** By the names that the browser and policies use. */
const NAMES: Readonly<Record<AskedFeature, string>> = {
  location: "geolocation",
  clipboard: "clipboard-read",
  camera: "camera",
  microphone: "microphone",
};

const WANTS: Readonly<Record<string, string>> = {
  location: later("{site} wants to know where this phone is"),
  clipboard: later("{site} wants to read what you have copied"),
  camera: later("{site} wants to use the camera"),
  microphone: later("{site} wants to use the microphone"),
  "camera microphone": later("{site} wants to use the camera and the microphone"),
  password: later("{site} wants to be given a password"),
};

/** Characters; any that an app has is shorter, and the question shows it. */
const LONGEST_SCHEME = 32;

/** Wishes of a window's pages at a time; the oldest goes where one more comes. */
const MOST_ASKS = 200;

/** Questions of a window that wait; a page that has more gets no for an answer. */
const MOST_QUESTIONS = 8;

const COORDINATES = [
  ...(["latitude", "longitude", "altitude", "accuracy", "altitudeAccuracy", "heading", "speed"] as const),
];

export interface PermissionsOptions {
  readonly app: Pick<App, "draw">;
  readonly tabs: Pick<Tabs, "all" | "of" | "shown">;
  /** Null where no page runs scripts. */
  readonly slots: Pick<SlotFrames, "areUsedAgain" | "find" | "originOf" | "slotOf"> | null;
  readonly frames: () => SlotServices["frames"];
  readonly chrome: { focusPage(): void };
  /** Hands an address to the app of the phone that opens such. */
  readonly openOutside: (address: string) => void;
  readonly navigator: Pick<Navigator, "geolocation" | "clipboard" | "permissions">;
  readonly storage: KeyValueStorage;
  /** The app's own, as the browser's settings name it. */
  readonly host: string;
}

/** A script's wish, and where it comes from. */
interface Wish {
  readonly slot: Slot;
  readonly source: Window;
  readonly from: AppWindow;
  /** The person has done something in the document. */
  readonly hasActed: boolean;
  readonly say: (answer: AskAnswer) => void;
  /** Ends all that hangs on it. */
  over: () => void;
}

interface Pending {
  readonly site: string;
  readonly features: readonly AskedOfPerson[];
  readonly from: AppWindow;
  readonly text: string;
  /** The browser has refused: there is nothing to be answered. */
  readonly isNews: boolean;
  readonly settle: ((isAllowed: boolean) => void)[];
}

export class Permissions {
  readonly #options: PermissionsOptions;
  readonly #browser = new Map<AskedFeature, PermissionStatus | null>();
  readonly #wishes = new Set<Wish>();
  readonly #states = new Map<Wish, { readonly feature: AskedFeature; last: PermissionState | null }>();
  /** For whoever waits until the person sees the page. */
  #waiting: readonly { readonly from: AppWindow; readonly resolve: () => void }[] = [];
  #pending: readonly Pending[] = [];
  /** Sites and features whose question got no yes in this visit. */
  #putOff: readonly Pick<Pending, "site" | "features">[] = [];
  /** Features that frames may have beside those of all. */
  #delegated: ReadonlySet<string> = new Set();
  readonly #ofAll = new WeakMap<HTMLIFrameElement, string>();

  constructor(options: PermissionsOptions) {
    this.#options = options;
  }

  /** Of the page that the person sees. Is asked for whenever something may have changed. */
  get question(): Question | null {
    this.#lookAround();
    const next = this.#pending.find(({ from }) => this.#isInFront(from)) ?? null;
    if (next === null) return null;
    const answers = [
      [t("Allow"), () => this.#settle(next, "allowed")],
      [t("Block"), () => this.#settle(next, "refused")],
    ] as const;
    const offers = next.isNews ? [] : answers;
    const closing = next.isNews ? t("Dismiss") : t("Not now");
    return { text: next.text, offers, closing, onClose: () => this.#settle(next, "closed") };
  }

  /** @param event whatever a page says. */
  hear(event: PageMessage): void {
    const { tabs, slots } = this.#options;
    const { data, origin, userActivation, ports } = event;
    const [source, slot, port] = [event.source as Window, slots?.slotOf(origin), ports[0]];
    const from = tabs.of(source);
    if (data?.type !== "asks" || !slot || from === null || port === undefined) return;
    // Where the browser does not tell, what was done anywhere in the app.
    const hasActed =
      (userActivation === undefined ? navigator.userActivation.isActive : userActivation?.hasBeenActive) === true;
    const { ask } = data;
    const say = (answer: AskAnswer) => port.postMessage(answer);
    const wish: Wish = { slot, source, from, hasActed, say, over: () => {} };
    say({ kind: "heard" });
    for (const type of ["message", "close"]) port.addEventListener(type, () => this.#end(wish));
    port.start();
    const [first, ...others] = [...this.#wishes].filter((each) => each.from === from);
    if (first !== undefined && others.length + 1 >= MOST_ASKS) this.#end(first);
    this.#wishes.add(wish);
    void this.#grant(ask, wish).catch((error: Error) => {
      say({ kind: "failed", code: error.name === "NotAllowedError" ? 1 : 2, message: error.message });
    });
  }

  async #grant(ask: Ask, wish: Wish): Promise<void> {
    switch (ask?.kind) {
      case "state":
        if (Object.hasOwn(NAMES, ask.feature)) await this.#tellState(ask.feature, wish);
        return;
      case "position":
        return this.#tellPosition(wish, ask);
      case "clipboard":
        return this.#tellClipboard(wish, ask.isText === true);
      case "media":
        return this.#openMedia(wish, ask);
      case "password":
        return this.#warnOfPasswords(wish);
    }
  }

  /**
   * The page in front has an address of another app's: it stays, and the app opens where the person lets the site.
   *
   * @param isActive the person has just tapped.
   * @param isOwn false: another site has led there, and the answer "allowed" to this one does not count.
   */
  openApp(address: string, site: string, isActive: boolean, isOwn = true): void {
    const { storage, tabs } = this.#options;
    const { protocol, href } = URL.parse(address) ?? { protocol: "", href: "" };
    if (!opensOtherApp(protocol) || protocol.length > LONGEST_SCHEME) return;
    const isOfApp = (each: Pick<Pending, "site" | "features">) =>
      each.site === site && each.features[0]?.startsWith("app:") === true;
    const what = `app:${protocol.slice(0, -1)}` as const;
    const answer = answerTo(storage, site, what);
    const open = () => this.#options.openOutside(href);
    const isAsked = this.#pending.some((each) => isOfApp(each) && each.features[0] !== what);
    if (answer === "allowed" && isActive && isOwn) open();
    // A page can make up any number of schemes.
    else if (answer !== "refused" && !isAsked && (isActive || !this.#putOff.some(isOfApp)))
      void this.#ask(site, [what], { from: tabs.shown }, null).then((isAllowed) => isAllowed && open());
  }

  #end(wish: Wish): void {
    this.#wishes.delete(wish);
    this.#states.delete(wish);
    wish.over();
    wish.over = () => {};
  }

  async #tellState(feature: AskedFeature, wish: Wish): Promise<void> {
    await this.#browserState(feature);
    if (!this.#wishes.has(wish)) return;
    this.#states.set(wish, { feature, last: null });
    this.#tellStates();
  }

  #tellStates(): void {
    for (const [wish, told] of this.#states) {
      const state = this.#stateOf(told.feature, wish);
      if (state !== told.last) wish.say({ kind: "state", state });
      told.last = state;
    }
  }

  #stateOf(feature: AskedFeature, wish: Wish): PermissionState {
    const site = this.#siteOf(feature, wish);
    const answer = site === null ? "refused" : answerTo(this.#options.storage, site, feature);
    const browser = this.#browser.get(feature)?.state ?? "granted";
    if (answer === "refused" || browser === "denied") return "denied";
    return answer === "allowed" ? browser : "prompt";
  }

  async #tellPosition(wish: Wish, { isWatch, options }: Ask & { kind: "position" }): Promise<void> {
    const { geolocation } = this.#options.navigator;
    await this.#inFront(wish.from);
    if (!(await this.#mayHave(["location"], wish)))
      return wish.say({ kind: "failed", code: 1, message: "User denied Geolocation" });
    if (!this.#wishes.has(wish)) return;
    const found = ({ coords, timestamp }: GeolocationPosition) => {
      // The person may have changed their mind, or look at another page.
      if (this.#stateOf("location", wish) === "denied") return fail({ code: 1, message: "User denied Geolocation" });
      const plain = Object.fromEntries(COORDINATES.map((name) => [name, coords[name]]));
      if (isWatch && !this.#isInFront(wish.from)) return;
      void this.#inFront(wish.from).then(() => wish.say({ kind: "position", coords: plain, timestamp }));
    };
    const fail = ({ code, message }: Pick<GeolocationPositionError, "code" | "message">) => {
      if (code === 1) {
        this.#end(wish);
        void this.#tellRefusal(["location"], wish);
      }
      wish.say({ kind: "failed", code, message });
    };
    if (!isWatch) return geolocation.getCurrentPosition(found, fail, options);
    const id = geolocation.watchPosition(found, fail, options);
    wish.over = () => geolocation.clearWatch(id);
  }

  async #tellClipboard(wish: Wish, isText: boolean): Promise<void> {
    const { clipboard } = this.#options.navigator;
    if (!wish.hasActed || !this.#isInFront(wish.from) || !(await this.#mayHave(["clipboard"], wish)))
      return wish.say({ kind: "failed", code: 1, message: "Read permission denied." });
    try {
      const items = isText ? [{ "text/plain": await clipboard.readText() }] : await readItems(clipboard);
      if (this.#wishes.has(wish)) wish.say({ kind: "clipboard", items });
    } catch (error) {
      // Else the window has not the focus, or the person has said no to the browser.
      if ((await this.#browserState("clipboard")) === "denied") void this.#tellRefusal(["clipboard"], wish);
      throw error;
    }
  }

  /**
   * The browser offers passwords by host, those of other hosts of the same domain with their names (Chromium 156 fills in none
   * by itself in a frame such as a page's, `password_form_filling.cc`). The hosts of a list were other sites' before.
   */
  #warnOfPasswords({ slot, from, say }: Wish): void {
    const { slots, storage } = this.#options;
    if (slots === null) return;
    const { host } = new URL(slots.originOf(slot));
    const [why, isKnown] = slots.areUsedAgain
      ? [t("The browser cannot tell sites apart here: let it neither save nor fill in any"), false]
      : [
          t("The browser offers those of other sites here, too. This site’s are named {host}", { host }),
          answerTo(storage, slot.topLevelOrigin, "password") !== null,
        ];
    if (slots.areUsedAgain) say({ kind: "shared" });
    if (!isKnown) void this.#ask(slot.topLevelOrigin, ["password"], { from }, why);
  }

  /** In a frame of another site the browser answers, by what the page lets that have of its own. */
  async #openMedia(wish: Wish, { features, isDelegated }: Ask & { kind: "media" }): Promise<void> {
    const asked = (["camera", "microphone"] as const).filter((each) => [features].flat().includes(each));
    const { from, slot } = wish;
    if (!slot.topLevel) return wish.say({ kind: "allowed" });
    const isOpen = isDelegated === true;
    if (asked.length === 0 || !(await this.#mayHave(asked, wish, isOpen)))
      return wish.say({ kind: "failed", code: 1, message: "Permission denied" });
    if (isOpen) return wish.say({ kind: "allowed" });
    this.#delegate();
    // The page that has asked may be gone.
    if (this.#wishes.has(wish)) from.tab.reload();
  }

  /** Asks the person, where they have not answered yet. @param isAtOnce the page does not have to be loaded again for it. */
  async #mayHave(features: readonly AskedFeature[], wish: Wish, isAtOnce = true): Promise<boolean> {
    const { storage, slots } = this.#options;
    const sites = features.map((feature) => this.#siteOf(feature, wish));
    const [site = null] = sites;
    if (site === null || sites.includes(null)) return false;
    const answers = features.map((feature) => answerTo(storage, site, feature));
    if (answers.includes("refused")) return false;
    const states = await Promise.all(features.map((feature) => this.#browserState(feature)));
    const isMedia = features.some((feature) => feature === "camera" || feature === "microphone");
    // A grant of one site must not be there for the next.
    if (isMedia && slots?.areUsedAgain)
      return this.#ask(site, features, wish, t("Your edge’s hosts go from site to site, so no page has it here"));
    if (states.includes("denied")) return this.#tellRefusal(features, wish);
    if (isAtOnce && answers.every((answer) => answer === "allowed")) return true;
    const effects = [
      ...(isAtOnce ? [] : [t("The page loads again then")]),
      ...(states.includes("prompt") ? [t("The browser asks, too: once, for all of Ropeway")] : []),
    ];
    return this.#ask(site, features, wish, null, effects);
  }

  #tellRefusal(features: readonly AskedFeature[], wish: Wish): Promise<boolean> {
    const site = this.#siteOf(features[0] ?? "location", wish);
    const { host } = this.#options;
    const why = t("The browser does not let Ropeway: see its settings for {host}", { host });
    return site === null ? Promise.resolve(false) : this.#ask(site, features, wish, why);
  }

  /** @param why there is nothing to be answered; null: there is. @param effects of a yes. */
  #ask(
    site: string,
    features: readonly AskedOfPerson[],
    { from }: Pick<Wish, "from">,
    why: string | null,
    effects: readonly string[] = [],
  ): Promise<boolean> {
    const isSame = (each: Pick<Pending, "site" | "features">) =>
      each.site === site && each.features.join() === features.join();
    if (this.#putOff.some(isSame)) return Promise.resolve(false);
    const known = this.#pending.find((each) => isSame(each) && each.from === from);
    const own = this.#pending.filter((each) => each.from === from);
    if (known === undefined && own.length >= MOST_QUESTIONS) return Promise.resolve(false);
    const scheme = `${features.join().replace("app:", "")}:`;
    const wants = WANTS[features.join(" ")] ?? later("{site} wants to open another app ({scheme})");
    const text = [t(wants, { site: new URL(site).host, scheme }), ...(why === null ? effects : [why])].join(". ");
    const pending = known ?? { site, features, from, text, isNews: why !== null, settle: [] };
    const answered = new Promise<boolean>((resolve) => pending.settle.push(resolve));
    // A page can ask without end: what it wanted first is over by then.
    if (pending.settle.length > MOST_ASKS) pending.settle.shift()?.(false);
    if (known === undefined) {
      this.#pending = [...this.#pending, pending];
      this.#options.app.draw();
    }
    return pending.isNews ? Promise.resolve(false) : answered;
  }

  /** Closed twice, a question is answered with no: a page could ask for ever. */
  #settle(pending: Pending, how: "allowed" | "refused" | "closed"): void {
    const { site, features, isNews, settle } = pending;
    const { storage, app, chrome, slots } = this.#options;
    this.#pending = this.#pending.filter((each) => each !== pending);
    if (how !== "allowed") this.#putOff = [...this.#putOff, { site, features }];
    // Said once for each site, as each has another name; where hosts stay with their sites.
    if (features[0] === "password" && slots?.areUsedAgain === false)
      keepAnswer(storage, { origin: site, what: "password", answer: "put off" });
    for (const what of isNews ? [] : features) {
      const before = answerTo(storage, site, what);
      if (how !== "closed") keepAnswer(storage, { origin: site, what, answer: how });
      // An answer that is there stays.
      else if (before !== "allowed")
        keepAnswer(storage, { origin: site, what, answer: before === null ? "put off" : "refused" });
    }
    for (const each of settle) each(how === "allowed");
    app.draw();
    chrome.focusPage();
  }

  /** The site in whose name the person is asked: the page's. Null: the document may not have it, as in any browser. */
  #siteOf(feature: AskedFeature, { slot, source, from }: Wish): string | null {
    const { origin, topLevel, topLevelOrigin } = slot;
    if (![origin, topLevelOrigin].every(isTrustworthy) || !shows(from, topLevelOrigin)) return null;
    if (topLevel) return topLevelOrigin;
    const notes = this.#options.frames().around(source, from.frame.element.contentWindow);
    return notes !== null && isLet(NAMES[feature], notes, slot) ? topLevelOrigin : null;
  }

  async #browserState(feature: AskedFeature): Promise<PermissionState> {
    const { navigator, app } = this.#options;
    if (!this.#browser.has(feature)) {
      const name = NAMES[feature] as PermissionName;
      // Not every browser has them all, and none asks then before it is wanted.
      const status = await navigator.permissions.query({ name }).catch(() => null);
      this.#browser.set(feature, status);
      status?.addEventListener("change", () => app.draw());
    }
    return this.#browser.get(feature)?.state ?? "granted";
  }

  #isInFront(from: AppWindow): boolean {
    return this.#options.tabs.shown === from;
  }

  /** Nobody is told where the phone is while the person looks at something else. */
  #inFront(from: AppWindow): Promise<void> {
    if (this.#isInFront(from)) return Promise.resolve();
    return new Promise((resolve) => {
      const own = this.#waiting.filter((each) => each.from === from).slice(1 - MOST_ASKS);
      this.#waiting = [...this.#waiting.filter((each) => each.from !== from), ...own, { from, resolve }];
    });
  }

  /** Something may have changed: the pages shown, what the person has answered, or what the browser has. */
  #lookAround(): void {
    const { tabs } = this.#options;
    const waiting = this.#waiting.filter(({ from }) => tabs.all.includes(from));
    this.#waiting = waiting.filter(({ from }) => !this.#isInFront(from));
    for (const { from, resolve } of waiting) if (this.#isInFront(from)) resolve();
    // A port may be handed on, to a worker that another tab keeps, and outlive its page.
    for (const wish of this.#wishes)
      if (!tabs.all.includes(wish.from) || !shows(wish.from, wish.slot.topLevelOrigin)) this.#end(wish);
    const isThere = ({ from, site }: Pending) => tabs.all.includes(from) && shows(from, site);
    const gone = this.#pending.filter((each) => !isThere(each));
    this.#pending = this.#pending.filter(isThere);
    for (const { settle } of gone) for (const each of settle) each(false);
    this.#putOff = this.#putOff.filter(({ site }) => tabs.all.some((each) => shows(each, site)));
    this.#tellStates();
    this.#delegate();
  }

  /** Frames may have what the person allows; a page that may no more is loaded again, since its document would go on. */
  #delegate(): void {
    const { tabs, slots, storage } = this.#options;
    const granted = siteAnswers(storage).filter(
      ({ what, answer }) =>
        /^(?:camera|microphone)$/.test(what) && answer === "allowed" && slots?.areUsedAgain === false,
    );
    const delegated = new Set(
      granted.flatMap(({ origin, what }) => {
        const slot = slots?.find(origin, origin) ?? null;
        return slot === null || slots === null ? [] : [`${what} ${slots.originOf(slot)}`];
      }),
    );
    const lost = [...this.#delegated].filter((each) => !delegated.has(each)).map((each) => each.split(" ")[1]);
    this.#delegated = delegated;
    for (const { frame, tab } of tabs.all) {
      const { element } = frame;
      const ofAll = this.#ofAll.get(element) ?? element.allow;
      this.#ofAll.set(element, ofAll);
      const allow = [ofAll, ...delegated].join("; ");
      if (element.allow !== allow) element.allow = allow;
      const origin = URL.parse(tab.state.url)?.origin ?? "";
      const slot = slots?.find(origin, origin);
      if (slot && lost.includes(slots?.originOf(slot))) tab.reload();
    }
  }
}

/** Once for the app. */
export function openPermissions(
  options: Omit<PermissionsOptions, "host" | "navigator" | "openOutside" | "storage">,
): Permissions {
  window.addEventListener("storage", ({ key }) => key === ANSWERS_KEY && options.app.draw());
  const openOutside = (address: string) => location.assign(address);
  return new Permissions({ ...options, navigator, openOutside, storage: localStorage, host: location.host });
}

/** Of the kinds that browsers read without a question of their own. */
async function readItems(clipboard: Clipboard): Promise<Record<string, Blob>[]> {
  const items = await clipboard.read();
  return Promise.all(
    items.map(async (item) => {
      const types = item.types.filter((type) => /^(?:text\/(?:plain|html)|image\/png)$/.test(type));
      return Object.fromEntries(
        await Promise.all(types.map(async (type) => [type, await item.getType(type)] as const)),
      );
    }),
  );
}

function shows({ tab }: AppWindow, site: string): boolean {
  return tab.origins.includes(site);
}

/** Secure Contexts section 3.1, "potentially trustworthy". */
function isTrustworthy(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === "https:" || /^(?:(?:.+\.)?localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

/**
 * Whether a frame of another site has a feature of the page, as the documents around it say by `allow` (Permissions Policy
 * section 9.7): each from the document around it.
 *
 * @param notes the innermost first. @param slot that is in the frame.
 */
function isLet(name: string, notes: readonly (FrameNote | undefined)[], { origin, topLevelOrigin }: Slot): boolean {
  const frames = notes.filter((note) => note !== undefined);
  return (
    frames.at(-1)?.origin === topLevelOrigin &&
    frames.every(({ allow, url, origin: around }, at) => {
      const inside = frames[at - 1]?.origin ?? origin;
      return inside === around || isInAllow(name, String(allow ?? ""), { inside, around, url });
    })
  );
}

/** @param inside the origin in the frame; `around` that of the document around it; `url` of its `src`. */
export function isInAllow(
  name: string,
  allow: string,
  { inside, around, url }: { readonly inside: string; readonly around: string; readonly url: string },
): boolean {
  const directive = allow
    .split(";")
    .map((each) => each.trim().split(/\s+/))
    .find(([feature]) => feature?.toLowerCase() === name);
  if (directive === undefined) return false;
  const [, ...sources] = directive;
  return (sources.length > 0 ? sources : ["'src'"]).some((source) => {
    if (source === "*") return true;
    if (source === "'self'") return inside === around;
    return URL.parse(source === "'src'" ? url : source)?.origin === inside;
  });
}
