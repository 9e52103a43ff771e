import { expect, it } from "vitest";
import { MESSAGE_TAG, type OpensWindow, type PageToShell, type WindowOrder } from "../../messages/page-messages.ts";
import type { Notice } from "../app/state.ts";
import type { Slot } from "../frames/places.ts";
import { type AppWindow, Windows, type WindowsOptions } from "./windows.ts";

const slotOf = (origin: string): Slot => ({ label: origin, origin, topLevelOrigin: origin, topLevel: true });
const [A, B] = [slotOf("https://a.example"), slotOf("https://b.example")];

/** An app whose windows do nothing but write down what they are told. */
function openApp(slots = true) {
  const log: string[] = [];
  const notices: Notice[] = [];
  const shell = { parent: null as unknown } as unknown as Window;
  (shell as { parent: Window }).parent = shell;
  const createWindow = (name: string) => {
    const page = {
      parent: shell,
      postMessage: (message: object, origin: string) => log.push(`${name} hears ${JSON.stringify(message)} ${origin}`),
    } as unknown as Window;
    const history = { depth: 0, canGoBack: false, anchor() {} };
    const element = { contentWindow: page, remove: () => log.push(`${name} goes`), classList: { toggle() {} } };
    const tab = {
      state: { url: "" },
      sendTo({ url, initiator }: { url: string; initiator: string | null }) {
        tab.state.url = url;
        log.push(`${name} to ${url} by ${initiator}`);
      },
      end: () => log.push(`${name} ends`),
      close: () => log.push(`${name} closes`),
      home: () => log.push(`${name} home`),
    };
    const frame = { element, history, isOf: (source: Window) => source === page };
    return { page, history, tab, window: { tab, frame } as unknown as AppWindow };
  };
  const first = createWindow("1");
  const made = [first];
  const closings: (() => void)[] = [];
  const entries = {
    length: 1,
    mark(count: number, isBeginning: boolean) {
      entries.length += 1;
      log.push(`${isBeginning ? "beginning" : "entry"} ${count}`);
    },
    go: (steps: number) => log.push(`go ${steps}`),
  };
  const windows = new Windows(first.window, {
    app: {
      notify: (notice: Notice) => notices.push(notice),
      draw() {},
      state: { settings: { windowOpeners: ["allowed.example"] } },
    },
    slots: slots
      ? {
          find: (origin: string, top: string) =>
            [A, B].find((slot) => slot.origin === origin && slot.topLevelOrigin === top) ?? null,
          originOf: ({ origin }: Slot) => `slot of ${origin}`,
        }
      : null,
    create({ close }: { close: () => void }) {
      const created = createWindow(String(made.length + 1));
      made.push(created);
      closings.push(close);
      return created.window;
    },
    history: entries,
    openTab({ url }: { url: string }, how: string, isAsked: boolean) {
      log.push(`tab ${how} for ${url}${isAsked ? ", asked" : ""}`);
      return !url.endsWith("one-too-many");
    },
    focusPage: () => log.push("focus"),
  } as unknown as WindowsOptions);
  windows.turn(true);
  log.length = 0;
  const speak = (from: number, message: PageToShell, slot: Slot, isActive = true) => {
    const { page } = made[from - 1] as (typeof made)[number];
    const userActivation = { isActive, hasBeenActive: isActive };
    return windows.take(message, slot, {
      source: page,
      from: windows.of(page) as AppWindow,
      ports: [],
      userActivation,
    });
  };
  const open = (from: number, url: string, opens: OpensWindow, slot = A, isActive = true) => {
    const request = { method: "GET", headers: [], body: null, referrer: "", replace: false };
    return speak(from, { tag: MESSAGE_TAG, type: "navigate", url, ...request, opens }, slot, isActive);
  };
  const order = (from: number, act: WindowOrder["act"], slot: Slot, id?: string) =>
    speak(from, { tag: MESSAGE_TAG, type: "window", act, ...(id !== undefined && { id }) }, slot);
  const told = () => log.splice(0);
  return { windows, made, closings, notices, entries, open, order, told };
}

const heard = (window: number, id: string | null, news: object, origin: string) =>
  `${window} hears ${JSON.stringify({ tag: MESSAGE_TAG, type: "window", ...(id !== null && { id }), news })} ${origin}`;

it("carries messages between a window and its opener, for the origins that they name alone", () => {
  const { windows, open, order, told } = openApp();
  expect(open(1, "https://b.example/", { id: "w", name: "" })).toBe(true);
  expect(told()).toEqual(["entry 1", "2 to https://b.example/ by https://a.example"]);
  expect(windows.state).toEqual({ openedBy: "https://a.example" });

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

it("steps back over what a window has added to the browser's history as it closes", () => {
  const { windows, made, entries, open, order, told } = openApp();
  open(1, "https://b.example/", { id: "w", name: "" });
  (made[1] as { history: { depth: number } }).history.depth = 2;
  entries.length += 2;
  told();
  order(2, { kind: "close" }, B);
  expect(told()).toEqual([heard(1, "w", { kind: "closed" }, "slot of https://a.example"), "2 goes", "2 ends", "go -3"]);
  windows.onEntry(0);
  expect(windows.all.length).toBe(1);

  // The page below has gone on meanwhile, and stays there.
  open(1, "https://b.example/", { id: "x", name: "" });
  (made[0] as { history: { depth: number } }).history.depth = 1;
  told();
  windows.close(windows.shown);
  expect(told()).not.toContain("go -1");

  // The phone's own way back has closed it.
  open(1, "https://b.example/", { id: "y", name: "" });
  told();
  windows.onEntry(0);
  expect(told().filter((line) => line.startsWith("go"))).toEqual([]);
  expect(windows.all.length).toBe(1);
});

it("gives a window that opens as another closes its entry where the browser's way back has led", () => {
  const { windows, open, order, told } = openApp();
  open(1, "https://b.example/", { id: "w", name: "" });
  order(1, { kind: "close" }, A, "w");
  told();
  open(1, "https://b.example/1", { id: "x", name: "" });
  const opening = "3 to https://b.example/1 by https://a.example";
  expect(told()).toEqual([opening]);
  windows.onEntry(0);
  expect(told()).toEqual(["entry 1"]);
  expect(windows.all.length).toBe(2);

  // One that closes before that has none to go back over.
  order(1, { kind: "close" }, A, "x");
  open(1, "https://b.example/2", { id: "y", name: "" });
  windows.close(windows.shown);
  expect(told().filter((line) => /^(go|entry)/.test(line))).toEqual(["go -1"]);
  // The tab was behind, and begins anew.
  open(1, "https://b.example/3", { id: "z", name: "" });
  windows.turn(false);
  windows.onEntry(0);
  windows.turn(true);
  windows.anchor();
  windows.onEntry(1);
  expect(told().filter((line) => /^(go|entry|beginning)/.test(line))).toEqual(["beginning 1"]);
  windows.onEntry(0);
  expect(windows.all.length).toBe(1);
});

it("opens one window for a tap, and asks the person about others", () => {
  const { windows, notices, open, order, told } = openApp();
  open(1, "https://b.example/", { id: "w", name: "" }, A, false);
  expect(told()).toEqual([]);
  const [notice] = notices;
  expect(notice).toMatchObject({ kind: "window", url: "https://a.example" });
  open(1, "https://b.example/1", { id: "x", name: "" });
  open(1, "https://b.example/2", { id: "y", name: "" });
  expect(windows.all.length).toBe(2);
  expect(notices.length).toBe(2);
  windows.closeAll();
  if (notice?.kind === "window") notice.show?.();
  expect(windows.all.length).toBe(2);
  windows.closeAll();

  // Those of sites that the person has allowed.
  for (const id of ["a", "b"])
    open(1, "https://b.example/", { id, name: "" }, slotOf("https://allowed.example"), false);
  expect(windows.all.length).toBe(3);
  windows.turn(false);
  open(1, "https://b.example/", { id: "c", name: "" }, slotOf("https://allowed.example"), false);
  expect(windows.all.length).toBe(3);
  windows.turn(true);
  windows.closeAll();

  // Blank ones show once they have an address.
  open(1, "about:blank", { id: "q", name: "" });
  open(1, "about:blank", { id: "z", name: "" });
  expect(windows.all.length).toBe(1);
  expect(told()).toContain(heard(1, "q", { kind: "closed" }, "slot of https://a.example"));
  for (const id of ["q", "z"]) order(1, { kind: "go", url: "https://b.example/3", replace: false }, A, id);
  expect(windows.all.length).toBe(2);
  windows.closeAll();
  order(1, { kind: "go", url: "https://b.example/3", replace: false }, A, "q");
  expect(windows.all.length).toBe(1);
});

it("finds a window by the name that the same page has given it", () => {
  const { windows, made, open, order, told } = openApp();
  open(1, "https://b.example/", { id: "w", name: "pay" });
  told();
  open(1, "https://b.example/2", { id: "x", name: "pay" }, A, false);
  expect(told()).toEqual(["2 to https://b.example/2 by https://a.example"]);
  order(1, { kind: "go", url: "https://b.example/3", replace: false }, A, "x");
  expect(told()).toEqual(["2 to https://b.example/3 by https://a.example"]);
  // Another page's is another one.
  open(2, "https://a.example/", { id: "w", name: "pay" }, B);
  expect(windows.all.length).toBe(3);
  expect((made[2] as { tab: { state: { url: string } } }).tab.state.url).toBe("https://a.example/");
});

it("brings a window to the front for its opener alone, in the tab that is seen", () => {
  const { windows, made, open, order, told } = openApp();
  const [first, second, third] = ["https://a.example/", "https://b.example/1", "https://b.example/2"];
  (made[0] as { tab: { state: { url: string } } }).tab.state.url = first;
  open(1, second, { id: "w", name: "" });
  open(2, third, { id: "v", name: "" }, B);
  const inFront = () => windows.shown.tab.state.url;
  told();
  // Of the one that it has opened, and the one that has opened it.
  order(3, { kind: "focus" }, B);
  order(3, { kind: "focus" }, B, "w");
  windows.turn(false);
  order(1, { kind: "focus" }, A, "w");
  windows.turn(true);
  expect(inFront()).toBe(third);
  expect(told()).not.toContain("focus");
  for (let times = 0; times < 2; times += 1) order(1, { kind: "focus" }, A, "w");
  expect([inFront(), told()]).toEqual([second, ["focus"]]);
  // The way back closes the one in front, and leads to the others.
  windows.onEntry(1);
  expect(inFront()).toBe(third);
  windows.onEntry(0);
  expect(inFront()).toBe(first);
});

it("tells an opener where its window is only on the opener's own origin", () => {
  const { windows, made, open, told } = openApp();
  open(1, "https://b.example/", { id: "w", name: "" });
  const opened = (made[1] as { window: AppWindow }).window;
  told();
  windows.onPage(opened.frame);
  (made[1] as { tab: { state: { url: string } } }).tab.state.url = "https://a.example/back";
  windows.onPage(opened.frame);
  expect(told()).toEqual([
    heard(1, "w", { kind: "at", url: null }, "slot of https://a.example"),
    heard(1, "w", { kind: "at", url: "https://a.example/back" }, "slot of https://a.example"),
  ]);
});

it("knows no opener of a window after its page has disowned it", () => {
  const { windows, open, order, told } = openApp();
  open(1, "https://b.example/", { id: "w", name: "" });
  told();
  order(2, { kind: "disown" }, B);
  order(1, { kind: "close" }, A, "w");
  expect(told()).toEqual([heard(1, "w", { kind: "closed" }, "slot of https://a.example")]);
  order(2, { kind: "post", data: 1, targetOrigin: "*" }, B);
  expect(told()).toEqual([heard(2, null, { kind: "closed" }, "*")]);
  expect(windows.all.length).toBe(2);
  // Its page may close it still.
  order(2, { kind: "close" }, B);
  expect(windows.all.length).toBe(1);
});

it("opens a tab in place of a window without an opener, by a tap or where the person lets it", () => {
  const { windows, made, notices, open, order, told } = openApp();
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
  windows.turn(false);
  told();
  for (const slot of [A, allowed]) open(1, "https://b.example/5", alone, slot);
  expect([told(), notices.length, windows.all.length]).toEqual([[], 2, 1]);
  // Its page may close it, while that is all that it has shown.
  order(1, { kind: "close" }, B);
  expect(told()).toEqual(["1 closes"]);
  (made[0] as { history: { canGoBack: boolean } }).history.canGoBack = true;
  order(1, { kind: "close" }, B);
  expect(told()).toEqual([]);
});

it("leaves to the tab what opens no window: other kinds of addresses, and all where pages have no slots", () => {
  const { windows, open } = openApp();
  expect(open(1, "mailto:a@a.example", { id: "w", name: "" })).toBe(false);
  const without = openApp(false);
  expect(without.open(1, "https://b.example/", { id: "w", name: "" })).toBe(false);
  expect(without.open(1, "about:blank", { id: "w", name: "" })).toBe(true);
  for (let count = 0; count < 12; count += 1)
    open(windows.all.length, `https://b.example/${count}`, { id: "w", name: "" });
  expect(windows.all.length).toBe(9);
});

it("lets a page that closes its windows open others for a tap, but not for ever", () => {
  const { windows, notices, open, order } = openApp();
  for (let opened = 2; opened < 12; opened += 1) {
    open(1, "https://b.example/", { id: `w${opened}`, name: "" });
    if (windows.all.length > 1) order(opened, { kind: "close" }, B);
  }
  expect(windows.all.length).toBe(1);
  expect(notices).toHaveLength(7);
});

it("steps back over no more entries than there are, however many a page tells of", () => {
  const { made, open, order, told } = openApp();
  open(1, "https://b.example/", { id: "w", name: "" });
  (made[1] as { history: { depth: number } }).history.depth = 30;
  order(2, { kind: "close" }, B);
  expect(told()).toContain("go -1");
});

it("opens no window for what is no address, and keeps no long names", () => {
  const { windows, made, open, order, told } = openApp();
  for (const url of ["https://[", "https://", "javascript:1", ["https://b.example/"] as never])
    expect(open(1, url, { id: "w", name: "" })).toBe(false);
  expect(windows.all.length).toBe(1);
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
