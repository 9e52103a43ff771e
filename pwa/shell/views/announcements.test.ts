import { expect, it } from "vitest";
import { ErrorCode } from "../../../shared/errors.ts";
import type { BrowserState, PageError } from "../app/state.ts";
import { testState } from "../testing/test-state.ts";
import { announcements } from "./mount.tsx";

const url = "https://www.example.com/a";
const unopened: PageError = {
  code: ErrorCode.NAME_NOT_RESOLVED,
  url: "https://other.example/",
  method: "GET",
  detail: "",
};
const loading = testState({ phase: "loading", url });
const loaded = testState({ phase: "loaded", url, title: "A page" });
const offline = { kind: "offline", since: 0 } as const;
const waiting = { kind: "waiting", since: 0, retryAt: 9 } as const;
const trouble = { kind: "trouble", trouble: "frame", url } as const;

/** The words that are said with each of the states, one after another: those of a region that has other words than before. */
function saidIn(states: readonly BrowserState[]): readonly (readonly string[])[] {
  let told: ReturnType<typeof announcements> = ["", "", "", ""];
  return states.map((state) => {
    const next = announcements(state, told);
    const said = next.slice(0, 3).filter((words, index) => words !== "" && words !== told[index]);
    told = next;
    return said;
  });
}

it.each([
  [[], testState()],
  [["Loading example.com"], loading],
  [["Stopped loading example.com"], testState({ phase: "idle", url })],
  [["A page loaded"], loaded],
  [["example.com loaded"], testState({ phase: "loaded", url })],
  [["Waiting for the link"], testState({ link: { kind: "connecting", since: 0, attempt: 2 } })],
  [[], testState({ link: { kind: "connecting", since: 0, attempt: 1 } })],
  [["Waiting for the link"], testState({ link: { kind: "stalled", since: 0 } })],
  [["example.com may have got what you sent; the answer was lost"], testState({ notice: { kind: "uncertain", url } })],
  [
    ["To reload this page, what you sent to example.com has to be sent again"],
    testState({ notice: { kind: "resend", url } }),
  ],
  [["This page has a newer version"], testState({ hasNewer: true })],
  [["other.example did not open. No site with this name."], testState({ phase: "loaded", url, unopened })],
  [
    ["You are offline"],
    testState({ phase: "failed", url, link: offline, error: { ...unopened, code: ErrorCode.OFFLINE } }),
  ],
] as const)("says %j", (words, state) => expect(saidIn([state])).toEqual([words]));

it("says while a notice stands that a page loads and has loaded, and that it fails and why", () => {
  const withNotice = { notice: trouble };
  const failed = testState({ phase: "failed", url, error: unopened, ...withNotice });
  expect(
    saidIn([{ ...loaded, ...withNotice }, { ...loading, ...withNotice }, { ...loaded, ...withNotice }, failed]),
  ).toEqual([
    ["A page loaded", "A part of example.com is not shown here"],
    ["Loading example.com"],
    ["A page loaded"],
    ["No site with this name"],
  ]);
});

it("says of a notice what it is, and of the next in its place; nothing more is said when it goes", () => {
  const download = { kind: "download", why: "tide.pdf is downloaded", offers: [] } as const;
  const [, ...said] = saidIn([loaded, { ...loaded, notice: trouble }, { ...loaded, notice: download }, loaded]);
  expect(said).toEqual([["A part of example.com is not shown here"], ["tide.pdf is downloaded"], []]);
});

it("says once that the link is away, and once that it is back, whatever else stands", () => {
  const notice = { notice: trouble };
  const dialling = { kind: "connecting", since: 0, attempt: 1 } as const;
  const links = [offline, waiting, dialling, waiting, { kind: "open" } as const, { kind: "open" } as const];
  const [, ...said] = saidIn([{ ...loaded, ...notice }, ...links.map((link) => ({ ...loaded, ...notice, link }))]);
  expect(said).toEqual([["Offline"], ["Waiting for the link"], [], [], ["Connected"], []]);
});

it("leaves the loss of the link to the failure that tells it", () => {
  const error = { ...unopened, code: ErrorCode.OFFLINE };
  const failed = testState({ phase: "failed", url, link: offline, error });
  expect(saidIn([loading, failed, { ...failed, link: { kind: "open" } }])).toEqual([
    ["Loading example.com"],
    ["You are offline"],
    [],
  ]);
});

it("says of a page that did not open that, and nothing of the one that stays", () => {
  const another = testState({ ...loading, destination: { kind: "typed", url: "https://other.example/" } });
  const states = [loaded, another, { ...loaded, unopened }, loaded];
  const [, ...said] = saidIn(states);
  expect(said).toEqual([["Loading other.example"], ["other.example did not open. No site with this name."], []]);
});

it("says nothing while numbers change, or the title of the page that is there", () => {
  const states = [loading, { ...loading, progress: 0.7 }, loaded, { ...loaded, title: "(1) A page" }];
  expect(saidIn(states)).toEqual([["Loading example.com"], [], ["A page loaded"], []]);
});
