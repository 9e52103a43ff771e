import { beforeEach, expect, it } from "vitest";
import { requestHead } from "../../../shared/testing/exchange-rig.ts";
import { AskingAhead } from "./asking-ahead.ts";
import type { StoredVisit } from "./store-database.ts";

const PAGE = "https://a.example/";
const head = (name: string) => ({ ...requestHead, url: `${PAGE}${name}` });

let kept: StoredVisit[];
let now: number;
let era: number;
let ahead: AskingAhead;

beforeEach(() => {
  [kept, now, era] = [[], 0, 0];
  const store = {
    get era() {
      return era;
    },
    visit: async (partition: string, document: string) =>
      kept.findLast((visit) => visit.partition === partition && visit.document === document),
    keepVisit: async (visit: StoredVisit) => void kept.push(visit),
  };
  ahead = new AskingAhead(store, () => now);
});

it("remembers what followed a navigation in its partition, each URL once, and no more than sixty", async () => {
  ahead.note("p", head("before"));
  expect(await ahead.begin("p", PAGE)).toEqual([]);
  ahead.note("p", head("a"));
  ahead.note("p", head("a"));
  ahead.note("q", head("elsewhere"));
  expect(await ahead.begin("p", PAGE)).toEqual([head("a")]);
  for (let index = 0; index < 100; index++) ahead.note("p", head(`${index}`));
  expect(await ahead.begin("p", PAGE)).toHaveLength(60);
});

it("writes a visit down once, and reads it where another document came between", async () => {
  await ahead.begin("p", PAGE);
  ahead.note("p", head("a"));
  ahead.keepAll();
  ahead.keepAll();
  expect(kept).toEqual([{ partition: "p", document: PAGE, requests: [head("a")] }]);
  await ahead.begin("p", `${PAGE}other`);
  expect(await ahead.begin("p", PAGE)).toEqual([head("a")]);
});

it("takes nothing from memory that was forgotten since", async () => {
  await ahead.begin("p", PAGE);
  ahead.note("p", head("a"));
  era += 1;
  ahead.keepAll();
  kept.length = 0;
  expect(await ahead.begin("p", PAGE)).toEqual([]);
});

it("gives a question away once, and not after a minute", () => {
  const question = { since: now, over: Promise.resolve() };
  ahead.asked("p", PAGE, question);
  expect([ahead.take("q", PAGE), ahead.take("p", PAGE), ahead.take("p", PAGE)]).toEqual([null, question, null]);
  ahead.asked("p", PAGE, question);
  now += 60_001;
  expect(ahead.take("p", PAGE)).toBe(null);
});
