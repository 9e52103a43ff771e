import { expect, it } from "vitest";
import { requestHead } from "../../../../shared/testing/http/request-heads.ts";
import type { NotedRequest, StoredVisit } from "../database/store-database.ts";
import { expectedOfKind, learnOfKind, learnOfPage, patternOf } from "./page-visits.ts";

const SITE = "https://a.example";
const asked = (...paths: string[]): NotedRequest[] => paths.map((path) => ({ ...requestHead, url: SITE + path }));
const ofPage = (requests: NotedRequest[]): StoredVisit => ({ partition: "p", document: SITE, at: 0, requests });
const shares = (requests: readonly NotedRequest[]) => requests.map(({ url, share }) => [url.slice(SITE.length), share]);

it("trusts what is asked for again, and not what is another each time", () => {
  const first = learnOfPage(undefined, asked("/api", "/time?t=1"));
  expect(shares(first)).toEqual([
    ["/api", 0.5],
    ["/time?t=1", 0.5],
  ]);
  const second = learnOfPage(ofPage(first), asked("/api", "/time?t=2", "/new"));
  expect(shares(second)).toEqual([
    ["/api", 0.75],
    ["/time?t=2", 0.25],
    ["/new", 0.5],
  ]);
});

it("takes requests that a former release noted", () => {
  expect(shares(learnOfPage(ofPage(asked("/api")), asked("/api")))).toEqual([["/api", 0.5]]);
});

/** Pages of one kind, visited in turn. @returns what another is expected to ask for. */
function expectedAfter(pages: readonly (readonly [path: string, ...asked: string[]])[]): string[] {
  let kind: StoredVisit | undefined;
  for (const [path, ...paths] of pages) {
    const document = SITE + path;
    const pattern = patternOf(document);
    const learned = learnOfKind(kind, { document, requests: asked(...paths) }, pattern);
    kind = { ...learned, partition: "p", document: pattern.name, at: 0 };
  }
  return expectedOfKind(kind, patternOf(`${SITE}/article/9`)).map(({ head }) => head.url.slice(SITE.length));
}

it("expects of a page what both of the last two of its kind asked for", () => {
  const [one, two] = [
    ["/article/1", "/menu", "/api/1", "/x.png"],
    ["/article/2", "/menu", "/api/2", "/y.png"],
  ] as const;
  expect(expectedAfter([one])).toEqual([]);
  expect(expectedAfter([one, two])).toEqual(["/menu", "/api/9"]);
  expect(expectedAfter([one, two, ["/article/3", "/menu"]])).toEqual(["/menu"]);
  expect(expectedAfter([one, two, ["/article/3"]])).toEqual([]);
});

it("counts a page that is visited again and again once", () => {
  const one = ["/article/1", "/x.png"] as const;
  expect(expectedAfter([one, one, one])).toEqual([]);
});

it("keeps of a kind a bounded number of requests", () => {
  const pages = Array.from({ length: 30 }, (_, page) => [
    `/article/${page}`,
    ...Array.from({ length: 60 }, (_, at) => `/x/${page * 60 + at + 1000}`),
  ]) as [string, ...string[]][];
  let kind: StoredVisit | undefined;
  for (const [path, ...paths] of pages) {
    const pattern = patternOf(SITE + path);
    kind = {
      ...learnOfKind(kind, { document: SITE + path, requests: asked(...paths) }, pattern),
      partition: "p",
      document: pattern.name,
      at: 0,
    };
  }
  expect(kind?.requests.length).toBe(60);
});
