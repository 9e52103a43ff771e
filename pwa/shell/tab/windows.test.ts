import { expect, it } from "vitest";
import { MESSAGE_TAG, type OpensWindow, type PageToShell, type WindowOrder } from "../../messages/page-messages.ts";
import type { Notice } from "../app/state.ts";
import type { Slot } from "../frames/places.ts";
import { type AppWindow, type WindowPlaces, Windows, type WindowsOptions } from "./windows.ts";

const slotOf = (origin: string): Slot => ({ label: origin, origin, topLevelOrigin: origin, topLevel: true });
const [A, B] = [slotOf("https://a.example"), slotOf("https://b.example")];

/** Tabs whose windows do nothing but write down what they are told. */
function openApp(slots = true, mostMeetings = 0) {
  const log: string[] = [];
  const allowed = ["allowed.example"];
  const notices: Notice[] = [];
  const meetings: (() => void)[] = [];
  const shell = { parent: null as unknown } as unknown as Window;
  (shell as { parent: Window }).parent = shell;
  const createWindow = (name: string) => {
    const page = {
      parent: shell,
      postMessage: (message: object, origin: string) => log.push(`${name} hears ${JSON.stringify(message)} ${origin}`),
    } as unknown as Window;
    const history = { depth: 0, canGoBack: false, leadsTo: () => false };
    const tab = {
      state: { url: "" },
      sendTo({ url, initiator }: { url: string; initiator: string | null }) {
        tab.state.url = url;
        log.push(`${name} to ${url} by ${initiator}`);
      },
      close: () => log.push(`${name} closes`),
      step: (delta: number, by: string) => log.push(`${name} ${by} ${delta}`) > 0 && delta === -2,
    };
    const frame = { element: { contentWindow: page, name: "" }, history, isOf: (source: Window) => source === page };
    return { page, history, tab, frame, window: { tab, frame } as unknown as AppWindow };
  };
  const first = createWindow("1");
  const made = [first];
  /** In the order in which they came to the front. */
  let all: readonly AppWindow[] = [first.window];
  const group = { isInFront: true, openedBy: "" };
  const places: WindowPlaces = {
    isShown: (window) => group.isInFront && all.at(-1) === window,
    isOfGroupShown: () => group.isInFront,
    hasRoomBeside: () => all.length < 9,
    openBeside(_, request, name, openedBy) {
      const { window, tab, frame } = createWindow(String(made.length + 1));
      made.push({ page: frame.element.contentWindow, history: frame.history, tab, frame, window } as typeof first);
      all = [...all, window];
      frame.element.name = name;
      group.openedBy = openedBy;
      window.tab.sendTo(request);
      return window;
    },
    openForPage({ url }, how, isAsked) {
      log.push(`tab ${how} for ${url}${isAsked ? ", asked" : ""}`);
      return !url.endsWith("one-too-many");
    },
    raise(window) {
      all = [...all.filter((each) => each !== window), window];
      log.push("raise");
    },
    closeWindow(window) {
      windows.onEnd(window);
      all = all.filter((each) => each !== window);
      log.push(`${made.findIndex((each) => each.window === window) + 1} ends`);
    },
  };
  const windows: Windows = new Windows({
    app: {
      notify: (notice: Notice) => notices.push(notice),
      state: { settings: { windowOpeners: allowed } },
    },
    slots: slots
      ? {
          find: (origin: string, top: string) =>
            [A, B].find((slot) => slot.origin === origin && slot.topLevelOrigin === top) ?? null,
          originOf: ({ origin }: Slot) => `slot of ${origin}`,
          meet({ origin }: Slot, onThere: () => void) {
            if (meetings.length === mostMeetings) return null;
            const id = `meeting ${meetings.push(onThere)}`;
            return { id, end: () => log.push(`${id} of ${origin} ends`) };
          },
        }
      : null,
    places,
  } as unknown as WindowsOptions);
  const speak = (from: number, message: PageToShell, slot: Slot, isActive = true) => {
    const { page, window } = made[from - 1] as (typeof made)[number];
    const userActivation = { isActive, hasBeenActive: isActive };
    return windows.take(message, slot, { source: page, from: window, ports: [], userActivation });
  };
  const open = (from: number, url: string, opens: OpensWindow, slot = A, isActive = true) => {
    const request = { method: "GET", headers: [], body: null, referrer: "", replace: false };
    return speak(from, { tag: MESSAGE_TAG, type: "navigate", url, ...request, opens }, slot, isActive);
  };
  const order = (from: number, act: WindowOrder["act"], slot: Slot, id?: string) =>
    speak(from, { tag: MESSAGE_TAG, type: "window", act, ...(id !== undefined && { id }) }, slot);
  const told = () => log.splice(0);
  const closeAll = () => {
    for (const window of all.slice(1).toReversed()) places.closeWindow(window);
  };
  const app = { windows, allowed, meetings, made, notices, group, places, open, order, told, closeAll };
  return Object.defineProperty(app, "count", { get: () => all.length }) as typeof app & { readonly count: number };
}

const heard = (window: number, id: string | null, news: object, origin: string) =>
  `${window} hears ${JSON.stringify({ tag: MESSAGE_TAG, type: "window", ...(id !== null && { id }), news })} ${origin}`;

it("carries messages between a window and its opener, for the origins that they name alone", () => {
  const { group, open, order, told } = openApp();
  expect(open(1, "https://b.example/", { id: "w", name: "" })).toBe(true);
  expect(told()).toEqual(["2 to https://b.example/ by https://a.example"]);
  expect(group.openedBy).toBe("https://a.example");

  const post = (targetOrigin: string) => ({ kind: "post", data: "hello", targetOrigin }) as const;
  order(1, post("https://b.example"), A, "w");
  order(2, post("https://a.example"), B);
  order(2, post("*"), B);
  order(2, post("https://c.example"), B);
  // No id of its own.
  order(2, post("*"), B, "w");
  const message = (origin: string) => ({ kind: "message", data: "hello", origin });
  expect(told()).toEqual([
    heard(2, null, message("https://a.example"), "slot of https://b.example"),
    heard(1, "w", message("https://b.example"), "slot of https://a.example"),
    heard(1, "w", message("https://b.example"), "*"),
  ]);
});

it("tells a window and its opener of one origin where they find each other, until they part", () => {
  const { meetings, made, windows, open, order, told } = openApp(true, 2);
  open(1, "https://b.example/", { id: "w", name: "pay" });
  expect(made[1]?.frame.element.name).toBe("ropeway-opened pay\nmeeting 1");
  expect(told()).toEqual(["2 to https://b.example/ by https://a.example"]);
  const news = { kind: "meeting", meeting: "meeting 1" };
  meetings[0]?.();
  expect(told()).toEqual([
    heard(2, null, news, "slot of https://a.example"),
    heard(1, "w", news, "slot of https://a.example"),
  ]);
  // The next document of the opener's gets the window by its name.
  open(1, "about:blank", { id: "x", name: "pay" });
  expect(told()).toEqual([heard(1, "x", news, "slot of https://a.example")]);
  order(2, { kind: "disown" }, B);
  expect(told()[0]).toBe("meeting 1 of https://a.example ends");
  meetings[0]?.();
  expect(told()).toEqual([]);
  if (made[1] !== undefined) windows.onEnd(made[1].window);
  expect(told()).toEqual([]);
});

it("opens windows that find no opener once there is no place to meet", () => {
  const { made, meetings, open, closeAll, told } = openApp(true, 2);
  for (const from of [1, 2, 3]) open(from, "https://a.example/", { id: "w", name: "w" });
  expect([made.at(-1)?.frame.element.name, meetings.length]).toEqual(["ropeway-opened w", 2]);
  told();
  closeAll();
  expect(told().filter((each) => each.startsWith("meeting"))).toEqual([
    "meeting 2 of https://a.example ends",
    "meeting 1 of https://a.example ends",
  ]);
});

it("opens one window for a tap, and asks the person about others", () => {
  const app = openApp();
  const { group, notices, open, order, told, closeAll } = app;
  open(1, "https://b.example/", { id: "w", name: "" }, A, false);
  expect(told()).toEqual([]);
  const [notice] = notices;
  expect(notice).toMatchObject({ kind: "window", url: "https://a.example" });
  open(1, "https://b.example/1", { id: "x", name: "" });
  open(1, "https://b.example/2", { id: "y", name: "" });
  expect(app.count).toBe(2);
  expect(notices.length).toBe(2);
  closeAll();
  if (notice?.kind === "window") notice.show?.();
  expect(app.count).toBe(2);
  closeAll();

  // Those of sites that the person has allowed.
  for (const id of ["a", "b"])
    open(1, "https://b.example/", { id, name: "" }, slotOf("https://allowed.example"), false);
  expect(app.count).toBe(3);
  group.isInFront = false;
  open(1, "https://b.example/", { id: "c", name: "" }, slotOf("https://allowed.example"), false);
  expect(app.count).toBe(3);
  group.isInFront = true;
  closeAll();

  // Blank ones show once they have an address.
  open(1, "about:blank", { id: "q", name: "" });
  open(1, "about:blank", { id: "z", name: "" });
  expect(app.count).toBe(1);
  expect(told()).toContain(heard(1, "q", { kind: "closed" }, "slot of https://a.example"));
  for (const id of ["q", "z"]) order(1, { kind: "go", url: "https://b.example/3", replace: false }, A, id);
  expect(app.count).toBe(2);
  closeAll();
  order(1, { kind: "go", url: "https://b.example/3", replace: false }, A, "q");
  expect(app.count).toBe(1);
});

it("finds a window by the name that the same page has given it", () => {
  const app = openApp();
  const { made, open, order, told } = app;
  open(1, "https://b.example/", { id: "w", name: "pay" });
  told();
  open(1, "https://b.example/2", { id: "x", name: "pay" }, A, false);
  expect(told()).toEqual(["2 to https://b.example/2 by https://a.example"]);
  order(1, { kind: "go", url: "https://b.example/3", replace: false }, A, "x");
  expect(told()).toEqual(["2 to https://b.example/3 by https://a.example"]);
  // Another page's is another one.
  open(2, "https://a.example/", { id: "w", name: "pay" }, B);
  expect(app.count).toBe(3);
  expect((made[2] as { tab: { state: { url: string } } }).tab.state.url).toBe("https://a.example/");
});

it("brings a window to the front for its opener alone, while its group is there", () => {
  const { group, places, made, open, order, told } = openApp();
  open(1, "https://b.example/1", { id: "w", name: "" });
  open(2, "https://b.example/2", { id: "v", name: "" }, B);
  const isInFront = (window: number) => places.isShown((made[window - 1] as { window: AppWindow }).window);
  told();
  // Of the one that it has opened, and the one that has opened it.
  order(3, { kind: "focus" }, B);
  order(3, { kind: "focus" }, B, "w");
  group.isInFront = false;
  order(1, { kind: "focus" }, A, "w");
  group.isInFront = true;
  expect([isInFront(3), told()]).toEqual([true, []]);
  for (let times = 0; times < 2; times += 1) order(1, { kind: "focus" }, A, "w");
  expect([isInFront(2), told()]).toEqual([true, ["raise"]]);
});

it("tells an opener where its window is only on the opener's own origin", () => {
  const { windows, made, open, told } = openApp();
  open(1, "https://b.example/", { id: "w", name: "" });
  const opened = (made[1] as { window: AppWindow }).window;
  told();
  windows.onPage(opened);
  (made[1] as { tab: { state: { url: string } } }).tab.state.url = "https://a.example/back";
  windows.onPage(opened);
  expect(told()).toEqual([
    heard(1, "w", { kind: "at", url: null }, "slot of https://a.example"),
    heard(1, "w", { kind: "at", url: "https://a.example/back" }, "slot of https://a.example"),
  ]);
});

it("knows no opener of a window after its page has disowned it", () => {
  const app = openApp();
  const { open, order, told } = app;
  open(1, "https://b.example/", { id: "w", name: "" });
  told();
  order(2, { kind: "disown" }, B);
  order(1, { kind: "close" }, A, "w");
  expect(told()).toEqual([heard(1, "w", { kind: "closed" }, "slot of https://a.example")]);
  order(2, { kind: "post", data: 1, targetOrigin: "*" }, B);
  expect(told()).toEqual([heard(2, null, { kind: "closed" }, "*")]);
  expect(app.count).toBe(2);
  // Its page may close it still.
  order(2, { kind: "close" }, B);
  expect(app.count).toBe(1);
});

it("opens a tab in place of a window without an opener, by a tap or where the person lets it", () => {
  const app = openApp();
  const { group, made, notices, open, order, told } = app;
  const alone = { id: null, name: "" };
  const allowed = slotOf("https://allowed.example");
  expect(open(1, "https://b.example/", alone)).toBe(true);
  open(1, "https://b.example/2", alone, allowed, false);
  expect(told()).toEqual(["tab in front for https://b.example/", "tab in front for https://b.example/2"]);
  // Without a tap, or one too many for it.
  open(1, "https://b.example/3", alone, A, false);
  open(1, "https://b.example/one-too-many", alone);
  told();
  for (const notice of notices) if (notice.kind === "window") notice.show?.();
  expect(told()).toEqual([3, "one-too-many"].map((path) => `tab in front for https://b.example/${path}, asked`));
  // Nobody could fill it; and keys come with a tap.
  open(1, "about:blank", alone);
  open(1, "https://b.example/4", { ...alone, tab: "behind" }, allowed, false);
  expect(told()).toEqual([]);
  group.isInFront = false;
  for (const slot of [A, allowed]) open(1, "https://b.example/5", alone, slot);
  expect([told(), notices.length, app.count]).toEqual([[], 2, 1]);
  // Its page may close it, while that is all that it has shown.
  order(1, { kind: "close" }, B);
  expect(told()).toEqual(["1 closes"]);
  (made[0] as { history: { canGoBack: boolean } }).history.canGoBack = true;
  order(1, { kind: "close" }, B);
  expect(told()).toEqual([]);
});

it("leaves to the tab what opens no window: other kinds of addresses, and all where pages have no slots", () => {
  const app = openApp();
  const { open } = app;
  expect(open(1, "mailto:a@a.example", { id: "w", name: "" })).toBe(false);
  const without = openApp(false);
  expect(without.open(1, "https://b.example/", { id: "w", name: "" })).toBe(false);
  expect(without.open(1, "about:blank", { id: "w", name: "" })).toBe(true);
  for (let count = 0; count < 12; count += 1) open(app.count, `https://b.example/${count}`, { id: "w", name: "" });
  expect(app.count).toBe(9);
});

it("lets a page that closes its windows open others for a tap, but not for ever", () => {
  const app = openApp();
  const { notices, open, order } = app;
  for (let opened = 2; opened < 12; opened += 1) {
    open(1, "https://b.example/", { id: `w${opened}`, name: "" });
    if (app.count > 1) order(opened, { kind: "close" }, B);
  }
  expect(app.count).toBe(1);
  expect(notices).toHaveLength(7);
});

it("opens no window for what is no address, and keeps no long names", () => {
  const app = openApp();
  const { made, open, order, told } = app;
  for (const url of ["https://[", "https://", "javascript:1", ["https://b.example/"] as never])
    expect(open(1, url, { id: "w", name: "" })).toBe(false);
  expect(app.count).toBe(1);
  open(1, "https://b.example/", { id: "w", name: "x".repeat(10_000) });
  expect((made[1] as { window: AppWindow }).window.frame.element.name.length).toBeLessThan(2_000);
  told();
  order(1, { kind: "go", url: "https://[", replace: false }, A, "w");
  order(2, { kind: "go", url: "https://[", replace: false }, B);
  expect(told()).toEqual([]);
});

it("parts pages that want it from those of other origins, by who has opened them", () => {
  const closed = heard(2, null, { kind: "closed" }, "*");
  const parting = openApp();
  parting.open(1, "https://b.example/", { id: "w", name: "" });
  parting.order(2, { kind: "disown", isApart: true }, A);
  parting.told();
  parting.order(2, { kind: "disown", isApart: true }, B);
  expect(parting.told()).toEqual([heard(1, "w", { kind: "closed" }, "slot of https://a.example"), closed]);

  const parted = openApp();
  parted.open(1, "https://a.example/", { id: "w", name: "", isApart: true });
  parted.order(2, { kind: "post", data: 1, targetOrigin: "*" }, A);
  parted.told();
  // Its window has gone on to another site.
  parted.order(2, { kind: "go", url: "https://b.example/", replace: false }, B);
  expect(parted.told()).toEqual([heard(1, "w", { kind: "closed" }, "slot of https://a.example"), closed]);
});

it("tells a window that its opener has gone, which hears no more of it", () => {
  const { windows, made, open, order, told } = openApp();
  open(1, "https://b.example/", { id: "w", name: "" });
  told();
  windows.onEnd((made[0] as { window: AppWindow }).window);
  order(2, { kind: "post", data: 1, targetOrigin: "*" }, B);
  expect(told()).toEqual(Array(2).fill(heard(2, null, { kind: "closed" }, "*")));
});

it("tells each document that has got a window by its name as it closes", () => {
  const { windows, made, open, order, told } = openApp();
  open(1, "https://b.example/", { id: "w", name: "pay" });
  const heardByFrame: string[] = [];
  const frame = { postMessage: (message: object) => heardByFrame.push(JSON.stringify(message)) } as unknown as Window;
  const { window } = made[0] as { window: AppWindow };
  const speaker = {
    source: frame,
    from: window,
    ports: [],
    userActivation: { isActive: true, hasBeenActive: true },
  };
  const request = { method: "GET", headers: [], body: null, referrer: "", replace: false };
  const opens = { id: "x", name: "pay" };
  const ask = () =>
    windows.take({ tag: MESSAGE_TAG, type: "navigate", url: "https://b.example/2", ...request, opens }, A, speaker);
  ask();
  order(2, { kind: "close" }, B);
  expect(heardByFrame.some((message) => message.includes('"id":"x","news":{"kind":"closed"}'))).toBe(true);
  told();
  ask();
  expect(told()).toEqual(["3 to https://b.example/2 by https://a.example"]);
});

it("steps the history of a window behind another, and of the one in front where the browser's list does not lead", () => {
  const { open, order, told, made } = openApp();
  open(1, "https://b.example/", { id: "w", name: "" });
  told();
  const answer = (window: number, isYours: boolean) => heard(window, null, { kind: "step", isYours }, "*");
  for (const delta of [-2, 1]) order(1, { kind: "step", delta }, A);
  expect(told()).toEqual(["1 started -2", answer(1, false), "1 started 1", answer(1, false)]);
  for (const delta of [-2, 1]) order(2, { kind: "step", delta }, B);
  expect(told()).toEqual(["2 started -2", answer(2, false), "2 started 1", answer(2, true)]);
  for (const { history } of made) history.leadsTo = () => true;
  order(2, { kind: "step", delta: -2 }, B);
  expect(told()).toEqual([answer(2, true)]);
});

it("keeps several blank windows of a site that may open windows unasked, and one of others", () => {
  const { open, told } = openApp();
  const allowed = slotOf("https://allowed.example");
  for (const id of ["v", "w"]) open(1, "about:blank", { id, name: "" }, allowed, false);
  expect(told()).toEqual([]);
  for (const id of ["x", "y"]) open(1, "about:blank", { id, name: "" });
  expect(told()).toEqual([heard(1, "x", { kind: "closed" }, "slot of https://a.example")]);
});

it("shows no blank window that was kept until its site may open none any more", () => {
  const { open, order, told, allowed } = openApp();
  const slot = slotOf("https://allowed.example");
  for (const id of ["v", "w", "x"]) open(1, "about:blank", { id, name: "" }, slot, false);
  const go = (id: string) => order(1, { kind: "go", url: "https://b.example/", replace: false }, slot, id);
  go("v");
  expect(told()).toEqual(["2 to https://b.example/ by https://allowed.example"]);
  allowed.length = 0;
  go("w");
  expect(told()).toContain(heard(1, "w", { kind: "closed" }, "slot of https://allowed.example"));
});
