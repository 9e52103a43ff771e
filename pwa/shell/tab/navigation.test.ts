import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../../shared/errors.ts";
import * as step from "./navigation.ts";
import { draw, type SentNavigation, START, type TabNavigation } from "./navigation.ts";
import { typedNavigation } from "./navigation-request.ts";

const page = { url: "https://a.example/", title: "A", icon: "data:," };
const url = "https://b.example/";
const started = { kind: "started", url } as const;
const error = { code: 1, url, method: "GET", detail: "" };
const busy = { ...error, code: ErrorCode.CONNECTION_REFUSED };
const sent: SentNavigation = {
  id: 1,
  request: typedNavigation(url),
  by: "started",
  retries: null,
  attempts: 0,
  mayHaveRun: false,
  isAnswered: false,
};

const NEVER = Number.POSITIVE_INFINITY;

const settled: TabNavigation = { ...START, page };
const stopped = step.settle(settled, true);
const loading = step.reload(settled);
const underway = step.setOut(settled, started, sent);
const sentOff = step.sendFrame(underway, url, false);
const lost = step.leaveDocument(settled);
const returning = step.goBack(lost);
const failed = step.failInPlace(settled, "started", error, 0);
const unopened = step.fail(settled, "started", busy, 0);
const ALL = { settled, stopped, loading, underway, sentOff, returning, failed, unopened };
type Name = keyof typeof ALL;

const KINDS = [
  "settled",
  "settled",
  "loading",
  "underway",
  "underway",
  "returning",
  "failed",
  "settled",
] as const satisfies readonly TabNavigation["kind"][];

describe("each step leads", () => {
  const IMPOSSIBLE = "impossible";
  /** From all states, in their order. */
  const TABLE: readonly (readonly [string, (state: TabNavigation) => TabNavigation, readonly string[]])[] = [
    ["setOut", (state) => step.setOut(state, started, sent), Array(8).fill("underway")],
    ["leaveByItself", (state) => step.leaveByItself(state, page.url, "https://a.example"), Array(8).fill("underway")],
    [
      "sendFrame",
      (state) => step.sendFrame(state, url, false),
      [IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE, "underway", "underway", "returning", IMPOSSIBLE, IMPOSSIBLE],
    ],
    [
      "reload",
      step.reload,
      ["loading", "loading", "loading", IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE, "loading"],
    ],
    [
      "goBack",
      step.goBack,
      ["returning", "returning", IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE, "returning"],
    ],
    ["settle", (state) => step.settle(state), Array(8).fill("settled")],
    ["settleAtStart", step.settleAtStart, Array(8).fill("settled")],
    [
      "arrive, in part",
      (state) => step.arrive(state, page, "loading"),
      ["loading", "settled", "loading", "loading", "loading", "loading", "loading", "loading"],
    ],
    ["arrive, whole", (state) => step.arrive(state, page, "loaded"), Array(8).fill("settled")],
    [
      "fail",
      (state) => step.fail(state, "typed", error, 0),
      ["settled", "settled", "settled", "settled", "settled", "settled", "failed", "settled"],
    ],
    ["failInPlace", (state) => step.failInPlace(state, "typed", error, 0), Array(8).fill("failed")],
    ["abandon", step.abandon, KINDS],
    ["forgetFailed", step.forgetFailed, KINDS],
    ["traverse", step.traverse, KINDS],
    ["leaveDocument", step.leaveDocument, KINDS],
    ["startDocumentCame", step.startDocumentCame, KINDS],
    ["stayAfterAll", step.stayAfterAll, KINDS],
    ["noticeCame", (state) => step.noticeCame(state, url), KINDS],
    [
      "endWithoutDocument",
      (state) => step.endWithoutDocument(state, { origin: "https://b.example" }, 0),
      ["settled", "settled", "loading", "underway", "settled", "returning", "failed", "settled"],
    ],
  ];
  it.each(TABLE)("%s", (_name, take, kinds) => {
    const reached = Object.values(ALL).map((state) => {
      try {
        return take(state).kind;
      } catch (thrown) {
        expect(String(thrown)).toMatch(/^Error: Cannot .*: the tab is /);
        return IMPOSSIBLE;
      }
    });
    expect(reached).toEqual(kinds);
  });
});

it("shows the committed page until another one commits, wherever a page sends the frame", () => {
  expect(draw(settled)).toMatchObject({ ...page, phase: "loaded" });
  expect(draw(loading)).toMatchObject({ ...page, phase: "loading" });
  expect(draw(underway)).toMatchObject({ ...page, phase: "loading", destination: started });
  expect(draw(returning)).toMatchObject({ ...page, phase: "loading", destination: { ...started, url: page.url } });
});

it("shows at once what the person typed, and nothing of the page before with it", () => {
  const shown = { url, title: "", icon: null, phase: "loading" };
  expect(draw(step.setOut(settled, { kind: "typed", url }, null))).toMatchObject(shown);
});

it("names the address that failed, which an error stands for", () => {
  const shown = { url, title: "", icon: null, phase: "failed", error, destination: null };
  expect(draw(failed)).toMatchObject(shown);
});

it("is idle on the start page only", () => {
  expect(draw(START).phase).toBe("idle");
  expect(draw(step.setOut(START, started, null))).toMatchObject({ url: "", phase: "loading" });
});

it("keeps what was sent until the document is whole, or it is given up", () => {
  const arriving = step.arrive(underway, page, "loading");
  expect(step.sentBy(arriving)?.id).toBe(1);
  expect(step.sentBy(step.failInPlace(arriving, "started", error, 0))?.id).toBe(1);
  expect(step.sentBy(step.abandon(arriving))).toBeNull();
  expect(step.sentBy(step.arrive(arriving, page, "loaded"))).toBeNull();
});

it("takes a document for whole that was stopped while it was on its way", () => {
  expect(step.arrive(stopped, page, "loading")).toEqual(stopped);
  expect(step.arrive(step.traverse(stopped), page, "loading")).toMatchObject({ kind: "loading", sent: null });
});

it("leaves what waits for the link where it is, whatever the page that is shown says of itself", () => {
  const waiting = step.setOut(settled, started, sent, { replaces: false, isAgain: false });
  const renamed = { ...page, title: "(1) A" };
  expect(step.arrive(waiting, renamed, "loaded")).toEqual({ ...waiting, page: renamed });
  const left = step.leaveByItself(waiting, `${page.url}2`, "https://a.example");
  expect(left).toMatchObject({ destination: started, sent, waits: waiting.waits, journey: { url: `${page.url}2` } });
  expect(step.arrive(left, renamed, "loading")).toEqual({ ...waiting, page: renamed });
  expect(step.sendFrame(waiting, url, false)).toMatchObject({ kind: "underway", waits: null, journey: { url } });
});

it("sends the frame on where the page before has come in between", () => {
  const between = step.arrive(sentOff, page, "loading");
  expect(step.sendFrame(between, `${url}on`, false)).toMatchObject({
    kind: "underway",
    sent,
    journey: { url: `${url}on` },
  });
});

describe("what passes by time", () => {
  const open = true;
  const away = false;

  it.each<readonly [string, TabNavigation, readonly [at: number, isLinkOpen: boolean, order: string][]]>([
    [
      "a boot page that is lost is asked for again, and not for ever",
      sentOff,
      [
        [5_000, open, "send-again"],
        [15_000, open, "send-again"],
        [35_000, open, "give-up"],
      ],
    ],
    [
      "a slot that does not come without a link has others take its place, as soon as there is one",
      sentOff,
      [
        [3_000, away, "stand-in"],
        [6_000, away, "stand-in"],
      ],
    ],
    ["the frame is not sent again where the link went away meanwhile", sentOff, [[3_000, away, "stand-in"]]],
  ])("%s", (_title, first, times) => {
    let state = step.documentCame(first, 0, times[0]?.[1] ?? open);
    for (const [at, isOpen, order] of times) {
      expect(step.nextTime(state)).toBe(at);
      expect(step.timeOut(state, at - 1, isOpen)).toEqual([state, "nothing"]);
      const [next, done] = step.timeOut(state, at, isOpen);
      expect(done).toBe(order);
      state = order === "send-again" ? step.documentCame(step.sendFrame(next, url, false), at, isOpen) : next;
    }
  });

  it("nothing is lost where the page before has spoken, a boot page is there, none was needed, or nothing was asked for", () => {
    const came = step.documentCame(sentOff, 0, open);
    const [later, order] = step.timeOut(step.hearFormerPage(came), 5_000, open);
    expect([order, step.nextTime(later)]).toEqual(["nothing", 10_000]);
    expect(step.timeOut(step.leaveDocument(came), 5_000, open)[1]).toBe("nothing");
    expect(step.timeOut(came, 5_000, away)[1]).toBe("nothing");
    const booted = step.sendFrame(underway, url, true);
    for (const state of [settled, loading, failed, step.abandon(sentOff), step.leaveDocument(sentOff), booted])
      expect(step.nextTime(step.documentCame(state, 0, open))).toBe(NEVER);
  });

  it("the frame is sent out where nothing came, and again where a page of the browser's own came meanwhile", () => {
    const nothingCame = (state: TabNavigation, now: number) => step.documentCame(state, now, open, false);
    const waits = nothingCame(sentOff, 0);
    expect([step.nextTime(waits), step.nextTime(nothingCame(waits, 3))]).toEqual([10_000, 10_000]);
    expect(step.timeOut(waits, 10_000, open)[1]).toBe("send-out");
    expect(step.timeOut(step.documentCame(waits, 3, open), 10_000, open)[1]).toBe("send-again");
    const [later] = step.timeOut(step.hearFormerPage(waits), 10_000, open);
    expect(step.timeOut(later, 20_000, open)[1]).toBe("send-out");
    expect(step.nextTime(step.documentCame(sentOff, 0, away, false))).toBe(NEVER);
  });

  it("what failed and may pass is opened again, unless it is forgotten", () => {
    expect(step.nextTime(unopened)).toBe(5_000);
    expect(step.timeOut(unopened, 5_000, open)).toEqual([unopened, "open-failed"]);
    for (const forget of [step.forgetFailed, step.abandon, step.traverse])
      expect(step.nextTime(forget(unopened))).toBe(NEVER);
    expect(step.nextTime(step.setOut(unopened, started, sent))).toBe(NEVER);
    expect(step.nextTime(failed)).toBe(NEVER);
  });

  it("a boot page that may be lost is waited for, also where the notice of a page before came first", () => {
    const overtaken = step.documentCame(step.leaveOvertaken(sentOff), 0, open);
    expect(step.nextTime(overtaken)).not.toBe(NEVER);
  });

  it("a page that the frame has left comes back where nothing else has come", () => {
    const ended = step.endWithoutDocument(step.leaveDocument(sentOff), { origin: "https://b.example" }, 7);
    expect([ended.kind, step.nextTime(ended)]).toEqual(["settled", 1_007]);
    expect(step.timeOut(ended, 1_007, open)[1]).toBe("bring-back");
    expect(step.timeOut(ended, 1_007, open)[0]).toMatchObject({ kind: "settled", content: { returnsAt: null } });
    expect(step.nextTime(step.arrive(ended, page, "loading"))).toBe(NEVER);
  });
});

it("takes a silent document for the page where the frame is on its way to its slot", () => {
  const A = "https://a.example";
  const B = "https://b.example";
  const taken = [`${B}/raw`, `${A}/raw`, `${B}/`, `${B}/#part`].map((at) => step.mayBePage(sentOff, at, true));
  expect(taken).toEqual([false, false, true, true]);
  expect(step.mayBePage(step.learnOfSent(sentOff, null), `${B}/raw`, false)).toBe(true);
  expect(step.awaitedOrigin(step.arrive(sentOff, page, "loaded"))).toBeNull();
  expect(step.mayBePage(step.arrive(sentOff, page, "loaded"), `${A}/raw`, true)).toBe(false);
});

it("takes one for the page unasked where the history leads to it, or after another one, and not from another tab", () => {
  const [A, B] = ["https://a.example", "https://b.example"];
  const shown = (at: string): TabNavigation => ({ ...settled, page: { ...page, url: at } });
  for (const isKnown of [true, false])
    expect([`${B}/`, ""].map((at) => step.mayBePage(shown(at), `${A}/raw`, isKnown))).toEqual([isKnown, isKnown]);
  const silent = step.arrive(settled, { ...page, url: `${A}/raw` }, "loaded", { kind: "silent", url: `${A}/raw` });
  for (const state of [silent, step.leaveDocument(silent)])
    expect([`${A}/raw2`, `${B}/raw`].map((at) => step.mayBePage(state, at, false))).toEqual([true, false]);
});

it("counts how often a page sends itself to its own address, until it or the person goes elsewhere", () => {
  const often = step.sendItself(step.sendItself(step.sendItself(settled)));
  expect([step.isInLoop(step.sendItself(settled)), step.isInLoop(often)]).toEqual([false, true]);
  for (const go of [step.traverse, (state: TabNavigation) => step.leaveByItself(state, url, "https://a.example")])
    expect(step.isInLoop(go(often))).toBe(false);
});

it("ends a hard reload when the new document has loaded, and not by what the one before says", () => {
  const asked = { ...loading, hardReload: "asked" } as const;
  expect(step.arrive(asked, page, "loaded").hardReload).toBe("asked");
  const begun = step.arrive(asked, page, "loading");
  expect(begun.hardReload).toBe("begun");
  expect(step.arrive(begun, page, "loaded").hardReload).toBe("none");
  expect(step.settle(asked, true).hardReload).toBe("none");
});

it.each<readonly [Name, boolean]>([
  ["settled", true],
  ["sentOff", true],
  ["returning", true],
  ["failed", false],
])("%s has a page to keep: %s", (name, has) => {
  expect(step.hasPage(ALL[name])).toBe(has);
  expect(step.hasPage(step.noticeCame(ALL[name], url))).toBe(false);
});
