import { expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { FakePlatform } from "../testing/fake-platform.ts";
import { HeldResponse, HeldResponses, holdNavigation, holdsNavigation } from "./held-responses.ts";
import { abandon, beginPage, dropFormer, isKeptFrom, type Tabs } from "./tabs.ts";

const NONE = {
  requests: 0,
  requestsDone: 0,
  requestsFailed: 0,
  trackersBlocked: 0,
  linkBytesUp: 0,
  linkBytesDown: 0,
  originBytes: 0,
  expectedBytes: 0,
  roundTrip: 0,
  storeAnswers: null,
  storeValidations: null,
  storeReferences: null,
  storeBytes: null,
  pagesWarmed: 0,
  pagesWarmedUsed: 0,
  waiting: { pictures: 0, films: 0, bytes: 0 },
};

it("counts the page of each tab from when that began", () => {
  let requests = 0;
  const tabs: Tabs = new Map();
  const read = () => ({ ...NONE, requests });
  const counted = () => [...tabs].map(([tab, { progress }]) => [tab, progress().requests]);
  beginPage(tabs, 1, read, null);
  requests = 2;
  beginPage(tabs, 2, read, null, new HeldResponse());
  requests = 5;
  expect(counted()).toEqual([
    [1, 5],
    [2, 3],
  ]);
  beginPage(tabs, 1, read, null);
  expect(counted()[0]).toEqual([1, 0]);
});

it("gives up the latest navigation of a tab, also while its page goes on by itself", async () => {
  const tabs: Tabs = new Map();
  const read = () => NONE;
  const [former, latest, other] = [1, 2, 3].map((id) => new HeldResponse("", id)) as [
    HeldResponse,
    HeldResponse,
    HeldResponse,
  ];
  beginPage(tabs, 1, read, null, former);
  beginPage(tabs, 1, read, null, latest);
  beginPage(tabs, 2, read, null, other);
  beginPage(tabs, 1, read, null);
  abandon(tabs, 1);
  abandon(tabs, 2);
  expect(await latest.settled).toMatchObject({ code: ErrorCode.CANCEL });
  expect(await Promise.race([other.settled, former.settled, "open"])).toBe("open");
});

it("keeps a page from what it left for last", () => {
  const tabs: Tabs = new Map();
  beginPage(tabs, 1, () => NONE, "https://a.example/1");
  beginPage(tabs, 1, () => NONE, "https://a.example/2");
  beginPage(tabs, 2, () => NONE, null);
  expect(["https://a.example/1", "https://a.example/2"].map((url) => isKeptFrom(tabs, url))).toEqual([false, true]);
});

it("drops the response to the tab's navigation before, also one that has failed, and no other's", () => {
  const held = new HeldResponses(new FakePlatform(), 1);
  const tabs: Tabs = new Map();
  const [own, other] = [new HeldResponse("", 1), new HeldResponse("", 2)];
  for (const [tab, response] of [
    [1, own],
    [2, other],
  ] as const) {
    beginPage(tabs, tab, () => NONE, null, response);
    holdNavigation(held, "https://a.example", `https://a.example/${tab}`, response);
  }
  own.onError(new RopewayError(ErrorCode.CONNECTION_RESET, "stream", "origin", "Cannot load: reset"));
  dropFormer(tabs, 1, held);
  expect([1, 2].map((tab) => holdsNavigation(held, `https://a.example/${tab}`))).toEqual([false, true]);
});
