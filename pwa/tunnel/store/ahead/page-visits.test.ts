import { beforeEach, expect, it } from "vitest";
import { requestHead } from "../../../../shared/testing/http/request-heads.ts";
import type { StoredVisit } from "../database/store-database.ts";
import { PageVisits } from "./page-visits.ts";

const PAGE = "https://a.example/";
const head = (name: string) => ({ ...requestHead, url: `${PAGE}${name}` });

let kept: StoredVisit[];
let era: number;
let visits: PageVisits;

beforeEach(() => {
  [kept, era] = [[], 0];
  const store = {
    get era() {
      return era;
    },
    visit: async (partition: string, document: string) =>
      kept.findLast((visit) => visit.partition === partition && visit.document === document),
    keepVisit: async (visit: StoredVisit) => void kept.push(visit),
  };
  visits = new PageVisits(store);
});

it("remembers what followed a navigation in its partition, each URL once, and no more than sixty", async () => {
  visits.note("p", head("before"));
  expect(await visits.begin("p", PAGE)).toEqual([]);
  visits.note("p", head("a"));
  visits.note("p", head("a"));
  visits.note("q", head("elsewhere"));
  expect(await visits.begin("p", PAGE)).toEqual([head("a")]);
  for (let index = 0; index < 100; index++) visits.note("p", head(`${index}`));
  expect(await visits.begin("p", PAGE)).toHaveLength(60);
});

it("writes a visit down once, and reads it where another document came between", async () => {
  await visits.begin("p", PAGE);
  visits.note("p", head("a"));
  visits.keepAll();
  visits.keepAll();
  expect(kept).toEqual([{ partition: "p", document: PAGE, requests: [head("a")] }]);
  await visits.begin("p", `${PAGE}other`);
  expect(await visits.begin("p", PAGE)).toEqual([head("a")]);
});

it("takes nothing from memory that was forgotten since", async () => {
  await visits.begin("p", PAGE);
  visits.note("p", head("a"));
  era += 1;
  visits.keepAll();
  kept.length = 0;
  expect(await visits.begin("p", PAGE)).toEqual([]);
});
