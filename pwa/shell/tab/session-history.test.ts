import { expect, it } from "vitest";
import { type KeptEntry, SessionHistory, START } from "./session-history.ts";

const A = "https://a.example/";
const B = "https://b.example/";
const TOP = { x: 0, y: 0 };
const entry = (url: string, y = 0, isRepeatable = true): KeptEntry => ({ url, isRepeatable, scroll: { x: 0, y } });

function open() {
  let kept: readonly KeptEntry[] = [];
  const left: KeptEntry[] = [];
  const history = new SessionHistory(
    (entries) => {
      kept = entries;
    },
    (restored) => void left.push(restored),
  );
  const resume = (keys: readonly string[], entries: readonly KeptEntry[]) => {
    history.resume(entries);
    return history.rebuild(() => keys);
  };
  /** @returns where the page is told to scroll. */
  const visit = (key: string, isNew: boolean) => {
    left.length = 0;
    history.visit(key, isNew);
    history.restore();
    return left[0]?.scroll ?? null;
  };
  return { history, kept: () => kept, left, resume, visit };
}

it("keeps the entries, each with its place, and knows which are ahead", () => {
  const { history, kept } = open();
  history.visit("start", false);
  history.visit("a", true);
  history.note(A, true);
  history.scrolled({ key: "a", origin: "https://a.example" }, { x: 1, y: 20 }, undefined);
  history.visit("b", true);
  history.note(B, true);
  history.scrolled({ key: "unknown", origin: "https://a.example" }, { x: 1, y: 9 }, undefined);
  expect(kept()).toEqual([START, { url: A, isRepeatable: true, scroll: { x: 1, y: 20 } }, entry(B)]);
  history.visit("a", false);
  expect(kept().map(({ isAhead = false }) => isAhead)).toEqual([false, false, true]);
  expect(history.canGoForward).toBe(true);
});

it("knows of what a form led to that it did, until another page is there", () => {
  const { history, kept } = open();
  history.visit("a", true);
  history.note(A, false);
  history.note(A, true);
  expect(kept()).toEqual([entry(A, 0, false)]);
  history.note(`${A}2`, true);
  expect(kept()).toEqual([entry(`${A}2`)]);
});

it("has no more entries than a hundred, however many a page claims", () => {
  const { history, kept } = open();
  for (let index = 0; index < 1_000; index++) {
    history.visit(`a${index}`, false);
    history.note(`${A}${index}`, true);
  }
  expect(history.depth).toBe(99);
  expect(kept().at(-1)).toEqual(entry(`${A}999`));
  history.visit("a900", false);
  expect([history.depth, history.leadsTo(-1), history.leadsTo(1)]).toEqual([0, false, true]);
});

it("keeps the latest 50", () => {
  const { history, kept } = open();
  for (let index = 0; index < 60; index++) {
    history.visit(`${index}`, true);
    history.note(`${A}${index}`, true);
  }
  expect(kept()).toHaveLength(50);
  expect(kept().at(-1)?.url).toBe(`${A}59`);
});

it("opens an entry of before again, which takes the place of its start document", () => {
  const { history, kept, resume, visit } = open();
  const before = [START, entry(A, 10), entry(B, 20)];
  resume(["s", "k1", "k2"], before);
  expect(kept()).toEqual(before);
  expect(history.closed).toEqual(before[2]);
  history.reopen();
  expect(visit("b", true)).toEqual({ x: 0, y: 20 });
  expect([history.canGoBack, history.canGoForward, history.closed]).toEqual([true, false, null]);
  expect(kept()).toEqual(before);
  // It is there, and says so again.
  expect(visit("b", false)).toBeNull();
  history.visit("k1", false);
  expect(history.closed).toEqual(before[1]);
  history.reopen();
  expect(visit("a", false)).toEqual({ x: 0, y: 10 });
  expect(history.canGoForward).toBe(true);
  // The browser does not keep the place of what took another's.
  history.scrolled({ key: "b", origin: "https://b.example" }, { x: 0, y: 25 }, undefined);
  expect(visit("b", false)).toEqual({ x: 0, y: 25 });
});

it("gives a page of before what was typed into it, and no page that it redirects to", () => {
  const fields = [{ at: 0, name: "note", value: "kept" }];
  for (const [url, given] of [
    [A, fields],
    [B, undefined],
  ] as const) {
    const { history, kept, left, resume } = open();
    resume(["s", "k1"], [START, { ...entry(A, 10), fields }]);
    history.reopen();
    history.visit("a", true);
    // The notice of a page that cannot be had says nothing of this.
    history.note(A, true);
    expect(left).toEqual([]);
    history.note(url, true);
    history.restore();
    history.restore();
    expect(left).toEqual([{ ...entry(url, 10), fields: given }]);
    expect(kept().at(-1)?.fields).toEqual(given);
  }
});

it("keeps what a page says that was typed, and no more than that much", () => {
  const { history, kept } = open();
  history.visit("a", true);
  history.note(A, true);
  const said = (fields: unknown) => {
    history.scrolled({ key: "a", origin: "https://a.example" }, TOP, fields);
    return kept()[0]?.fields;
  };
  const fields = [{ at: 0, name: "note", value: "kept" }];
  expect(said(undefined)).toBeUndefined();
  expect(said(fields)).toEqual(fields);
  const odd = [
    [null],
    [{ at: [0], name: "note", value: "" }],
    [{ at: 0, name: "note" }],
    [{ at: 0, name: "note", value: "x".repeat(9_000) }],
    Array(501).fill(fields[0]),
  ];
  for (const other of [undefined, 5, "x", ...odd]) expect(said(other)).toEqual(fields);
  history.scrolled({ key: "a", origin: "https://b.example" }, { x: 0, y: 9 }, []);
  expect(kept()[0]).toEqual({ ...entry(A), fields });
  expect(said([{ ...fields[0], more: { deep: 1 } }])).toEqual(fields);
  expect(said([])).toEqual([]);
});

it("has a page that is shown forgotten until its document is another, or that is taken back", () => {
  const { history, kept } = open();
  const forget = () => history.mark((each) => ({ ...each, forgottenBy: () => true }));
  const areForgotten = () => kept().map(({ url, forgottenBy }) => [url, forgottenBy !== undefined]);
  history.visit("a", true);
  history.note(A, true);
  forget();
  history.note(`${A}moved`, true);
  history.scrolled({ key: "a", origin: "https://a.example" }, { x: 0, y: 9 }, [{ at: 0, name: "note", value: "kept" }]);
  expect(areForgotten()).toEqual([[`${A}moved`, true]]);
  history.beginDocument();
  history.note(A, true);
  expect(areForgotten()).toEqual([[A, false]]);
  forget();
  history.visit("b", true);
  history.note(B, true);
  expect(areForgotten()).toEqual([
    [A, true],
    [B, false],
  ]);
  history.visit("a", false);
  history.note(A, true);
  expect(areForgotten()).toEqual([
    [A, false],
    [B, false],
  ]);
  forget();
  history.mark((each) => ({ ...each, forgottenBy: undefined }));
  history.note(A, true);
  expect(areForgotten()[0]).toEqual([A, false]);
});

it("adds what is asked for instead", () => {
  const { history, kept, resume, visit } = open();
  resume(["s", "k1"], [START, entry(A, 10)]);
  history.reopen();
  history.leave();
  expect(visit("b", true)).toBeNull();
  history.note(B, true);
  expect(kept()).toEqual([START, entry(A, 10), entry(B)]);
});

it("is at the entry that was shown, once the frame has gone back to it", () => {
  const { history, kept, resume, visit } = open();
  const before: KeptEntry[] = [START, entry(A, 10), { ...entry(B, 20), isAhead: true }];
  expect(history.resume(before)).toBe(A);
  expect(resume(["s", "k1", "k2"], before)).toBe(false);
  expect(kept()).toEqual([]);
  history.visit("k1", false);
  expect(kept()).toEqual(before);
  expect([history.closed?.url, history.hasReopened]).toEqual([A, false]);
  history.reopen();
  expect(visit("a", true)).toEqual({ x: 0, y: 10 });
  expect([history.canGoForward, history.hasReopened]).toEqual([true, true]);
  history.visit("k2", false);
  expect(history.closed?.url).toBe(B);
  expect(kept().map(({ isAhead = false }) => isAhead)).toEqual([false, false, false]);
});

it("is at the start page where only what was ahead is left", () => {
  const { history } = open();
  expect(history.resume([{ ...entry(A), isAhead: true }])).toBeNull();
  const counts: number[][] = [];
  history.rebuild((count, ahead) => {
    counts.push([count, ahead]);
    return ["s", "k"];
  });
  expect(counts).toEqual([[2, 1]]);
});

it("does not open again what a form led to", () => {
  const { history, resume } = open();
  resume(["k"], [entry(A, 0, false)]);
  expect(history.closed).toBeNull();
});

it("leads to the start page in the place of a site that has closed", () => {
  const { history, kept, resume } = open();
  const close = () => history.mark((each) => (each.url === A ? { ...each, ...START } : each));
  resume(["k1", "k2"], [entry(A), entry(B)]);
  close();
  expect(kept()).toEqual([START, entry(B)]);
  history.visit("k1", false);
  expect(history.closed).toBeNull();
  // Also where the frame is not there yet.
  history.resume([entry(A), entry(B)]);
  close();
  history.rebuild(() => ["k3", "k4"]);
  expect(kept()).toEqual([START, entry(B)]);
});

it("steps over what forms have led to, where the browser's own list does not lead", () => {
  const { history, kept } = open();
  for (const [key, url] of [
    ["a", A],
    ["sent", `${A}sent`],
    ["b", B],
  ] as const) {
    history.visit(key, true);
    history.note(url, key !== "sent");
  }
  history.anchor();
  expect([history.canGoBack, history.leadsTo(-1), history.leadsTo(1)]).toEqual([true, false, false]);
  expect(history.step(-1)).toEqual(entry(A));
  expect(kept().map(({ isAhead = false }) => isAhead)).toEqual([false, true, true]);
  expect(history.step(-1)).toBeNull();
  expect(history.step(1)).toEqual(entry(B));
  // Of three entries.
  expect(history.step(-2)).toEqual(entry(A));
  expect(history.step(3)).toBeNull();
  expect(history.step(1)).toEqual(entry(B));
  history.note(B, false);
  for (const delta of [0, -0, 0.5, "0"]) expect(history.step(delta as number)).toBeNull();
});
