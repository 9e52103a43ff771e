import { beforeEach, describe, expect, it } from "vitest";
import type { RequestHead } from "../../../../shared/http/heads.ts";
import { requestHead } from "../../../../shared/testing/http/request-heads.ts";
import type { StoredVisit } from "../database/store-database.ts";
import { PageVisits, type VisitStore } from "./page-visits.ts";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 0, 1);
const PAGE = "https://a.example/";
const head = (name: string) => ({ ...requestHead, url: `${PAGE}${name}` });

/** What a page that is navigated to is expected to ask for. */
async function expected(document: string): Promise<RequestHead[]> {
  return (await visits.begin("p", document, true)).map((each) => each.head);
}

let kept: StoredVisit[];
let era: number;
let time: number;
let visits: PageVisits;

const store = (): VisitStore => ({
  get era() {
    return era;
  },
  visit: async (partition: string, document: string) =>
    kept.findLast((visit) => visit.partition === partition && visit.document === document),
  keepVisit: async (visit: StoredVisit) => void kept.push(visit),
  change: (_, run) =>
    run({
      dropVisits: async (isGone) => {
        kept = kept.filter((visit) => !isGone(visit));
      },
    }),
});

beforeEach(() => {
  [kept, era, time] = [[], 0, NOW];
  visits = new PageVisits(store(), () => time);
});

it("has at hand no more visits than go on, and has written down the others", async () => {
  await visits.begin("p", PAGE, true);
  visits.note("p", head("a"), false);
  for (let index = 0; index < 100; index++) await visits.begin(`q${index}`, `https://q${index}.example/`, true);
  expect(visits.note("p", head("b"), false)).toBe(false);
  expect(kept.find(({ partition }) => partition === "p")?.requests).toMatchObject([head("a")]);
});

it("remembers what followed a navigation in its partition, each URL once, and no more than sixty", async () => {
  visits.note("p", head("before"), false);
  expect(await visits.begin("p", PAGE, true)).toEqual([]);
  visits.note("p", head("a"), false);
  visits.note("p", head("a"), false);
  visits.note("q", head("elsewhere"), false);
  expect(await expected(PAGE)).toEqual([head("a")]);
  for (let index = 0; index < 100; index++) visits.note("p", head(`${index}`), false);
  expect(await visits.begin("p", PAGE, true)).toHaveLength(60);
});

it("writes a visit down once, and reads it where another document came between", async () => {
  await visits.begin("p", PAGE, true);
  visits.note("p", head("a"), false);
  visits.keepAll();
  visits.keepAll();
  expect(kept).toEqual([{ partition: "p", document: PAGE, at: NOW, requests: [{ ...head("a"), share: 0.5 }] }]);
  await visits.begin("p", `${PAGE}other`, true);
  expect(await expected(PAGE)).toEqual([head("a")]);
});

it("writes a visit down where the person goes on before the disk has answered", async () => {
  const reading = visits.begin("p", PAGE, true);
  visits.note("p", head("a"), false);
  const next = visits.begin("p", `${PAGE}other`, true);
  await Promise.all([reading, next]);
  expect(await expected(PAGE)).toEqual([head("a")]);
});

it("takes nothing from memory that was forgotten since", async () => {
  await visits.begin("p", PAGE, true);
  visits.note("p", head("a"), false);
  era += 1;
  visits.keepAll();
  kept.length = 0;
  expect(await visits.begin("p", PAGE, true)).toEqual([]);
});

it("keeps, too, what pages of one kind ask for, and expects it of one that is new", async () => {
  for (const page of ["one", "two"]) {
    await visits.begin("p", `${PAGE}article/${page}`, true);
    for (const name of ["menu", `api/${page}`, `${page}.png`, `only-${page}/x`, `random/${page.length}${page}`]) {
      visits.note("p", { ...head(name), referrer: `${PAGE}article/${page}` }, name.endsWith(".png"));
    }
    visits.keepAll();
  }
  visits = new PageVisits(store(), () => time);
  const asked = await visits.begin("p", `${PAGE}article/three`, true);
  expect(asked.map(({ head: { url, referrer }, isNamed }) => [url, referrer, isNamed])).toEqual(
    ["menu", "api/three", "three.png", "only-three/x"].map((name) => [
      `${PAGE}${name}`,
      `${PAGE}article/three`,
      name.endsWith(".png"),
    ]),
  );
  expect(await visits.begin("q", `${PAGE}article/three`, true)).toEqual([]);
  expect(await visits.begin("p", `${PAGE}article/four`, false)).toEqual([]);
});

describe("a visit of a month ago", () => {
  async function visit(document: string): Promise<void> {
    await visits.begin("p", document, true);
    visits.note("p", head("a"), false);
    visits.keepAll();
  }

  it.each([
    ["in this run of the app", () => {}],
    ["in a later one", () => (visits = new PageVisits(store(), () => time))],
  ])("is not remembered, and one of a day less is: %s", async (_, happens) => {
    await visit(PAGE);
    happens();
    time += 29 * DAY;
    expect(await expected(PAGE)).toEqual([head("a")]);
    time += DAY;
    expect(await expected(PAGE)).toEqual([]);
  });

  it("is dropped while nobody waits, looked for once a day; so is one of another clock, and one without a date", async () => {
    await visit(`${PAGE}old`);
    time += 20 * DAY;
    await visit(`${PAGE}recent`);
    const { at: _, ...undated } = { partition: "p", document: `${PAGE}undated`, at: 0, requests: [] };
    kept.push({ ...undated, at: time + 31 * DAY, document: `${PAGE}to come` }, undated as unknown as StoredVisit);
    const left = () => kept.map(({ document }) => document.slice(PAGE.length));
    await visits.upkeep();
    expect(left()).toEqual(["old", "recent"]);
    time += 10 * DAY;
    await visits.upkeep();
    expect(left()).toEqual(["recent"]);
    kept.push(undated as unknown as StoredVisit);
    await visits.upkeep();
    expect(left()).toEqual(["recent", "undated"]);
    expect(await expected(`${PAGE}undated`)).toEqual([]);
  });
});

it("forgets all where it is told to, what is under way, too", async () => {
  await visits.begin("p", PAGE, true);
  visits.note("p", head("a"), false);
  visits.keepAll();
  visits.note("p", head("b"), false);
  await visits.forget();
  visits.keepAll();
  expect(kept).toEqual([]);
  expect(await expected(PAGE)).toEqual([]);
});

it("forgets a visit, too, whose beginning waits for the disk", async () => {
  const begun = visits.begin("p", PAGE, true);
  visits.note("p", head("a"), false);
  await visits.forget();
  await begun;
  expect(kept).toEqual([]);
});

it("does not take for named what it told the edge of", async () => {
  await visits.begin("p", PAGE, true);
  visits.told("p", [head("a").url]);
  for (const name of ["a", "b"]) visits.note("p", head(name), true);
  expect((await visits.begin("p", PAGE, true)).map(({ isNamed }) => isNamed)).toEqual([false, true]);
});

it("learns nothing of what comes late: the person may have caused it", async () => {
  for (const page of ["one", "two", "two"]) {
    await visits.begin("p", `${PAGE}article/${page}`, true);
    visits.note("p", head("soon"), false);
    time += 10_001;
    visits.note("p", head("late"), false);
    visits.keepAll();
  }
  const again = await visits.begin("p", `${PAGE}article/two`, true);
  expect(again.map(({ head: { url }, share }) => [url, share])).toEqual([
    [`${PAGE}soon`, 0.75],
    [`${PAGE}late`, 0],
  ]);
  expect(await expected(`${PAGE}article/three`)).toEqual([head("soon")]);
});

it("expects nothing that has a secret, though an earlier version has written it down", async () => {
  const secret = { ...head("secret"), headers: [["x-api-key", "1"]] as const };
  kept = [
    {
      partition: "p",
      document: PAGE,
      at: NOW,
      requests: [
        { ...secret, share: 1 },
        { ...head("a"), share: 1 },
      ],
    },
  ];
  expect(await expected(PAGE)).toEqual([head("a")]);
});
