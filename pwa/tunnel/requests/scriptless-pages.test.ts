import { expect, it } from "vitest";
import { setTimer } from "../../../shared/clock.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import { Wishes } from "./wishes.ts";

const DEAF = { onHead() {}, onBody: () => undefined, onEnd() {}, onError() {} };

function saysSo(pages: Wishes, head: Partial<RequestHead>): boolean {
  let isSaid: boolean | undefined;
  pages.source({ head: { ...requestHead, ...head }, body: null, push: null }, DEAF, (request) => {
    isSaid = request.head.isScriptless;
    return { cancel() {} };
  });
  return isSaid ?? false;
}

it("is said of the navigations of a site, and of nothing else", () => {
  const pages = new Wishes({ roundTrip: () => null, pageBytes: () => 0, setTimer });
  const navigation = { mode: "navigate", topLevelOrigin: "https://www.a.example" } as const;
  expect(saysSo(pages, navigation)).toBe(false);
  pages.set({ scriptless: ["a.example"] });
  expect(saysSo(pages, navigation)).toBe(true);
  expect(saysSo(pages, { ...navigation, mode: "no-cors" })).toBe(false);
  expect(saysSo(pages, { ...navigation, topLevelOrigin: "https://b.example" })).toBe(false);
  pages.set({ scriptless: null });
  expect(saysSo(pages, { ...navigation, topLevelOrigin: "https://b.example" })).toBe(true);
});
