import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MESSAGE_TAG, type PageToShell } from "../../messages/page-messages.ts";
import type { ShellToTunnel } from "../../messages/tunnel-messages.ts";
import type { Slot } from "./places.ts";
import type { SlotFrames } from "./slot-frames.ts";
import { isSound, SlotServices } from "./slot-services.ts";

const A = "https://a.example";
const B = "https://b.example";
const asker: Slot = { label: "a", origin: A, topLevelOrigin: A, topLevel: true };

/** A document, in the page's frame or below it, that writes down what it is posted. */
function documentBelow(parent: unknown) {
  const posted: { readonly message: { readonly type: string }; readonly origin: string }[] = [];
  const postMessage = (message: { type: string }, origin: string) => void posted.push({ message, origin });
  return { posted, parent, postMessage, source: { parent, postMessage } as unknown as Window };
}

/** @param frameSlot in place of a slot for a frame. @param hasMoved the host was another origin's. */
function rig(
  frameSlot: (isAsked: boolean, again: () => void) => "later" | null | undefined = () => undefined,
  hasMoved = false,
) {
  const ports: string[] = [];
  const keys: string[] = [];
  const told: ShellToTunnel[] = [];
  const slots = {
    onReady: (slot: Slot) => void ports.push(`ready ${slot.label}`),
    sendPort: (slot: Slot) => void ports.push(`port ${slot.label}`),
    frameSlotFor(origin: string, topLevelOrigin: string, isAsked: boolean, again: () => void) {
      const slot: Slot = { label: "b", origin, topLevelOrigin, topLevel: origin === topLevelOrigin };
      const given = frameSlot(isAsked, again);
      return given === undefined ? slot : given;
    },
    slotUrl: ({ label }: Slot, url: string) => `slot ${label} ${url}`,
    originOf: ({ label }: Slot) => `https://${label}.slots.example`,
    slotOf: () => null,
    find: () => null,
    hasMoved: () => hasMoved,
  } as unknown as SlotFrames;
  const tunnel = { tell: (message: ShellToTunnel) => void told.push(message) };
  const entries: string[] = [];
  const mayShow = (slotUrl: string) => entries.push(slotUrl) > 1;
  const services = new SlotServices(slots, tunnel, ({ key }) => void keys.push(key), mayShow);
  return { entries, services, ports, keys, told };
}

const wants = (url: string): PageToShell => ({
  tag: MESSAGE_TAG,
  type: "frame-wanted",
  url,
  referrer: `${A}/page`,
  movedFrom: null,
});

describe("a document in a slot", () => {
  it("gets a port, and the slot is known to answer", () => {
    const { services, ports } = rig();
    services.onMessage({ tag: MESSAGE_TAG, type: "port-wanted" }, asker, documentBelow(null).source);
    expect(ports).toEqual(["ready a", "port a"]);
  });

  it("passes keys of the app on", () => {
    const { services, keys } = rig();
    const press = { key: "F5", ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
    services.onMessage({ tag: MESSAGE_TAG, type: "key", press }, asker, documentBelow(null).source);
    expect(keys).toEqual(["F5"]);
  });

  it("passes none on that nobody has pressed there, where the browser tells, but Escape", () => {
    const { services, keys } = rig();
    const press = { ctrlKey: true, metaKey: false, altKey: false, shiftKey: false };
    for (const [key, isActive] of [
      ["l", false],
      ["Escape", false],
      ["f", true],
    ] as const)
      services.onMessage(
        { tag: MESSAGE_TAG, type: "key", press: { ...press, key } },
        asker,
        documentBelow(null).source,
        {
          isActive,
          hasBeenActive: true,
        },
      );
    expect(keys).toEqual(["Escape", "f"]);
  });

  it("is told names at its own origin only", () => {
    const { services } = rig();
    const asking = documentBelow(null);
    services.onMessage({ tag: MESSAGE_TAG, type: "origins-wanted", origins: [B] }, asker, asking.source);
    expect(asking.posted.map(({ message, origin }) => [message.type, origin])).toEqual([
      ["origins", "https://a.slots.example"],
    ]);
  });
});

describe("a frame of another origin", () => {
  const shell = { parent: null };
  beforeEach(() => void vi.stubGlobal("window", shell));
  afterEach(() => void vi.unstubAllGlobals());

  it("gets a slot below the page's, under the page's policy, and the document around it learns its name", () => {
    const { services, told } = rig();
    const page = documentBelow(shell);
    const frame = documentBelow(page.source);
    services.onMessage(wants(`${B}/ad#part`), asker, frame.source);
    expect(told).toEqual([
      {
        type: "frame-starts",
        binding: { origin: B, topLevelOrigin: A, topLevel: false },
        url: `${B}/ad`,
        start: { referrer: `${A}/page`, initiator: A },
      },
    ]);
    expect(frame.posted).toMatchObject([
      { message: { type: "frame", slotUrl: `slot b ${B}/ad#part`, topLevel: true, bootsInside: true } },
    ]);
    expect(page.posted.map(({ message }) => message.type)).toEqual(["origins"]);
  });

  it("gets the answer to a form by a mark on its address, and the tunnel is told whose form that is", () => {
    const { services, told } = rig();
    const frame = documentBelow(documentBelow(shell).source);
    services.onMessage({ ...wants(`${B}/pay#part`), form: "1" } as PageToShell, asker, frame.source);
    const from = { origin: A, topLevelOrigin: A, topLevel: true };
    expect(told).toMatchObject([{ type: "frame-starts", url: `${B}/pay`, form: { name: "1", from } }]);
    expect(frame.posted).toMatchObject([{ message: { slotUrl: `slot b ${B}/pay#part#ropeway-form-1` } }]);
  });

  it("gets one later, or none where no host is free, unless it is gone", () => {
    const asked: boolean[] = [];
    let goOn = () => {};
    const { services, told } = rig((isAsked, again) => {
      asked.push(isAsked);
      goOn = again;
      return asked.length === 1 ? "later" : null;
    });
    const frame = documentBelow(documentBelow(shell).source);
    services.onMessage({ ...wants(`${B}/ad`), isAsked: true } as PageToShell, asker, frame.source);
    expect(frame.posted).toEqual([]);
    goOn();
    expect(frame.posted.map(({ message }) => message.type)).toEqual(["no-host"]);
    (frame.source as { closed: boolean }).closed = true;
    goOn();
    expect([asked, told]).toEqual([[true, true], []]);
  });

  it("gets no port for an entry of the history where the host had another origin, and the page is asked about its own", () => {
    const back: PageToShell = { tag: MESSAGE_TAG, type: "port-wanted", backTo: "key" };
    const stays = rig(undefined, false);
    stays.services.onMessage(back, asker, documentBelow(shell).source);
    expect(stays.ports).toEqual(["ready a", "port a"]);

    const { services, ports, entries } = rig(undefined, true);
    const frame = documentBelow(documentBelow(shell).source);
    services.onMessage(back, asker, frame.source);
    expect([frame.posted.map(({ message }) => message.type), ports, entries]).toEqual([["gone"], [], []]);
    const page = documentBelow(shell);
    services.onMessage(back, asker, page.source);
    expect([ports, entries]).toEqual([[], ["key"]]);
    services.onMessage(back, asker, page.source);
    expect(ports).toEqual(["ready a", "port a"]);
  });

  it("gets none for what is no address of a site", () => {
    const { services, told } = rig();
    const frame = documentBelow(documentBelow(shell).source);
    services.onMessage(wants("javascript:alert(1)"), asker, frame.source);
    expect([told, frame.posted]).toEqual([[], []]);
  });

  it("is the page's site under another top-level origin where it is deeper", () => {
    const { services, told } = rig();
    const advert: Slot = { label: "b", origin: B, topLevelOrigin: A, topLevel: false };
    const own = documentBelow(documentBelow(shell).source);
    const deeper = documentBelow(own.source);
    services.onMessage(wants(`${A}/`), advert, own.source);
    services.onMessage(wants(`${A}/`), advert, deeper.source);
    expect(told.map((message) => message.type === "frame-starts" && message.binding.topLevelOrigin)).toEqual([A, B]);
  });
});

describe("a frame that wants to lead the page", () => {
  const guest: Slot = { label: "b", origin: B, topLevelOrigin: A, topLevel: false };
  const NONE = { isActive: false, hasBeenActive: false };
  const BEFORE = { isActive: false, hasBeenActive: true };
  const NOW = { isActive: true, hasBeenActive: true };
  const shell = documentBelow(null);
  const page = documentBelow(shell.source);
  beforeEach(() => void vi.stubGlobal("window", shell.source));
  afterEach(() => void vi.unstubAllGlobals());

  const leads = (more: object = {}) =>
    ({ type: "navigate", url: "https://c.example/", leads: "page", sandbox: null, ...more }) as PageToShell & {
      type: "navigate";
    };
  const all = { sandbox: ["allow-top-navigation", "allow-popups"] };
  const byTop = { sandbox: ["allow-top-navigation"] };
  const byActivation = { sandbox: ["allow-top-navigation-by-user-activation"] };

  it.each([
    ["of the page's site may", asker, {}, NONE, true],
    ["of another site may not by itself", guest, {}, NONE, false],
    ["of another site may where the person has used it", guest, {}, BEFORE, true],
    ["of another site may lead within the page's site", guest, { url: "https://www.a.example/" }, NONE, true],
    ["may not by another scheme", guest, { url: "http://a.example/" }, NONE, false],
    ["in a sandbox may not", asker, { sandbox: ["allow-scripts"] }, NOW, false],
    ["in a sandbox that allows it may", guest, all, BEFORE, true],
    ["in a sandbox that asks for a tap may with one", guest, byActivation, NOW, true],
    ["in such a sandbox may not without", asker, byActivation, BEFORE, false],
    ["of another site opens a window with a tap", guest, { leads: "window" }, NOW, true],
    ["opens none without", guest, { leads: "window" }, BEFORE, false],
    ["in a sandbox opens none", asker, { leads: "window", ...byActivation }, NOW, false],
    ["in a sandbox opens none, whatever else it says", asker, { opens: { id: "w", name: "" }, ...byTop }, NOW, false],
    ["of the version before may not", asker, { leads: undefined }, NOW, false],
  ])("%s", (_what, slot, more, activation, expected) => {
    const { services } = rig();
    const frame = documentBelow(page.source);
    const frames = { source: frame.source, page: page.source };
    expect(services.forPage(leads(more), slot, frames, activation)?.type === "navigate").toBe(expected);
  });

  it("is in the sandboxes that the documents around it tell of, whatever it says itself", () => {
    const { services } = rig();
    const frame = documentBelow(page.source);
    const inner = documentBelow(frame.source);
    const sandboxed = { ...wants(`${B}/`), sandbox: ["allow-scripts"] } as PageToShell;
    services.onMessage(sandboxed, asker, frame.source);
    services.onMessage({ ...wants("https://c.example/"), sandbox: null } as PageToShell, guest, frame.source);
    for (const { source } of [frame, inner])
      expect(services.forPage(leads(), guest, { source, page: page.source }, NOW)?.type === "navigate").toBe(false);
    services.onMessage({ ...sandboxed, sandbox: null } as PageToShell, asker, frame.source);
    expect(
      services.forPage(leads(), guest, { source: inner.source, page: page.source }, NOW)?.type === "navigate",
    ).toBe(true);
  });

  it("has its troubles told as the page's own, and a tap that leads nowhere as one", () => {
    const { services } = rig();
    const frames = { source: documentBelow(page.source).source, page: page.source };
    const trouble = { tag: MESSAGE_TAG, type: "trouble", trouble: "socket" } as const;
    expect(services.forPage(trouble, guest, frames, NONE)).toBe(trouble);
    const sandboxed = leads({ sandbox: [] });
    expect(services.forPage(sandboxed, guest, frames, NOW)).toEqual({ ...trouble, trouble: "tap" });
    expect(services.forPage(sandboxed, guest, frames, BEFORE)).toBeNull();
  });

  it("is one of the page's own", () => {
    const { services } = rig();
    const elsewhere = documentBelow(documentBelow(shell.source).source);
    (shell.source as { parent: unknown }).parent = shell.source;
    expect(services.forPage(leads(), asker, { source: elsewhere.source, page: page.source }, NOW)).toBeNull();
  });
});

describe("what a page says", () => {
  const document = { tag: MESSAGE_TAG, type: "document", url: `${A}/`, title: "A", historyKey: "k", icon: null };
  const long = "y".repeat(3_000_000);

  it("counts where addresses are texts, and no text is longer than one", () => {
    const sound = [
      document,
      { ...document, urls: [A, A] },
      { press: { key: "a" } },
      { ...document, url: `${A}/${long.slice(0, 2e6)}` },
    ];
    expect(sound.map((each) => isSound(each))).toEqual(sound.map(() => true));
    const odd = [7, null, undefined, ["a"], { toString: "a" }, new Map(), long].map((url) => ({ ...document, url }));
    const rest = [
      { ...document, historyKey: long },
      { ...document, icon: long },
      { ...document, title: 7 },
    ];
    const nested = [{ urls: [A, long] }, { press: { key: long } }, { sandbox: [[{ a: long }]] }, { act: { url: {} } }];
    const unsound: readonly unknown[] = [
      ...odd,
      ...rest,
      ...nested,
      { constructor: 1, message: long },
      { ...document, origins: Object.assign([A], { length: 4_294_967_295 }) },
      { ...document, picture: 10n ** 100n },
      { failed: 1, message: {} },
    ];
    expect(unsound.map((each) => isSound(each))).toEqual(unsound.map(() => false));
  });

  it("does not count where something is in it twice, or in itself: the app would look at that without end", () => {
    let tree: object = { a: A };
    for (let level = 0; level < 60; level++) tree = level % 2 === 0 ? { one: tree, other: tree } : [tree, tree];
    const round: Record<string, unknown> = {};
    round.round = round;
    const deep = Array.from({ length: 50_000 }).reduce<unknown>((inner) => [inner], A);
    expect([tree, round].map((part) => isSound({ ...document, part }))).toEqual([false, false]);
    expect(isSound({ ...document, part: deep, picture: [A, A], same: [7, 7, null, null] })).toBe(true);
  });

  it("is theirs where they post it to each other, however long it is", () => {
    expect(isSound({ type: "window", act: { kind: "post", data: { url: 7, text: long }, targetOrigin: "*" } })).toBe(
      true,
    );
    expect(isSound({ type: "navigate", url: A, body: new Uint8Array(10).buffer })).toBe(true);
  });
});
