import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { MESSAGE_TAG, type WipeNews } from "../../messages/page-messages.ts";
import { MapStorage } from "../testing/map-storage.ts";
import { ListedHosts } from "./listed-hosts.ts";
import { type Meeting, SlotFrames } from "./slot-frames.ts";
import { wildcardHosts } from "./slot-hosts.ts";
import { SlotRegistry } from "./slot-registry.ts";
import { KeptSpares } from "./spare-slots.ts";

const [A, B, C] = ["https://a.example", "https://b.example", "https://c.example"] as const;
const shell = {};

beforeEach(() => {
  vi.stubGlobal("window", shell);
  vi.useFakeTimers();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A window, or a frame of it, that writes down what it gets. */
function frameWindow(log: string[], parent: unknown = shell) {
  return {
    parent,
    postMessage: ({ type }: { type: string }, origin: string) => void log.push(`${type} ${origin}`),
    location: { replace: (url: string) => void log.push(`go ${url}`) },
  } as unknown as Window;
}

/** The app with a list of hosts, s1 and on. */
function rig(count: number, storage = new MapStorage()) {
  const log: string[] = [];
  const spares: { src: string; contentWindow: Window; remove(): void }[] = [];
  const document = {
    createElement: () => ({
      contentWindow: frameWindow(log),
      setAttribute() {},
      addEventListener() {},
      remove() {
        log.push("remove");
      },
    }),
    body: { append: (frame: never) => void spares.push(frame) },
  } as unknown as Document;
  const registry = new SlotRegistry(storage);
  const shown: string[] = [];
  let time = 0;
  const hosts = new ListedHosts({
    origins: Array.from({ length: count }, (_, index) => `https://s${index + 1}.example`),
    registry,
    storage,
    sessionStorage: new MapStorage(),
    shown: () => shown,
    tabs: () => [],
    tell() {},
    now: () => ++time,
  });
  const frames = new SlotFrames({
    registry,
    keptSpares: new KeptSpares(storage, null),
    document,
    hosts,
    bindPort: () => ({}) as MessagePort,
    hasOtherWindows: () => false,
    onNoHost: (origin) => void log.push(`no host ${origin}`),
  });
  const hear = (news: WipeNews["news"], host: string, source: Window) =>
    frames.onWipe({ tag: MESSAGE_TAG, type: "wipe", news }, `https://${host}.example`, source);
  return { frames, registry, shown, log, spares, hear };
}

const ALONE = { kind: "ready", isAlone: true, permissions: [] } as const;
const EMPTY = { kind: "done", isEmpty: true } as const;

it("loads a document anew that is sent to another page before it has led to one", () => {
  const { frames } = rig(2);
  const slot = frames.slotFor(A);
  if (slot === null) throw new Error("no slot");
  const wipe = "https://s1.example/.ropeway/wipe";
  expect(frames.slotUrl(slot, `${A}/page`)).toBe(`${wipe}#then=%2Fpage`);
  expect(frames.slotUrl(slot, `${A}/next`)).toBe(`${wipe}?again=1#then=%2Fnext`);
  expect(frames.slotUrl(slot, `${A}/next`)).toBe(`${wipe}?again=2#then=%2Fnext`);
});

it("wipes a host in the page's own frame before it is a site's, also one that nothing is known of", () => {
  const { frames, registry, log, hear } = rig(2);
  const slot = frames.slotFor(A);
  if (slot === null) throw new Error("no slot");
  expect(frames.slotUrl(slot, `${A}/page`)).toBe("https://s1.example/.ropeway/wipe#then=%2Fpage");
  expect([frames.isBooted(slot), frames.find(A, A), registry.find(A, A)]).toEqual([false, slot, null]);
  const page = frameWindow(log);
  hear(ALONE, "s1", page);
  expect(log).toEqual(["wipe https://s1.example"]);
  hear(EMPTY, "s1", page);
  expect(registry.find(A, A)).toEqual(slot);
  frames.sendPort(slot, page);
  frames.onReady(slot);
  expect(frames.slotUrl(slot, `${A}/page`)).toBe("https://s1.example/page");
});

it("orders nothing that it has not set out for, or that a frame in a page asks for", () => {
  const { frames, registry, log, hear } = rig(2);
  registry.assign("s2.example", B, B);
  frames.slotUrl(frames.slotFor(A) as never, `${A}/`);
  for (const message of [ALONE, EMPTY]) {
    hear(message, "s2", frameWindow(log));
    hear(message, "s1", frameWindow(log, frameWindow(log)));
    hear(message, "other", frameWindow(log));
  }
  expect(log).toEqual([]);
  expect([registry.find(A, A), registry.find(B, B)?.label]).toEqual([null, "s2.example"]);
});

/** A tab's frame that goes to a page. @returns where it was sent, in order; a wait is "later". */
function seek(frames: SlotFrames, url: string) {
  const sent: string[] = [];
  const seeker = {
    onPlace() {
      const slot = frames.slotFor(new URL(url).origin);
      sent.push(slot === null ? "nowhere" : frames.pageUrl(slot, url, false, seeker));
    },
  };
  seeker.onPlace();
  return { sent, seeker };
}

it("wipes hosts for two tabs at once, each in its own frame", () => {
  const { frames, registry, log, hear } = rig(3);
  expect(seek(frames, `${A}/`).sent).toEqual(["https://s1.example/.ropeway/wipe#then=%2F"]);
  expect(seek(frames, `${B}/`).sent).toEqual(["https://s2.example/.ropeway/wipe#then=%2F"]);
  for (const host of ["s1", "s2"]) {
    hear(ALONE, host, frameWindow(log));
    hear(EMPTY, host, frameWindow(log));
  }
  expect([A, B].map((origin) => registry.find(origin, origin)?.label)).toEqual(["s1.example", "s2.example"]);
});

it("lets a second tab of the site wait until the first one's frame has its host", () => {
  const { frames, log, hear } = rig(3);
  seek(frames, `${A}/1`);
  const { sent } = seek(frames, `${A}/2`);
  expect(sent).toEqual(["later"]);
  hear(ALONE, "s1", frameWindow(log));
  expect(sent).toHaveLength(1);
  hear(EMPTY, "s1", frameWindow(log));
  expect(sent).toEqual(["later", "https://s1.example/.ropeway/boot?again=1#then=%2F2"]);
});

it("lets it wait for the next host where that one is in use, and no longer where the first tab leaves", () => {
  const { frames, log, hear } = rig(3);
  const first = seek(frames, `${A}/1`);
  const { sent, seeker } = seek(frames, `${A}/2`);
  hear({ ...ALONE, isAlone: false }, "s1", frameWindow(log));
  expect(log).toEqual(["go https://s2.example/.ropeway/wipe#then=%2F1"]);
  expect(sent).toEqual(["later", "later"]);
  frames.leave(first.seeker);
  expect(sent.slice(2)).toEqual(["https://s2.example/.ropeway/wipe?again=1#then=%2F2"]);
  // Who asks once more takes the turn.
  const third = seek(frames, `${A}/3`);
  third.seeker.onPlace();
  expect(third.sent).toEqual(["later", "https://s2.example/.ropeway/wipe?again=2#then=%2F3"]);
  frames.leave(seeker);
  hear(ALONE, "s2", frameWindow(log));
  expect(log.at(-1)).toBe("wipe https://s2.example");
});

it("goes on to the next host where one is in use or was granted something, and leaves its site what it has", () => {
  const { frames, registry, log, hear } = rig(3);
  for (const [label, origin] of [
    ["s1", A],
    ["s2", B],
    ["s3", "https://d.example"],
  ] as const)
    frames.slotUrl(registry.assign(`${label}.example`, origin, origin), `${origin}/`);
  const page = frameWindow(log);
  const goal = frames.pageUrl(frames.slotFor(C) as never, `${C}/x`, false, { onPlace() {} });
  expect(goal).toContain("https://s1.example/.ropeway/wipe");
  hear({ ...ALONE, isAlone: false }, "s1", page);
  hear({ ...ALONE, permissions: ["notifications"] }, "s2", page);
  expect(log.splice(0)).toEqual([
    "go https://s2.example/.ropeway/wipe#then=%2Fx",
    "go https://s3.example/.ropeway/wipe#then=%2Fx",
  ]);
  hear({ ...ALONE, isAlone: false }, "s3", page);
  expect(log).toEqual([`no host ${C}`]);
  expect([A, B, C].map((origin) => registry.find(origin, origin)?.label)).toEqual([
    "s1.example",
    "s2.example",
    undefined,
  ]);
  expect(frames.slotFor(C)).toBeNull();
});

it("wipes a spare ahead, and a site has it at once", () => {
  const { frames, registry, log, spares, hear } = rig(2);
  frames.slotUrl(registry.assign("s1.example", A, A), `${A}/`);
  frames.slotUrl(registry.assign("s2.example", B, B), `${B}/`);
  expect(frames.prepareSpare()).toBe(true);
  const [spare] = spares;
  if (spare === undefined) throw new Error("no spare");
  expect(spare.src).toBe("https://s1.example/.ropeway/wipe");
  // Not until it is wiped.
  frames.onUnassignedFrame("port-wanted", spare.contentWindow);
  hear(ALONE, "s1", spare.contentWindow);
  expect(registry.find(A, A)).toBeNull();
  hear(EMPTY, "s1", spare.contentWindow);
  frames.onUnassignedFrame("port-wanted", spare.contentWindow);
  const slot = frames.slotFor(C);
  expect(slot?.label).toBe("s1.example");
  expect(log).toEqual(["wipe https://s1.example", "port https://s1.example"]);
  expect(registry.find(C, C)).toEqual(slot);
});

it("gives frames hosts that are wiped in frames of their own, one after the other, until none is free", () => {
  const { frames, registry, shown, spares, hear } = rig(4);
  shown.push(A);
  frames.slotUrl(registry.assign("s1.example", A, A), `${A}/`);
  const got: unknown[] = [];
  const ask = (origin: string, isAsked = false): void => {
    const slot = frames.frameSlotFor(origin, A, isAsked, () => ask(origin, isAsked));
    if (slot !== "later") got.push(slot?.label ?? null);
  };
  const wipe = (index: number) => {
    const source = spares[index]?.contentWindow as Window;
    const host = /s\d/.exec(spares[index]?.src ?? "")?.[0] ?? "";
    for (const message of [ALONE, EMPTY]) hear(message, host, source);
    frames.onUnassignedFrame("port-wanted", source);
  };
  ask("https://one.example");
  ask("https://two.example");
  expect([got, spares.length]).toEqual([[], 2]);
  wipe(0);
  wipe(1);
  expect(got.splice(0)).toEqual(["s2.example", "s3.example"]);
  ask("https://three.example");
  expect(got.splice(0)).toEqual([null]);
  ask("https://three.example", true);
  wipe(2);
  expect(got.splice(0)).toEqual(["s4.example"]);
  ask("https://four.example", true);
  expect(got).toEqual([null]);
});

it("wipes one host for all frames that want the same slot", () => {
  const { frames, registry, shown, spares, hear } = rig(3);
  shown.push(A);
  frames.slotUrl(registry.assign("s1.example", A, A), `${A}/`);
  const got: unknown[] = [];
  const ask = (): void => {
    const slot = frames.frameSlotFor(B, A, false, ask);
    if (slot !== "later") got.push(slot?.label ?? null);
  };
  for (let n = 0; n < 5; n++) ask();
  expect([got, spares.length]).toEqual([[], 1]);
  const source = spares[0]?.contentWindow as Window;
  for (const news of [ALONE, EMPTY]) hear(news, "s2", source);
  frames.onUnassignedFrame("port-wanted", source);
  expect(got).toEqual(Array(5).fill("s2.example"));
});

it("lets a frame wait for a host that is on its way, where the one that was to be its own is in use", () => {
  const { frames, registry, shown, spares, hear } = rig(4);
  shown.push(A, "https://d.example");
  frames.slotUrl(registry.assign("s1.example", A, A), `${A}/`);
  frames.slotUrl(registry.assign("s2.example", "https://d.example", "https://d.example"), "https://d.example/");
  const got: unknown[] = [];
  const ask = (origin: string): void => {
    const slot = frames.frameSlotFor(origin, A, true, () => ask(origin));
    if (slot !== "later") got.push(slot?.label ?? null);
  };
  for (const origin of [B, C]) ask(origin);
  hear({ ...ALONE, isAlone: false }, "s3", spares[0]?.contentWindow as Window);
  expect(got).toEqual([]);
  const source = spares[1]?.contentWindow as Window;
  for (const news of [ALONE, EMPTY]) hear(news, "s4", source);
  frames.onUnassignedFrame("port-wanted", source);
  expect(got).toEqual(["s4.example", null]);
});

it("asks the frames again that wait for a spare which a page has taken", async () => {
  const { frames, registry, shown } = rig(4);
  shown.push(A);
  frames.slotUrl(registry.assign("s1.example", A, A), `${A}/`);
  const again = vi.fn();
  expect(frames.frameSlotFor(B, A, false, again)).toBe("later");
  frames.slotFor(C);
  await Promise.resolve();
  expect(again).toHaveBeenCalledTimes(1);
});

it("gives windows of a slot places to meet, a few at a time, and none on a host that may be another's", () => {
  interface Frame {
    src?: string;
    onload?: () => void;
  }
  let shown: Frame[] = [];
  const document = {
    createElement: () => {
      const frame = {
        setAttribute() {},
        addEventListener: (_: string, listener: () => void) => Object.assign(frame, { onload: listener }),
        replaceWith: (next: Frame) => {
          shown = shown.map((each) => (each === frame ? next : each));
        },
      };
      return frame;
    },
    body: { append: (...all: Frame[]) => void shown.push(...all) },
  } as unknown as Document;
  const storage = new MapStorage();
  const registry = new SlotRegistry(storage);
  const frames = new SlotFrames({
    registry,
    keptSpares: new KeptSpares(storage, null),
    document,
    hosts: wildcardHosts("https:", "ropeway.example"),
    bindPort: () => ({}) as MessagePort,
    hasOtherWindows: () => false,
    onNoHost() {},
  });
  const slot = registry.assign("s1", A, A);
  let heard = 0;
  const onThere = () => void heard++;
  const places = () => shown.map(({ src }) => src ?? "");
  const url = (meeting: Meeting | null) => `https://s1.ropeway.example/.ropeway/meeting?${meeting?.id}`;
  const first = frames.meet(slot, onThere);
  // A page can count them: the next ones change nothing.
  expect(places()).toEqual([...Array(7).fill(""), url(first)]);
  for (const { onload } of shown) onload?.();
  expect(heard).toBe(1);
  const others = Array.from({ length: 7 }).map(() => frames.meet(slot, onThere));
  expect(places()).toEqual([...others.map(url).toReversed(), url(first)]);
  expect([new Set(places()).size, frames.meet(slot, onThere)]).toEqual([8, null]);
  first?.end();
  expect(places().at(-1)).toBe("");
  const next = frames.meet(slot, onThere);
  expect([places().at(-1), next?.id === first?.id]).toEqual([url(next), false]);

  expect(frames.meet(registry.assign("s2", B, A), onThere)).toBeNull();
  const listed = rig(2);
  expect(listed.frames.meet(listed.registry.assign("s1.example", A, A), onThere)).toBeNull();
});
