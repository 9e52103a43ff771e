import { afterEach, describe, expect, it, vi } from "vitest";
import { type Ask, type AskAnswer, type Asks, MESSAGE_TAG } from "../../messages/page-messages.ts";
import { answerTo, forgetAnswers, siteAnswers } from "../app/site-answers.ts";
import type { Slot } from "../frames/places.ts";
import type { FrameNote, PageMessage } from "../frames/slot-services.ts";
import { MapStorage } from "../testing/map-storage.ts";
import { isInAllow, Permissions, type PermissionsOptions } from "./permissions.ts";

const [A, B, PLAIN] = ["https://a.example", "https://b.example", "http://a.example"] as const;
const HERE = { coords: { latitude: 1, longitude: 2, accuracy: 3 }, timestamp: 4 };
const PLACE: Ask = { kind: "position", isWatch: false, options: {} };
const WATCH: Ask = { ...PLACE, isWatch: true };
const COPIED: Ask = { kind: "clipboard", isText: true };

afterEach(() => void vi.useRealTimers());

const slotOf = (origin: string, topLevelOrigin = origin): Slot => ({
  label: new URL(origin).host,
  origin,
  topLevelOrigin,
  topLevel: origin === topLevelOrigin,
});

/** One tab for each site, of which the first is in front; and a browser that gives what it is asked for. */
function openApp({
  browser = "granted" as PermissionState,
  areUsedAgain = false,
  frames = [] as FrameNote[],
  readText = async () => "copied",
} = {}) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const log: string[] = [];
  const storage = new MapStorage();
  const windows = [A, B, PLAIN].map((origin) => ({
    tab: { origins: [origin], state: { url: `${origin}/` }, reload: () => void log.push(`reload ${origin}`) },
    frame: { element: { allow: "fullscreen *", contentWindow: { origin } } },
  }));
  let [shown] = windows;
  const watching = new Set<(found: object) => void>();
  let draws = 0;
  const status = { state: browser, addEventListener() {} };
  const own = (origin: string) => origin.replace(".example", ".slot");
  const permissions = new Permissions({
    app: {
      draw() {
        draws += 1;
      },
    },
    tabs: {
      all: windows,
      of: (source: { at: number }) => windows[source.at] ?? null,
      get shown() {
        return shown;
      },
    },
    slots: {
      areUsedAgain,
      find: (origin: string) => (origin === PLAIN ? null : slotOf(origin)),
      originOf: ({ origin }: Slot) => own(origin),
      slotOf: (origin: string) => slotOf(...(origin.replaceAll(".slot", ".example").split(" in ") as [string])),
    },
    frames: () => ({ around: () => frames }),
    chrome: { focusPage: () => {} },
    openOutside: (address: string) => void log.push(`open ${address}`),
    navigator: {
      permissions: { query: async () => status },
      clipboard: { readText },
      geolocation: {
        getCurrentPosition: (found: (position: object) => void) => found(HERE),
        watchPosition: (found: (position: object) => void) => watching.add(found).size,
        clearWatch: (id: number) => void log.push(`clear ${id}`),
      },
    },
    storage,
    host: "ropeway.example",
  } as unknown as PermissionsOptions);
  const answers: AskAnswer[] = [];
  /** @param from the slot that speaks. */
  const ask = (wish: unknown, from: string = A, { at = 0, hasActed = true } = {}) => {
    const { port1, port2 } = new MessageChannel();
    const said: AskAnswer[] = [];
    port2.onmessage = ({ data }) => void (data.kind !== "heard" && said.push(data) && answers.push(data));
    permissions.hear({
      data: { tag: MESSAGE_TAG, type: "asks", ask: wish } as Asks,
      origin: own(from),
      source: { at },
      userActivation: { isActive: false, hasBeenActive: hasActed },
      ports: [port1],
    } as unknown as PageMessage);
    return { said, end: () => port2.postMessage(null), close: () => port2.close() };
  };
  const seen = async () => {
    await settled();
    return permissions.question;
  };
  const press = async (label: "Allow" | "Block" | "Not now") => {
    const question = await seen();
    if (label === "Not now") question?.onClose();
    else question?.offers.find(([name]) => name === label)?.[1]();
    await settled();
  };
  return {
    ...{ ask, answers, log, permissions, press, seen, status, storage, windows, watching },
    draws: () => draws,
    showTab: (at: number) => {
      shown = windows[at];
      void permissions.question;
    },
  };
}

/** Messages of ports take turns of the loop that fake timers do not stop. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

describe("a question", () => {
  it("names the site, and its answer holds for that feature of that site alone", async () => {
    const { ask, press, seen, storage } = openApp();
    const first = ask(PLACE);
    expect((await seen())?.text).toBe("a.example wants to know where this phone is");
    await press("Allow");
    expect(first.said).toMatchObject([{ kind: "position", coords: { latitude: 1, longitude: 2 }, timestamp: 4 }]);
    const again = ask(PLACE);
    expect(await seen()).toBeNull();
    expect(again.said).toMatchObject([{ kind: "position" }]);
    ask(COPIED);
    expect((await seen())?.text).toBe("a.example wants to read what you have copied");
    expect(answerTo(storage, B, "location")).toBeNull();
  });

  it("that is closed is not asked again while the page is there, and closed twice is a no", async () => {
    const { ask, press, seen, storage, windows } = openApp();
    const first = ask(PLACE);
    await press("Not now");
    expect(first.said).toMatchObject([{ kind: "failed", code: 1 }]);
    ask(PLACE);
    expect(await seen()).toBeNull();
    // The page is left, and opened again.
    const tab = windows[0]?.tab as { origins: string[] };
    tab.origins = [];
    expect(await seen()).toBeNull();
    tab.origins = [A];
    ask(PLACE);
    expect(await seen()).not.toBeNull();
    await press("Not now");
    expect(answerTo(storage, A, "location")).toBe("refused");
  });

  it("is one at a time, for the tab that is seen, and the same one is asked once", async () => {
    const { ask, answers, press, seen, showTab } = openApp();
    for (let count = 0; count < 20; count++) ask(PLACE);
    await seen();
    ask(COPIED);
    ask(PLACE, B, { at: 1 });
    expect((await seen())?.text).toContain("a.example wants to know");
    await press("Block");
    expect(answers).toHaveLength(20);
    expect((await seen())?.text).toContain("a.example wants to read");
    showTab(1);
    expect((await seen())?.text).toContain("b.example wants to know");
  });

  it("goes with the page that has asked", async () => {
    const { ask, seen, windows } = openApp();
    const { said } = ask(COPIED);
    expect(await seen()).not.toBeNull();
    Object.assign(windows[0]?.tab ?? {}, { origins: [B] });
    expect(await seen()).toBeNull();
    await settled();
    expect(said).toMatchObject([{ kind: "failed" }]);
  });

  it("is not asked where the browser does not let the app: the person hears that", async () => {
    const { ask, seen, storage } = openApp({ browser: "denied" });
    const { said } = ask(PLACE);
    const news = await seen();
    expect(news).toMatchObject({ text: expect.stringContaining("see its settings for ropeway.example"), offers: [] });
    expect(said).toMatchObject([{ kind: "failed", code: 1 }]);
    news?.onClose();
    expect(siteAnswers(storage)).toEqual([]);
  });

  it.each([
    [PLACE, "a.example wants to know where this phone is"],
    [COPIED, "a.example wants to read what you have copied"],
    [
      { kind: "media", features: ["microphone"], isDelegated: false } as const,
      "a.example wants to use the microphone. The page loads again then",
    ],
  ])("says that the browser asks, too, where it has not yet been granted anything: %j", async (wish, text) => {
    const { ask, seen } = openApp({ browser: "prompt" });
    ask(wish);
    expect((await seen())?.text).toBe(`${text}. The browser asks, too: once, for all of Ropeway`);
  });

  it("is forgotten with its site, and survives what is no answer", () => {
    const { storage } = openApp();
    storage.setItem(
      "ropeway.answers",
      JSON.stringify([{ origin: A, what: "location", answer: "allowed" }, null, 1, {}]),
    );
    expect(answerTo(storage, A, "location")).toBe("allowed");
    forgetAnswers(storage, (origin) => origin === A);
    expect(storage.getItem("ropeway.answers")).toBeNull();
    storage.setItem("ropeway.answers", "{");
    expect(siteAnswers(storage)).toEqual([]);
  });
});

describe("a page that is not encrypted", () => {
  it("has nothing, unasked", async () => {
    const { ask, seen, showTab } = openApp();
    showTab(2);
    const asked = [PLACE, COPIED, { kind: "media", features: ["camera"], isDelegated: true }].map((wish) =>
      ask(wish, PLAIN, { at: 2 }),
    );
    expect(await seen()).toBeNull();
    for (const { said } of asked) expect(said).toMatchObject([{ kind: "failed", code: 1 }]);
  });
});

describe("a place", () => {
  it("is watched until the script ends that, or its page, or the person changes their mind", async () => {
    const { ask, log, press, storage, watching } = openApp();
    const watch = ask(WATCH);
    await press("Allow");
    for (const found of watching) found(HERE);
    await settled();
    expect(watch.said).toHaveLength(1);
    watch.end();
    await settled();
    expect(log).toEqual(["clear 1"]);
    const other = ask(WATCH);
    await settled();
    storage.setItem("ropeway.answers", "[]");
    storage.setItem("ropeway.answers", JSON.stringify([{ origin: A, what: "location", answer: "refused" }]));
    for (const found of watching) found(HERE);
    await settled();
    expect(other.said).toMatchObject([{ kind: "failed", code: 1 }]);
    expect(log).toEqual(["clear 1", "clear 2"]);
  });

  it("is told to no page that the person does not see", async () => {
    const { ask, press, showTab, watching } = openApp();
    const watch = ask(WATCH);
    await press("Allow");
    showTab(1);
    for (const found of watching) found(HERE);
    const once = ask(PLACE);
    await settled();
    expect([...watch.said, ...once.said]).toEqual([]);
    showTab(0);
    await settled();
    expect(once.said).toMatchObject([{ kind: "position" }]);
  });
});

describe("what was copied", () => {
  it("is read in front alone, where the person has done something in the page", async () => {
    const { ask, press, seen } = openApp();
    const idle = ask(COPIED, A, { hasActed: false });
    const behind = ask(COPIED, B, { at: 1 });
    expect(await seen()).toBeNull();
    for (const { said } of [idle, behind]) expect(said).toMatchObject([{ kind: "failed" }]);
    const { said } = ask(COPIED);
    await press("Allow");
    expect(said).toEqual([{ kind: "clipboard", items: [{ "text/plain": "copied" }] }]);
  });

  it("fails as the browser has it; the settings are named where they are why", async () => {
    const unfocused = () => Promise.reject(new DOMException("Document is not focused.", "NotAllowedError"));
    const readText = vi.fn(unfocused);
    const { ask, press, seen, status } = openApp({ browser: "prompt", readText });
    const first = ask(COPIED);
    await press("Allow");
    expect(first.said).toEqual([{ kind: "failed", code: 1, message: "Document is not focused." }]);
    expect(await seen()).toBeNull();
    readText.mockImplementationOnce(() => {
      status.state = "denied";
      return unfocused();
    });
    const second = ask(COPIED);
    await settled();
    expect(second.said).toMatchObject([{ kind: "failed" }]);
    expect((await seen())?.text).toContain("see its settings");
  });
});

describe.each([
  [["camera"], "the camera"],
  [["microphone"], "the microphone"],
  [["camera", "microphone"], "the camera and the microphone"],
] as const)("%j", (features, named) => {
  const media = (isDelegated: boolean): Ask => ({ kind: "media", features, isDelegated });

  it("is the page's host's alone, from when the page loads again; and is taken back so", async () => {
    const { ask, log, press, seen, storage, windows } = openApp();
    const { said } = ask(media(false));
    expect((await seen())?.text).toBe(`a.example wants to use ${named}. The page loads again then`);
    await press("Allow");
    expect(log).toEqual(["reload https://a.example"]);
    expect(said).toEqual([]);
    const allow = ["fullscreen *", ...features.map((each) => `${each} https://a.slot`)].join("; ");
    for (const { frame } of windows) expect(frame.element.allow).toBe(allow);
    const next = ask(media(true));
    expect(await seen()).toBeNull();
    expect(next.said).toEqual([{ kind: "allowed" }]);
    forgetAnswers(storage, () => true);
    expect(await seen()).toBeNull();
    for (const { frame } of windows) expect(frame.element.allow).toBe("fullscreen *");
    expect(log).toEqual(["reload https://a.example", "reload https://a.example"]);
  });

  it("is no page's where hosts go from site to site", async () => {
    const { ask, seen, windows, storage } = openApp({ areUsedAgain: true });
    const { said } = ask(media(false));
    expect(await seen()).toMatchObject({ offers: [] });
    expect(said).toMatchObject([{ kind: "failed" }]);
    const answers = features.map((what) => ({ origin: A, what, answer: "allowed" }));
    storage.setItem("ropeway.answers", JSON.stringify(answers));
    await seen();
    expect(windows[0]?.frame.element.allow).toBe("fullscreen *");
  });
});

it("tells nobody where the phone is once another site is in the tab, though the port lives on", async () => {
  const { ask, press, log, watching, windows } = openApp();
  const { said } = ask({ ...PLACE, isWatch: true });
  await press("Allow");
  for (const found of watching) found(HERE);
  await settled();
  const before = said.length;
  expect(before).toBeGreaterThan(0);
  Object.assign(windows[0]?.tab ?? {}, { origins: [B] });
  for (const found of watching) found(HERE);
  await settled();
  expect(said.slice(before).filter(({ kind }) => kind === "position")).toEqual([]);
  expect(ask(PLACE).said.filter(({ kind }) => kind === "position")).toEqual([]);
  expect(log).toContain("clear 1");
});

it("asks for one other app of a site at a time, and for none with a name that no app has", async () => {
  const { permissions, seen, press } = openApp();
  permissions.openApp(`${"x".repeat(100)}:1`, A, true);
  expect(await seen()).toBeNull();
  for (const scheme of ["one", "two", "three"]) permissions.openApp(`${scheme}:1`, A, true);
  expect((await seen())?.text).toContain("(one:)");
  await press("Not now");
  expect(await seen()).toBeNull();
});

describe("a frame of another site", () => {
  const note = { allow: "geolocation", url: `${B}/x`, label: "a", origin: A };
  const IN_PAGE = `${B} in ${A}`;
  const C = "https://c.example";
  const inC = { ...note, origin: C };

  it.each([
    ["that the page lets have it asks in the page's name", [note], true],
    ["that the page lets have nothing is refused", [{ ...note, allow: "camera *" }], false],
    ["that has gone to another site than the page has named is refused", [{ ...note, url: `${C}/` }], false],
    ["that a page of its own or a redirect has led elsewhere is refused", [{ ...note, url: "" }], false],
    ["is refused where nobody speaks for it", [], false],
    ["is refused where another site than the page's lets it", [inC], false],
    ["in another one has it where both are let", [inC, { ...note, url: C }], true],
    ["in another one is refused where that is not let", [inC, { ...note, url: C, allow: "" }], false],
  ])("%s", async (_title, frames, isLet) => {
    const { ask, seen } = openApp({ frames });
    const { said } = ask(PLACE, IN_PAGE);
    expect((await seen())?.text ?? null).toBe(isLet ? "a.example wants to know where this phone is" : null);
    expect(said).toMatchObject(isLet ? [] : [{ kind: "failed", code: 1 }]);
  });

  it("has its camera from the browser, by what the page lets it have of its own", async () => {
    const { ask, seen } = openApp();
    const { said } = ask({ kind: "media", features: ["camera"], isDelegated: false }, IN_PAGE);
    expect(await seen()).toBeNull();
    expect(said).toEqual([{ kind: "allowed" }]);
  });
});

describe("isInAllow", () => {
  const inFrame = { inside: B, around: A, url: `${B}/x` };
  it.each([
    ["geolocation", true],
    ["camera; geolocation *", true],
    ["geolocation 'src'", true],
    [`geolocation 'self' ${B}`, true],
    ["geolocation 'self'", false],
    ["geolocation 'none'", false],
    ["geolocation https://c.example", false],
    ["geolocations", false],
    ["", false],
  ])("reads %j", (allow, isLet) => {
    expect(isInAllow("geolocation", allow, inFrame)).toBe(isLet);
  });
});

describe("a state", () => {
  const STATE: Ask = { kind: "state", feature: "location" };

  it("is told anew when the person has answered", async () => {
    const { ask, press, seen } = openApp();
    const { said } = ask(STATE);
    await settled();
    ask(PLACE);
    await press("Allow");
    expect(await seen()).toBeNull();
    await settled();
    expect(said).toEqual([
      { kind: "state", state: "prompt" },
      { kind: "state", state: "granted" },
    ]);
  });

  it("is what the browser says where that would ask, or has refused", async () => {
    for (const browser of ["prompt", "denied"] as const) {
      const { ask, storage } = openApp({ browser });
      storage.setItem("ropeway.answers", JSON.stringify([{ origin: A, what: "location", answer: "allowed" }]));
      const { said } = ask(STATE);
      await settled();
      expect(said).toEqual([{ kind: "state", state: browser }]);
    }
  });
});

describe("a password", () => {
  it("is warned of once at each site, with the name that the browser has for it, where hosts stay with their sites", async () => {
    const { ask, seen, showTab, storage } = openApp();
    const { said } = ask({ kind: "password" });
    const warning = await seen();
    expect(warning).toMatchObject({
      text: expect.stringMatching(/other sites here, too.*are named a\.slot$/),
      offers: [],
    });
    expect(said).toEqual([]);
    warning?.onClose();
    ask({ kind: "password" });
    expect(await seen()).toBeNull();
    showTab(1);
    ask({ kind: "password" }, B, { at: 1 });
    const other = await seen();
    expect(other?.text).toMatch(/ b\.slot$/);
    other?.onClose();
    forgetAnswers(storage, (origin) => origin === A);
    expect([A, B].map((site) => answerTo(storage, site, "password"))).toEqual([null, "put off"]);
  });

  it("is warned of at each site, and is not to be filled in, where hosts go from site to site", async () => {
    const { ask, seen, showTab } = openApp({ areUsedAgain: true });
    const { said } = ask({ kind: "password" });
    const warning = await seen();
    expect(warning?.text).toContain("neither save nor fill in");
    expect(said).toEqual([{ kind: "shared" }]);
    warning?.onClose();
    ask({ kind: "password" });
    expect(await seen()).toBeNull();
    showTab(1);
    ask({ kind: "password" }, B, { at: 1 });
    expect(await seen()).not.toBeNull();
  });
});

describe("another app", () => {
  it("opens where the person lets the site, by each scheme", async () => {
    const { log, permissions, press, seen } = openApp();
    permissions.openApp("mailto:x@a.example", A, true);
    expect((await seen())?.text).toBe("a.example wants to open another app (mailto:)");
    await press("Allow");
    permissions.openApp("mailto:y@a.example", A, true);
    expect(log).toEqual(["open mailto:x@a.example", "open mailto:y@a.example"]);
    // Another site has led there.
    permissions.openApp("mailto:z@a.example", A, true, false);
    await press("Block");
    permissions.openApp("mailto:z@a.example", A, true);
    permissions.openApp("tel:1", A, false);
    expect(await seen()).toBeNull();
    permissions.openApp("tel:1", A, true);
    expect((await seen())?.text).toContain("(tel:)");
    expect(log).toHaveLength(2);
  });

  it.each([
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    " data:text/html,x",
    "blob:https://ropeway.example/1",
    "intent://x#Intent;S.browser_fallback_url=https%3A%2F%2Fa.example;end",
    "view-source:https://a.example",
    "web+x:1",
    "file:///etc",
    "chrome://version",
    "https://a.example",
    "no address",
  ])("is none that %s leads to", async (address) => {
    const { log, permissions, seen } = openApp();
    permissions.openApp(address, A, true);
    expect(await seen()).toBeNull();
    expect(log).toEqual([]);
  });
});

describe("a forged message", () => {
  it.each([null, 7, {}, { kind: "state", feature: "constructor" }, { kind: "media", features: null }, { kind: "x" }])(
    "comes to nothing: %j",
    async (wish) => {
      const { ask, seen, storage } = openApp();
      ask(wish);
      expect(await seen()).toBeNull();
      expect(siteAnswers(storage)).toEqual([]);
    },
  );

  it("without a place in a tab, or of no slot, is not heard", async () => {
    const { ask, seen } = openApp();
    ask(PLACE, A, { at: 9 });
    expect(await seen()).toBeNull();
  });

  it("that is sent again and again keeps no more than a bound", async () => {
    const { ask, log, press, watching } = openApp();
    ask(WATCH);
    await press("Allow");
    for (let count = 0; count < 250; count++) ask(WATCH);
    await settled();
    expect(watching.size - log.length).toBe(200);
  });

  it("of pages behind takes nothing from the page in front", async () => {
    const { ask, press, seen, showTab, windows } = openApp();
    const media = (...features: string[]) => ({ kind: "media", features, isDelegated: false });
    const here = ask(PLACE);
    const kinds = [media("camera"), media("microphone"), media("camera", "microphone"), { kind: "password" }];
    for (const wish of kinds) ask(wish, B, { at: 1 });
    (windows[2] as { tab: { origins: string[] } }).tab.origins = [B];
    for (const wish of kinds) ask(wish, B, { at: 2 });
    for (let count = 0; count < 250; count++) ask(PLACE, B, { at: 1 });
    await settled();
    const copied = ask(COPIED);
    expect((await seen())?.text).toContain("a.example wants to know where");
    await press("Allow");
    expect(here.said).toMatchObject([{ kind: "position" }]);
    expect((await seen())?.text).toContain("a.example wants to read what you have copied");
    await press("Allow");
    expect(copied.said).toMatchObject([{ kind: "clipboard" }]);
    showTab(1);
    expect((await seen())?.text).toContain("b.example wants");
  });

  it("that is sent again and again draws its question once, and the first ones are refused", async () => {
    const { ask, draws, press, seen } = openApp();
    const asked = Array.from({ length: 250 }, () => ask(PLACE));
    expect(await seen()).not.toBeNull();
    expect(draws()).toBe(1);
    await press("Allow");
    const told = asked.map(({ said }) => said[0]?.kind);
    expect(told.slice(-200)).toEqual(Array(200).fill("position"));
    expect(told.slice(0, 50)).not.toContain("position");
  });
});
