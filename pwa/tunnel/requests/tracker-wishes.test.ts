import { expect, it } from "vitest";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import { TrackerWishes } from "./wishes.ts";

const of = (topLevelOrigin: string): RequestHead => ({ ...requestHead, topLevelOrigin });

it("lets requests go of the pages that are excepted", () => {
  const wishes = new TrackerWishes();
  expect(wishes.areBlocked).toBe(false);
  wishes.set({ areBlocked: true, exceptions: ["news.example"] });
  expect(wishes.areBlocked).toBe(true);
  expect(wishes.marked(of("https://www.news.example")).allowsTrackers).toBe(true);
  expect(wishes.marked(of("https://other.example"))).toEqual(of("https://other.example"));
  wishes.set({ areBlocked: false, exceptions: ["news.example"] });
  expect(wishes.marked(of("https://news.example"))).toEqual(of("https://news.example"));
});
