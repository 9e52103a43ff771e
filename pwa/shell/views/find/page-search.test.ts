import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MOST_MATCHES } from "../../../messages/find-messages.ts";
import { type FindAnswer, type FindOrder, MESSAGE_TAG } from "../../../messages/page-messages.ts";
import { countText } from "./find-chunk.tsx";
import { type Found, PageSearch } from "./page-search.ts";

/** A window of a page, which answers as its page script would. */
class FakeWindow {
  readonly orders: FindOrder[] = [];
  readonly targets: string[] = [];
  readonly frames: FakeWindow[] = [];
  parent: FakeWindow = this;
  /** In a shadow tree of the one around. */
  isHidden = false;

  get length(): number {
    return this.frames.filter((frame) => !frame.isHidden).length;
  }

  add(frame: FakeWindow): FakeWindow {
    frame.parent = this;
    this.frames.push(frame);
    const index = this.length - 1;
    if (!frame.isHidden) Object.assign(this, { [index]: frame });
    return frame;
  }

  postMessage(order: FindOrder, target: string): void {
    this.orders.push(order);
    this.targets.push(target);
  }

  get asWindow(): Window {
    return this as unknown as Window;
  }
}

const ORIGIN = "https://sabc.ropeway.example";

function rig(own: ((order: FindOrder) => void) | null = null) {
  const page = new FakeWindow();
  const states: Found[] = [];
  const search = new PageSearch({
    page: page.asWindow,
    own: own && ((order) => own(order)),
    script: () => Promise.resolve("script"),
    onChange: (found) => states.push(found),
  });
  const idOf = (window: FakeWindow) => window.orders.at(-1)?.id ?? 0;
  const tell = (window: FakeWindow, told: FindAnswer["told"], id = idOf(page), origin = ORIGIN) =>
    search.hear({ data: { tag: MESSAGE_TAG, type: "found", id, told }, origin, source: window.asWindow });
  const join = async (window: FakeWindow, count: number, near = 0) => {
    tell(window, { kind: "there" });
    await vi.advanceTimersByTimeAsync(0);
    tell(window, { kind: "matches", count, near, isDone: true });
  };
  return { page, search, tell, join, last: () => countText(states.at(-1) as Found) };
}

const acts = (window: FakeWindow) => window.orders.map(({ act }) => act);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("PageSearch", () => {
  it("tells the text to none but documents that have answered, at the origin that has", async () => {
    const { page, search, join, last } = rig();
    const silent = page.add(new FakeWindow());
    search.search("Tëxt");
    expect(acts(page)).toEqual([{ kind: "join" }]);
    expect(last()).toBe("");
    await join(page, 3, 1);
    expect(last()).toBe("2 of 3");
    expect(acts(page).slice(1)).toEqual([
      { kind: "search", script: "script", text: "text" },
      { kind: "show", index: 1 },
    ]);
    expect(page.targets).toEqual(["*", ORIGIN, ORIGIN]);
    expect(acts(silent)).toEqual([{ kind: "join" }]);
  });

  it("goes from frame to frame in the order of their tree, those in shadow trees last, and around", async () => {
    const { page, search, join, last } = rig();
    const [one, two] = [page.add(new FakeWindow()), page.add(new FakeWindow())];
    const deep = one.add(new FakeWindow());
    const hidden = new FakeWindow();
    hidden.isHidden = true;
    two.add(hidden);
    search.search("a");
    for (const window of [hidden, two, deep, one]) await join(window, 1);
    // Nothing is shown before it is known to be the first.
    expect(last()).toBe("0 of 4");
    await join(page, 0);
    expect(last()).toBe("1 of 4");
    const shown: (string | undefined)[] = [];
    const names = new Map([
      [one, "one"],
      [deep, "deep"],
      [two, "two"],
      [hidden, "hidden"],
    ]);
    for (let index = 0; index < 4; index += 1) {
      const before = new Map([...names].map(([window]) => [window, window.orders.length]));
      search.step(1);
      const isShown = ([window]: [FakeWindow, string]) =>
        window.orders.slice(before.get(window)).some(({ act }) => act.kind === "show" && act.index === 0);
      shown.push([...names].find(isShown)?.[1]);
    }
    expect(shown).toEqual(["deep", "two", "hidden", "one"]);
    search.step(-1);
    expect(last()).toBe("4 of 4");
  });

  it("takes no more of a document than its own count", async () => {
    const { page, search, tell, join, last } = rig();
    const hostile = page.add(new FakeWindow());
    search.search("a");
    await join(page, 2);
    await join(hostile, 1);
    const lie = (count: unknown) =>
      tell(hostile, { kind: "matches", count, near: 5, isDone: true } as FindAnswer["told"]);
    for (const [count, text] of [
      [-7, "1 of 2"],
      ["9", "1 of 2"],
      [1.5, "1 of 2"],
      [Number.NaN, "1 of 2"],
      [1e9, `1 of ${MOST_MATCHES}+`],
      [4, "1 of 6"],
    ] as const) {
      lie(count);
      expect(last()).toBe(text);
    }
    // Of another page, of no page, of another search, and of a document that was not asked.
    const stranger = new FakeWindow();
    for (const [window, id, origin] of [
      [stranger, undefined, ORIGIN],
      [page.add(new FakeWindow()), undefined, "null"],
      [page.add(new FakeWindow()), -1, ORIGIN],
    ] as const) {
      tell(window, { kind: "there" }, id, origin);
      await vi.advanceTimersByTimeAsync(0);
      tell(window, { kind: "matches", count: 9, near: 0, isDone: true }, id, origin);
      expect(last()).toBe("1 of 6");
      expect(acts(window).some(({ kind }) => kind === "search")).toBe(false);
    }
  });

  it("begins anew with each text, and ends with none", async () => {
    const { page, search, tell, join, last } = rig();
    search.search("a");
    await join(page, 2);
    const former = page.orders.at(-1)?.id ?? 0;
    search.search("ab");
    tell(page, { kind: "matches", count: 7, near: 0, isDone: true }, former);
    expect(last()).not.toContain("7");
    await join(page, 0);
    expect(last()).toBe("No matches");
    const { id } = page.orders.at(-1) ?? {};
    search.search("");
    // Documents heed the search that they have.
    expect(page.orders.at(-1)).toEqual({ tag: MESSAGE_TAG, type: "find", id, act: { kind: "end" } });
    expect(last()).toBe("");
  });

  it("takes the marks of an earlier search away where the last has not come to the document", async () => {
    for (const finish of ["", null]) {
      const { page, search, join, tell } = rig();
      search.search("a");
      const id = page.orders.at(-1)?.id;
      await join(page, 1);
      // The next one is asked to join and hears no more; the one after has joined, without its script.
      search.search("b");
      search.search("c");
      tell(page, { kind: "there" });
      if (finish === null) search.end();
      else search.search(finish);
      await vi.advanceTimersByTimeAsync(0);
      expect(page.orders.at(-1)).toMatchObject({ id, act: { kind: "end" } });
    }
  });

  it("says where a page cannot answer", async () => {
    const { search, last } = rig();
    search.search("a");
    await vi.advanceTimersByTimeAsync(5_000);
    expect(last()).toBe("Reload the page to search it");
  });

  it("asks nobody where the app itself searches the page", async () => {
    const orders: FindOrder[] = [];
    const { page, search, join } = rig((order) => orders.push(order));
    page.add(new FakeWindow());
    search.search("a");
    await vi.advanceTimersByTimeAsync(0);
    await join(page, 5);
    search.end();
    expect(orders.map(({ act }) => act.kind)).toEqual(["search", "end"]);
    expect(page.orders).toEqual([]);
    expect(page.frames[0]?.orders).toEqual([]);
  });
});
